// SPDX-License-Identifier: BSD-2-Clause
#include "agent/history.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/patience.h"
#include "store/database_open.h"
#include "store/source.h"
#include "text/runs_text.h"
#include "run/agent_call.h"
#include "run/rewriter.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define MOST_BYTES (256UL << 20)        /* of an answer, which is complete before it is sent */
#define PATIENCE_NS (10 * NSEC_PER_SEC) /* without progress of the client */
#define LONGEST_NS (60 * NSEC_PER_SEC)  /* in total */

struct answer {
	const struct history_options *o;
	const struct reader *reader;
	struct history_query query;
	struct jsonw json;
	FILE *f; /* writes to @text */
	char *text;
	size_t bytes;
	char why[600]; /* empty on success */
};

static const char *text_or_null(const char *text)
{
	return *text ? text : NULL;
}

/* The owner of a run is a column of the store, which the client cannot influence. */
static struct run_filter filter_of(const struct answer *a)
{
	const struct history_query *q = &a->query;

	return (struct run_filter){
		.id = (int64_t)q->id,
		.uuid = text_or_null(q->uuid),
		.name = text_or_null(q->name),
		.exact_name = text_or_null(q->exact_name),
		.job = text_or_null(q->job),
		.user = text_or_null(q->user),
		.host = text_or_null(q->host),
		.command = text_or_null(q->command),
		.span = text_or_null(q->span),
		.state = (enum state_filter)q->state,
		.since_ns = q->since_ns,
		.ended_since_ns = q->ended_since_ns,
		.is_of_uid = !a->reader->is_admin,
		.uid = a->reader->uid,
	};
}

static int answer_query(struct answer *a, struct stored_runs *all)
{
	const struct run_filter f = filter_of(a);
	struct database d;
	int err = database_open(&d, a->o->store, DATABASE_READ);

	if (err == -ENOENT || err == -ENODATA) /* no job has been stored yet */
		return 0;
	if (!err)
		err = query_runs(&d, 0, &f, all);
	if (err)
		snprintf(a->why, sizeof(a->why), "%s", d.why[0] ? d.why : strerror(-err));
	database_close(&d);
	return err;
}

static void answer_list(struct answer *a, struct stored_runs *all)
{
	static const char *const no_prefix[] = { "" };

	if (runs_json(a->f, all, all->nr, no_prefix))
		snprintf(a->why, sizeof(a->why), "%s", strerror(ENOMEM));
}

/* Writes the meta and the summary line of each run that has both. */
static void answer_summaries(struct answer *a, const struct stored_runs *all)
{
	struct database d;
	int err = all->nr ? database_open(&d, a->o->store, DATABASE_READ) : 0;

	for (size_t i = 0; !err && i < all->nr; i++) {
		struct run_text t = { 0 };

		err = query_text(&d, all->runs[i].id, &t);
		if (err == -ENOENT) /* removed meanwhile */
			err = 0;
		else if (!err && t.summary)
			fprintf(a->f, "%s\n%s\n", t.meta, t.summary);
		if (!err && (ferror(a->f) || ftello(a->f) > (off_t)MOST_BYTES))
			err = -EFBIG;
		run_text_done(&t);
	}
	if (err)
		snprintf(a->why, sizeof(a->why), "%s", d.why[0] ? d.why : strerror(-err));
	if (all->nr)
		database_close(&d);
}

static int line_answer(void *context, struct line *l)
{
	struct answer *a = context;

	jsonw_reset(&a->json);
	rewrite_line(&a->json, l);
	if (a->json.failed)
		return -ENOMEM;
	fwrite(a->json.text, 1, a->json.used, a->f);
	return ferror(a->f) ? -ENOMEM : ftello(a->f) > (off_t)MOST_BYTES ? -EFBIG : 0;
}

static void answer_lines(struct answer *a, const struct stored_run *r)
{
	struct source s;
	int err = source_open_stored(&s, a->o->store, r->id, r->state);

	if (!err)
		err = source_each(&s, PARTS_ALL, line_answer, a);
	if (err)
		snprintf(a->why, sizeof(a->why), "%s", source_why(&s, err));
	source_close(&s);
}

static void answer_make(struct answer *a, const char *text)
{
	struct stored_runs all = { 0 };
	char why[500] = "";

	if (history_query_read(&a->query, text, strlen(text), why, sizeof(why))) {
		snprintf(a->why, sizeof(a->why), "invalid query: %s", why);
		return;
	}
	if (!answer_query(a, &all)) {
		if (a->query.summaries)
			answer_summaries(a, &all);
		else if (!a->query.lines)
			answer_list(a, &all);
		else if (all.nr == 1)
			answer_lines(a, all.runs);
		else /* the answer must not reveal whether others have it */
			snprintf(a->why, sizeof(a->why),
				 "no run %" PRIu64 " in the history, or it is not yours",
				 a->query.id);
	}
	stored_runs_done(&all);
}

static void end_write(FILE *f, const char *why)
{
	struct jsonw j = { 0 };

	jsonw_object(&j, NULL);
	jsonw_string(&j, "kind", "history");
	if (*why)
		jsonw_string(&j, "error", why);
	jsonw_object_end(&j);
	jsonw_newline(&j);
	jsonw_print(&j, f);
}

/* The descriptor is the client's, and may or may not block. */
static void answer_send(int fd, const char *text, size_t n)
{
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + LONGEST_NS;
	struct patience p = { .watched_fd = -1, .limit_ns = PATIENCE_NS };

	while (n && clock_ns(CLOCK_MONOTONIC) < until_ns) {
		ssize_t sent = send(fd, text, n, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0 && errno != EAGAIN && errno != EINTR)
			return;
		if (sent < 0 && patience_wait(&p, fd, POLLOUT))
			return;
		if (sent > 0) {
			text += sent;
			n -= (size_t)sent;
		}
	}
}

void reading_run(const struct history_options *o, const struct reader *reader, const char *text,
		 int fd)
{
	struct answer *a = memory_calloc(1, sizeof(*a));

	if (!a)
		return;
	a->o = o;
	a->reader = reader;
	a->f = memory_open_memstream(&a->text, &a->bytes);
	if (a->f) {
		answer_make(a, text);
		end_write(a->f, a->why);
		if (!fclose(a->f)) /* a truncated text lacks the end line, and is rejected */
			answer_send(fd, a->text, a->bytes);
	}
	jsonw_done(&a->json);
	free(a->text);
	free(a);
}

void reading_refuse(int fd, const char *why)
{
	char text[300];
	FILE *f = memory_fmemopen(text, sizeof(text), "w");
	long n;

	if (!f)
		return;
	end_write(f, why);
	n = ftell(f);
	if (!fclose(f) && n > 0) /* fits into any socket buffer */
		send(fd, text, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
}
