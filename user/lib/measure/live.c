// SPDX-License-Identifier: BSD-2-Clause
#include "measure/live.h"

#include "measure/job.h"
#include "measure/record.h"
#include "run/writer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define QUEUE_BYTES                                                                                \
	(16UL << 20) /* so that all processes of a large run fit, some samples of them */

void live_init(struct live *l, struct loop *loop, struct job *job)
{
	l->loop = loop;
	l->job = job;
	for (size_t i = 0; i < LIVE_LISTENERS; i++)
		l->all[i].source.fd = -1;
}

static void live_listener_remove(struct live_listener *one)
{
	feeds_remove(&one->live->job->feeds, &one->feed);
	loop_remove(one->live->loop, &one->source);
	socket_discard(&one->live->loop->discard, one->source.fd);
	feed_done(&one->feed);
	one->source.fd = -1;
}

static void live_ready(void *context, uint32_t events)
{
	struct live_listener *one = context;

	if (events & (EPOLLERR | EPOLLHUP))
		live_listener_remove(one);
	else
		feed_flush(&one->feed);
}

static bool live_may_see(int fd, const struct run *run, uid_t *uid)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		return false;
	*uid = peer.uid;
	return !peer.uid || peer.uid == run->uid;
}

static struct live_listener *live_place(struct live *l)
{
	for (size_t i = 0; i < LIVE_LISTENERS; i++)
		if (l->all[i].source.fd < 0)
			return &l->all[i];
	return NULL;
}

/* False: it has been freed since the drain, and its record comes. */
static bool process_take_record(struct process_sample *p, struct job *job,
				const struct drain_row *row, bool shows_all)
{
	const struct image *image;
	struct process_record r;
	unsigned threads;

	if (tracker_process(&job->books->tracker, row, &r, &threads))
		return false;
	image = images_find(&job->books->images, r.image);
	comm_copy(p->comm, r.comm, sizeof(r.comm));
	p->has_parent = true;
	p->ppid = (int32_t)r.ppid;
	p->uid = r.uid;
	if (image && (shows_all || job_shows(job, &r)))
		p->exe = image->exe;
	record_read_counters(&r, &job->run->usable, p->value, &p->have);
	p->value[M_threads] = threads;
	metric_put(&p->have, M_threads);
	return true;
}

/* Returns their number. */
static uint64_t live_processes_write(struct job *job, bool shows_all, struct jsonw *lines)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < job->rows.nr; i++) {
		const struct drain_row *row = job->rows.all[i];
		struct process_sample p;

		if (row->end_boot_ns)
			continue;
		process_sample_take(&p, job, row, job->held.smp.elapsed_ns);
		if (!process_take_record(&p, job, row, shows_all))
			continue;
		write_process_sample(lines, job->run->start_epoch_ns, &p);
		nr++;
	}
	return nr;
}

static void live_processes_put(struct job *job, bool shows_all)
{
	struct jsonw lines = { 0 };
	uint64_t nr;

	if (!feeds_want_processes(&job->feeds, shows_all))
		return;
	nr = live_processes_write(job, shows_all, &lines);
	feeds_put_processes(&job->feeds, shows_all, &lines, nr);
	jsonw_done(&lines);
}

void job_put_processes(struct job *job)
{
	live_processes_put(job, false);
	live_processes_put(job, true);
}

void job_put_latest(struct job *job, struct feed *feed)
{
	if (job->held.is_waiting || !job->held.smp.elapsed_ns) /* the first one is soon there */
		return;
	write_sample(&job->json, job->run, &job->held.smp);
	feed_put(feed, job->json.text, job->json.used);
	jsonw_reset(&job->json);
	if (!feed->wants_processes)
		return;
	live_processes_write(job, feed->shows_all, &job->json);
	feed_put(feed, job->json.text, job->json.used);
	jsonw_reset(&job->json);
}

/* What it would have had by now. */
static void live_greet(struct live_listener *one)
{
	struct job *job = one->live->job;

	write_meta(&job->json, job->run);
	feed_put(&one->feed, job->json.text, job->json.used);
	jsonw_reset(&job->json);
	job_put_latest(job, &one->feed);
}

int live_take(struct live *l, int fd, bool processes, char *why, size_t size)
{
	struct live_listener *one = live_place(l);
	uid_t uid;

	if (!live_may_see(fd, l->job->run, &uid)) {
		snprintf(why, size, "the run is of another user; only that user and root see it");
		return -EPERM;
	}
	if (!one) {
		snprintf(why, size, "%d others look at the run already, which is the most",
			 LIVE_LISTENERS);
		return -EUSERS;
	}
	one->live = l;
	one->waits = false;
	one->source = (struct loop_source){ fd, live_ready, one };
	if (loop_add(l->loop, &one->source, 0)) {
		one->source.fd = -1;
		snprintf(why, size, "out of memory");
		return -ENOMEM;
	}
	feed_init(&one->feed, fd);
	feed_limit(&one->feed, QUEUE_BYTES);
	one->feed.budget = uid ? l->job->feeds.budget : NULL; /* root's is not the user's */
	one->feed.is_live = true;
	one->feed.wants_processes = processes;
	feeds_add(&l->job->feeds, &one->feed);
	live_greet(one);
	feed_flush(&one->feed);
	return 0;
}

void live_watch(struct live *l)
{
	for (size_t i = 0; i < LIVE_LISTENERS; i++) {
		struct live_listener *one = &l->all[i];
		bool waits = one->source.fd >= 0 && feed_is_waiting(&one->feed);

		if (one->source.fd >= 0 && waits != one->waits)
			loop_change(l->loop, &one->source, waits ? EPOLLOUT : 0);
		one->waits = waits;
	}
}

size_t live_held(const struct live *l)
{
	size_t bytes = 0;

	for (size_t i = 0; i < LIVE_LISTENERS; i++)
		if (l->all[i].source.fd >= 0 && l->all[i].feed.budget)
			bytes += l->all[i].feed.room;
	return bytes;
}

void live_close(struct live *l)
{
	for (size_t i = 0; i < LIVE_LISTENERS; i++) {
		if (l->all[i].source.fd < 0)
			continue;
		feed_flush(&l->all[i].feed);
		live_listener_remove(&l->all[i]);
	}
}
