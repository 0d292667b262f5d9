// SPDX-License-Identifier: BSD-2-Clause
/* What the programs tell through the ring buffer: ended processes, execs, OOM kills. */
#include "base/clock.h"
#include "job/record.h"
#include "job/session.h"
#include "wire/writer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void remember_emitted(struct session *s, uint64_t serial)
{
	uint64_t *all = reallocarray(s->emitted, s->nr_emitted + 1, sizeof(*all));

	if (!all) {
		s->unnamed++;
		return;
	}
	s->emitted = all;
	s->emitted[s->nr_emitted++] = serial;
}

/* Of who called us, since it was executed: else /proc would not show it to that user. */
static bool is_shown(const struct session *s, const struct process_record *r)
{
	const struct image *image = images_find(&s->images, r->image);
	const uid_t user = s->options->shown_to;

	return !s->options->hides_others || (r->uid == user && (!image || image->uid == user));
}

void session_emit(struct session *s, const struct process_record *r, const struct drain_row *row,
		  bool is_left)
{
	struct process p;

	record_read(&p, r, row, &s->images, &s->run->usable, s->epoch_less_boot_ns);
	if (!is_shown(s, r)) {
		p.exe = p.args = NULL;
		p.args_length = 0;
		p.args_cut = false;
	}
	if (summary_add_process(&s->summary, &p))
		s->unnamed++;
	write_process(&s->json, &p);
	stream_put(&s->stream, &s->json);
	if (s->options->tracker.exact_peak &&
	    (is_left ? exact_peak_left(&s->exact, r, &p, row ? row->mm : 0)
		     : exact_peak_ended(&s->exact, r, &p)))
		s->unnamed++;
	if (s->pushed.is_on)
		senders_add_ended(&s->pushed.senders, r);
	if (s->is_closing && !is_left)
		remember_emitted(s, r->serial);
}

/* Where the hook tells only a pid: is it one of ours? */
static void find_pid(void *context, const struct process_record *r)
{
	struct oom_event *e = context;

	if (e->serial || r->tgid != e->pid || r->flags & PROCESS_ENDED)
		return;
	e->serial = r->serial;
	e->pid = r->pid;
	memcpy(e->comm, r->comm, sizeof(e->comm));
}

static void oom(struct session *s, struct oom_event e)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct oom_kill k;

	if (!e.serial)
		tracker_each_process(&s->tracker, find_pid, &e);
	if (!e.serial)
		return;
	k = (struct oom_kill){
		.pid = (int32_t)e.pid,
		.is_command = (pid_t)e.pid == s->options->command,
		.has_rss = e.rss_pages > 0,
		.rss_bytes = e.rss_pages * page,
		.limit_bytes = e.limit_pages * page,
	};
	comm_copy(k.comm, e.comm, sizeof(e.comm));
	memcpy(k.cgroup, e.cgroup, sizeof(k.cgroup));
	summary_add_oom(&s->summary, &k);
	write_oom(&s->json, s->run, e.time_ns > s->start_ns ? e.time_ns - s->start_ns : 0, &k);
	stream_put(&s->stream, &s->json);
}

int session_event(void *context, void *data, size_t size)
{
	struct session *s = context;
	const __u32 *kind = data;

	(void)size;
	if (*kind == EVENT_PROCESS) {
		memory_bound_ended(&s->bound, &((struct process_event *)data)->rec);
		session_emit(s, &((struct process_event *)data)->rec, NULL, false);
	} else if (*kind == EVENT_OOM) {
		oom(s, *(struct oom_event *)data);
	} else if (*kind == EVENT_TARGET) {
		target_event(s, data);
	} else if (*kind == EVENT_EMPTY) {
		return 0; /* the loop is awake by now, and looks whether that is the end */
	} else if (images_add(&s->images, data, clock_ns(CLOCK_MONOTONIC)))
		s->unnamed++;
	return 0;
}
