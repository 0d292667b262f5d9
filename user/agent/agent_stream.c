// SPDX-License-Identifier: BSD-2-Clause
#include "agent/agent_stream.h"

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

static void line_put(struct stream *s, const struct subject *subject, struct listener *only)
{
	for (struct listener *l = only ? only : s->first; l; l = only ? NULL : l->next)
		if (listener_sees(l, subject))
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

static const char event_kind[] = "{\"kind\":\"event\",";

/* The only events that are of interest: what it is called comes right after the time. */
static bool kind_is_stall(const char *text, size_t n)
{
	static const char *const events[] = { "\"event\":\"stalled\"", "\"event\":\"resumed\"" };
	const char *event;

	if (n <= strlen(event_kind) || memcmp(text, event_kind, strlen(event_kind)) != 0)
		return false;
	event = memmem(text, n, "\"event\":", strlen("\"event\":"));
	if (!event || (size_t)(text + n - event) < strlen(events[0]))
		return false;
	return !memcmp(event, events[0], strlen(events[0])) ||
	       !memcmp(event, events[1], strlen(events[1]));
}

/* The length of the first member of @text, which is one of these kinds; 0: it is of another one. */
static size_t kind_bytes(const char *text, size_t n)
{
	static const char *const kinds[] = { "{\"kind\":\"sample\",", "{\"kind\":\"summary\"," };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (n > strlen(kinds[i]) && !memcmp(text, kinds[i], strlen(kinds[i])))
			return strlen(kinds[i]);
	return kind_is_stall(text, n) ? strlen(event_kind) : 0;
}

/* The line @text of @subject, with "run" after its kind, into s->line. */
static void line_name(struct stream *s, const struct subject *subject, const char *text, size_t n,
		      size_t kind)
{
	jsonw_raw(&s->line, text, kind);
	jsonw_raw(&s->line, "\"run\":\"", 7);
	jsonw_raw(&s->line, subject->run.id, strlen(subject->run.id));
	jsonw_raw(&s->line, "\",", 2);
	jsonw_raw(&s->line, text + kind, n - kind);
}

void stream_take(void *context, const char *text, size_t n)
{
	const struct subject *subject = context;
	struct stream *s = subject->stream;
	size_t kind = s->first ? kind_bytes(text, n) : 0;

	if (!kind)
		return;
	line_name(s, subject, text, n, kind);
	line_put(s, subject, NULL);
}

void stream_put_latest(struct stream *s, const struct subject *subject, const struct sample *smp,
		       struct listener *l)
{
	struct jsonw j = { 0 };

	write_sample(&j, &subject->run, smp);
	if (!j.failed)
		line_name(s, subject, j.text, j.used, kind_bytes(j.text, j.used));
	jsonw_done(&j);
	line_put(s, subject, l);
}

void stream_put_stall(struct stream *s, const struct subject *subject, const struct stall *stall,
		      uint64_t elapsed_ns, struct listener *l)
{
	struct jsonw j = { 0 };

	if (!stall->is_reported)
		return;
	write_stall(&j, &subject->run, elapsed_ns, true, stall->begun_ns);
	if (!j.failed)
		line_name(s, subject, j.text, j.used, kind_bytes(j.text, j.used));
	jsonw_done(&j);
	line_put(s, subject, l);
}

void stream_put_own(struct stream *s, struct jsonw *j, struct listener *only)
{
	for (struct listener *l = only ? only : s->first; l; l = only ? NULL : l->next)
		if (only || l->sees_all)
			feed_put(&l->feed, j->text, j->used);
	jsonw_reset(j);
}

void user_name_of(int64_t uid, char *name, size_t size)
{
	FILE *f = uid >= 0 ? fopen("/etc/passwd", "re") : NULL;
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
