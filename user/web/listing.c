// SPDX-License-Identifier: BSD-2-Clause
/* The list of runs, a page of it at a time: what `bpfmon list --json` says with the same filters.
 */
#include "web/web.h"

#include "base/buffer.h"
#include "base/json.h"
#include "base/number.h"
#include "store/node_jobs.h"
#include "web/child.h"
#include "web/web_node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_RUNS 500
#define LIST_BYTES (4UL << 20) /* of an answer */
#define SAID_BYTES 2000

/* What a request may say is what `bpfmon list` takes. */
static const char *const filters[] = { "search", "name", "span",  "job",   "tag", "command",
				       "host",   "user", "state", "since", "sort" };
#define NR_FILTERS (sizeof(filters) / sizeof(*filters))

struct words {
	char *list[CHILD_WORDS];
	char *owned[CHILD_WORDS];
	size_t nr, nr_owned;
	bool failed;
};

static void words_put(struct words *w, const char *word)
{
	if (w->nr < CHILD_WORDS - 1)
		w->list[w->nr++] = (char *)word;
	else
		w->failed = true;
}

static void words_put_option(struct words *w, const char *key, const char *value)
{
	char *text;

	if (w->nr_owned == CHILD_WORDS || asprintf(&text, "--%s=%s", key, value) < 0) {
		w->failed = true;
		return;
	}
	w->owned[w->nr_owned++] = text;
	words_put(w, text);
}

static void words_done(struct words *w)
{
	for (size_t i = 0; i < w->nr_owned; i++)
		free(w->owned[i]);
}

static enum MHD_Result words_add_filter(void *context, enum MHD_ValueKind kind, const char *key,
					const char *value)
{
	(void)kind;
	for (size_t i = 0; i < NR_FILTERS; i++)
		if (!strcmp(key, filters[i]) && value && *value)
			words_put_option(context, key, value);
	return MHD_YES;
}

/* The lines of the child, as far as they are on the page. */
struct window {
	size_t skip, most, total;
	struct buffer line, runs, said;
	/* what the page has beside them */
	bool has_agent,
		is_now; /* there is an agent; these are its jobs of now, for it keeps none */
	const struct node_job_rows *jobs; /* NULL: it is no list of the node */
};

static void window_add_line(struct window *w)
{
	bool is_run = w->line.used && *w->line.text == '{';

	if (!is_run && w->said.used < SAID_BYTES) {
		buffer_put(&w->said, w->line.text, w->line.used);
		buffer_puts(&w->said, " ");
	} else if (is_run && w->total++ >= w->skip && w->total <= w->skip + w->most &&
		   w->runs.used < LIST_BYTES) {
		if (w->runs.used)
			buffer_puts(&w->runs, ",");
		buffer_put(&w->runs, w->line.text, w->line.used);
	}
	w->line.used = 0;
}

static void window_add(struct window *w, const char *text, size_t n)
{
	const char *end = text + n, *newline;

	for (; (newline = memchr(text, '\n', (size_t)(end - text))); text = newline + 1) {
		buffer_put(&w->line, text, (size_t)(newline - text));
		window_add_line(w);
	}
	if (w->line.used < LIST_BYTES)
		buffer_put(&w->line, text, (size_t)(end - text));
}

static void window_done(struct window *w)
{
	buffer_done(&w->line);
	buffer_done(&w->runs);
	buffer_done(&w->said);
}

static void window_write(struct window *w, bool is_good, struct jsonw *j)
{
	jsonw_object(j, NULL);
	jsonw_uint(j, "total", w->is_now ? w->jobs->nr : w->total);
	jsonw_bool(j, "has_agent", w->has_agent);
	if (w->jobs) {
		jsonw_bool(j, "now", w->is_now);
		node_stalls_write(w->jobs, j);
	}
	if (!is_good || w->said.used)
		jsonw_bytes(j, "said", w->said.text ? w->said.text : "", w->said.used);
	jsonw_array(j, "runs");
	if (w->is_now)
		node_jobs_write(w->jobs, j);
	else if (w->runs.used)
		jsonw_raw(j, w->runs.text, w->runs.used);
	jsonw_array_end(j);
	jsonw_object_end(j);
}

static int window_read(struct window *w, const char *program, struct words *words)
{
	char piece[8192];
	struct child child;
	ssize_t n;
	int err = child_start(&child, program, words->list, false, true), status;

	if (err)
		return err;
	while ((n = child_read(&child, piece, sizeof(piece))) > 0)
		window_add(w, piece, (size_t)n);
	status = child_end(&child);
	return n < 0 ? (int)n : status ? 1 : 0;
}

static size_t argument_number(struct MHD_Connection *c, const char *key, size_t otherwise)
{
	const char *text = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, key);
	char *end;
	unsigned long v = text ? strtoul(text, &end, 10) : 0;

	return text && *text && !*end && *text != '-' ? v : otherwise;
}

static void list_put_words(struct web *w, struct MHD_Connection *c, struct words *words)
{
	words->list[0] = (char *)"bpfmon";
	words->list[1] = (char *)"list";
	words->list[2] = (char *)"--json";
	words->nr = 3 + web_put_store(w, request_is_of_node(c), words->list + 3);
	MHD_get_connection_values(c, MHD_GET_ARGUMENT_KIND, words_add_filter, words);
}

struct MHD_Response *reply_list(struct web *w, struct MHD_Connection *c, unsigned *status)
{
	struct window window = { .skip = argument_number(c, "offset", 0),
				 .most = argument_number(c, "limit", 50),
				 .has_agent = web_has_agent(w) };
	struct node_job_rows jobs = { 0 };
	struct words words = { 0 };
	struct MHD_Response *r = NULL;
	struct jsonw j = { 0 };
	int err = 0;

	if (window.most > PAGE_RUNS)
		window.most = PAGE_RUNS;
	list_put_words(w, c, &words);
	if (request_is_of_node(c)) {
		window.jobs = &jobs;
		/* without an agent that answers `bpfmon list` says why */
		window.is_now = !node_look(w->agent, NULL, &jobs, NULL) && !jobs.has_history;
	}
	if (!words.failed && !window.is_now)
		err = window_read(&window, w->program, &words);
	window_write(&window, !err, &j);
	if (!words.failed && err >= 0 && !j.failed && !window.runs.failed && !window.line.failed)
		r = MHD_create_response_from_buffer(j.used, j.text, MHD_RESPMEM_MUST_COPY);
	if (r)
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
	*status = err ? MHD_HTTP_BAD_REQUEST : MHD_HTTP_OK;
	jsonw_done(&j);
	window_done(&window);
	words_done(&words);
	node_jobs_done(&jobs);
	return r;
}
