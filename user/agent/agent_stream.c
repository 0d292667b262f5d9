// SPDX-License-Identifier: BSD-2-Clause
#include "agent/agent_stream.h"

#include "base/memory.h"
#include "run/writer.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

void node_stream_done(struct stream *s)
{
	jsonw_done(&s->line);
}

void stream_add(struct stream *s, struct listener *l)
{
	l->next = s->first;
	s->first = l;
}

void stream_remove(struct stream *s, struct listener *l)
{
	struct listener **at = &s->first;

	while (*at && *at != l)
		at = &(*at)->next;
	if (*at)
		*at = l->next;
	l->next = NULL;
	s->dropped += l->feed.dropped;
}

bool listener_sees(const struct listener *l, const struct subject *subject)
{
	return l->sees_all || (subject->label.uid >= 0 && (uid_t)subject->label.uid == l->uid);
}

/*
 * Sends s->line, which is about @subject, to @only, or if that is NULL to all listeners that may
 * see it.
 */
static void line_put(struct stream *s, const struct subject *subject, struct listener *only)
{
	for (struct listener *l = only ? only : s->first; l; l = only ? NULL : l->next)
		if (!listener_sees(l, subject))
			continue;
		else if (s->line.failed)
			l->feed.dropped++;
		else
			feed_put(&l->feed, s->line.text, s->line.used);
	jsonw_reset(&s->line);
}

void stream_put_meta(struct stream *s, const struct subject *subject, struct listener *l)
{
	if (!s->first && !l)
		return;
	write_meta(&s->line, &subject->run);
	line_put(s, subject, l);
}

void stream_put_sample(struct stream *s, const struct subject *subject, const struct sample *smp,
		       struct listener *l)
{
	if (!s->first && !l)
		return;
	write_node_sample(&s->line, &subject->run, smp);
	line_put(s, subject, l);
}

/* Sends the sample to listeners that want each, or with @of_changes to those that want changes. */
static void sample_put_to(struct stream *s, const struct subject *subject, const struct sample *smp,
			  bool of_changes)
{
	bool is_written = false;

	for (struct listener *l = s->first; l; l = l->next) {
		if (l->only_changes != of_changes || !listener_sees(l, subject))
			continue;
		if (!is_written)
			write_node_sample(&s->line, &subject->run, smp);
		is_written = true;
		if (s->line.failed)
			l->feed.dropped++;
		else
			feed_put(&l->feed, s->line.text, s->line.used);
	}
	jsonw_reset(&s->line);
}

static void subject_put_unchanged(struct subject *subject)
{
	struct sample last = subject->sent;

	last.elapsed_ns = subject->unchanged_ns;
	last.value[M_lifetime] = subject->unchanged_lifetime;
	sample_put_to(subject->stream, subject, &last, true);
}

/* Sends the sample to listeners of changes unless it equals the last one. */
static void subject_put_change(struct subject *subject, const struct sample *smp)
{
	const bool is_equal = sample_equals(smp, &subject->sent);

	if (is_equal && smp->elapsed_ns < subject->sent.elapsed_ns + LISTENER_SILENT_NS) {
		subject->unchanged_ns = smp->elapsed_ns;
		subject->unchanged_lifetime = smp->value[M_lifetime];
		return;
	}
	if (!is_equal && subject->unchanged_ns)
		subject_put_unchanged(subject);
	sample_put_to(subject->stream, subject, smp, true);
	subject->unchanged_ns = 0;
	subject->sent = *smp;
	subject->sent.instances = NULL;
	subject->sent.nr_instances = 0;
}

static void stream_put_event(struct stream *s, const struct subject *subject,
			     const struct stall_event *e, struct listener *l)
{
	if (!s->first && !l)
		return;
	write_node_stall(&s->line, &subject->run, e);
	line_put(s, subject, l);
}

void stream_put_stall(struct stream *s, const struct subject *subject, const struct stall *stall,
		      uint64_t elapsed_ns, struct listener *l)
{
	const struct stall_event e = { elapsed_ns, true, stall->begun_ns, NULL, 0 };

	if (stall->is_reported)
		stream_put_event(s, subject, &e, l);
}

static void subject_sample(void *context, const struct sample *smp)
{
	struct subject *subject = context;

	sample_put_to(subject->stream, subject, smp, false);
	subject_put_change(subject, smp);
}

static void subject_stall(void *context, const struct stall_event *e)
{
	const struct subject *subject = context;

	stream_put_event(subject->stream, subject, e, NULL);
}

static void subject_summary(void *context, const struct summary *sum)
{
	struct subject *subject = context;
	struct stream *s = subject->stream;

	if (!s->first)
		return;
	/* the last sample came just before, maybe equal to others */
	if (subject->unchanged_ns)
		subject_put_unchanged(subject);
	write_node_summary(&s->line, &subject->run, sum);
	line_put(s, subject, NULL);
}

const struct view_observer stream_observer = {
	.sample = subject_sample,
	.stall = subject_stall,
	.summary = subject_summary,
};

void stream_put_own(struct stream *s, struct jsonw *j, struct listener *only)
{
	for (struct listener *l = only ? only : s->first; l; l = only ? NULL : l->next)
		if (only || l->sees_all)
			feed_put(&l->feed, j->text, j->used);
	jsonw_reset(j);
}

void user_name_find(int64_t uid, char *name, size_t size)
{
	FILE *f = uid >= 0 ? memory_fopen("/etc/passwd", "re") : NULL;
	const struct passwd *p = NULL;

	*name = '\0';
	if (uid >= 0)
		snprintf(name, size, "%" PRId64, uid);
	while (f && (p = fgetpwent(f)))
		if (p->pw_uid == (uid_t)uid) {
			snprintf(name, size, "%s", p->pw_name);
			break;
		}
	if (f)
		fclose(f);
}
