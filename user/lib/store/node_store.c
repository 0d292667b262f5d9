// SPDX-License-Identifier: BSD-2-Clause
#include "store/node_store.h"

#include "base/cleanup.h"
#include "base/jansson_memory.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "run/agent_call.h"
#include "run/reader.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Destination of the lines of an answer: a list of runs, or a file. */
struct answer_lines {
	struct stored_runs *all;
	FILE *kept;
};

void node_store_path(char path[CONFIG_TEXT_BYTES])
{
	char why[CONFIG_WHY_BYTES];
	struct agent_config c;

	snprintf(path, CONFIG_TEXT_BYTES, "%s", NODE_STORE);
	if (config_read(NULL, &c, why, sizeof(why)))
		return;
	if (*c.store)
		snprintf(path, CONFIG_TEXT_BYTES, "%s", c.store);
	config_done(&c);
}

bool node_store_is(const char *path)
{
	char of_node[CONFIG_TEXT_BYTES];
	struct stat a, b;

	node_store_path(of_node);
	return !stat(path, &a) && !stat(of_node, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

/* Prints the error in the last line of an answer. Returns -ENOENT, or 0 if it has none. */
static int answer_end(const char *text, size_t length)
{
	json_t *o = jansson_loadb(text, length, 0, NULL);
	const char *error = json_string_value(json_object_get(o, "error"));
	char shown[700];

	if (error) {
		snprintf(shown, sizeof(shown), "%s", error);
		text_disarm(shown);
		log_error("the agent cannot answer the query: %s", shown);
	}
	json_decref(o);
	return error ? -ENOENT : 0;
}

/* Handles a line. Returns 1 after the last one, 0 if more follow, or a negative errno. */
static int history_answer_line(struct answer_lines *to, const char *text, size_t length)
{
	int err = 0;

	if (length > strlen(HISTORY_END) && !memcmp(text, HISTORY_END, strlen(HISTORY_END))) {
		err = answer_end(text, length);
		return err ? err : 1;
	}
	if (to->all)
		err = listed_run_append(to->all, text, length);
	else if (fwrite(text, 1, length, to->kept) != length)
		err = -errno;
	if (err)
		log_error("cannot read the data from the agent: %s", strerror(-err));
	return err;
}

static int history_take_answer(int fd, struct answer_lines *to)
{
	__cleanup(fclosep) FILE *f = memory_fdopen(fd, "r");
	__cleanup(freep) char *line = NULL;
	size_t room = 0;
	ssize_t n;
	int got = 0;

	while (f && !got && (n = memory_getline(&line, &room, f)) > 0)
		got = history_answer_line(to, line, (size_t)n);
	if (!got) {
		log_error("the response of the agent is incomplete; try again");
		return -ECONNRESET;
	}
	return got < 0 ? got : 0;
}

static int node_store_ask(const char *socket, const struct history_query *q,
			  struct answer_lines *to)
{
	struct agent_call call;
	char why[600];
	int err = agent_call_history(&call, socket, q, why, sizeof(why));

	if (err) {
		log_error("%s", why);
		return err;
	}
	err = history_take_answer(call.stream_fd, to);
	call.stream_fd = -1; /* memory_fdopen() has taken it over */
	agent_call_done(&call);
	return err;
}

/* Copies a text of a filter. Returns -E2BIG if it is longer than any stored text. */
static int query_put(char *to, size_t size, const char *text)
{
	return text && snprintf(to, size, "%s", text) >= (int)size ? -E2BIG : 0;
}

static int query_of(struct history_query *q, const struct run_filter *f)
{
	const struct {
		char *to;
		size_t size;
		const char *text;
	} texts[] = {
		{ q->uuid, sizeof(q->uuid), f->uuid },
		{ q->name, sizeof(q->name), f->name },
		{ q->exact_name, sizeof(q->exact_name), f->exact_name },
		{ q->job, sizeof(q->job), f->job },
		{ q->user, sizeof(q->user), f->user },
		{ q->host, sizeof(q->host), f->host },
		{ q->command, sizeof(q->command), f->command },
		{ q->span, sizeof(q->span), f->span },
	};

	q->id = (uint64_t)f->id;
	q->state = (uint32_t)f->state;
	q->since_ns = f->since_ns;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (query_put(texts[i].to, texts[i].size, texts[i].text))
			return -E2BIG;
	return 0;
}

int node_store_query(const char *socket, const struct run_filter *f, struct stored_runs *all)
{
	struct history_query q = { 0 };
	struct answer_lines to = { .all = all };

	if (f->nr_tags || query_of(&q, f)) /* no job of a node has tags, or so long a name */
		return 0;
	return node_store_ask(socket, &q, &to);
}

int node_store_open(const char *socket, int64_t id, struct source *s)
{
	const struct history_query q = { .lines = true, .id = (uint64_t)id };
	struct answer_lines to = { .kept = memory_tmpfile() };
	char path[40];
	int err = to.kept ? 0 : -errno;

	if (err)
		log_error("cannot make a temporary file: %s", strerror(-err));
	else
		err = node_store_ask(socket, &q, &to);
	if (!err && fflush(to.kept))
		err = -errno;
	if (!err) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(to.kept));
		err = source_open_file(s, path);
		if (err)
			log_error("cannot read run %lld: %s", (long long)id, source_error(err));
	}
	if (to.kept)
		fclose(to.kept);
	return err;
}

static char *listed_text(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? memory_strdup(text) : NULL;
}

/* Returns a number of the line; -1 if it is absent. */
static int64_t listed_number(const json_t *o, const char *key, unsigned decimals)
{
	uint64_t n;

	return value_read_number(json_object_get(o, key), decimals, &n) && n <= INT64_MAX
		       ? (int64_t)n
		       : -1;
}

/* An agent of an earlier version sends "finished" for all that have ended. */
static enum state_filter listed_state(const json_t *o)
{
	const char *text = json_string_value(json_object_get(o, "state"));

	for (int i = ONLY_RUNNING; text && i < NR_STATE_FILTERS; i++)
		if (!strcmp(text, run_state_word((enum state_filter)i)))
			return (enum state_filter)i;
	return ONLY_UNFINISHED;
}

static char *listed_tags(json_t *o)
{
	json_t *tags = json_object_get(o, "tags"), *v;
	const char *key;
	char *text = NULL;
	size_t length;
	FILE *f = memory_open_memstream(&text, &length);

	if (!f)
		return NULL;
	json_object_foreach(tags, key, v) {
		fprintf(f, "%s=%s", key, json_is_string(v) ? json_string_value(v) : "");
		fputc('\0', f);
	}
	fputc('\0', f);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

static void listed_needed(struct memory_needed *n, const json_t *o)
{
	const char *witness = json_string_value(json_object_get(o, "memory_needed_witness"));
	const char *bound = json_string_value(json_object_get(o, "memory_needed_bound"));

	if (member_read_bytes(o, "memory_needed_bytes", &n->bytes) && witness && bound)
		needed_set_source(n, witness, bound);
}

static int listed_run_read(struct stored_run *r, json_t *o)
{
	enum state_filter state = listed_state(o);

	*r = (struct stored_run){
		.id = json_integer_value(json_object_get(o, "id")),
		.uuid = listed_text(o, "run"),
		.name = listed_text(o, "name"),
		.job = listed_text(o, "job"),
		.command = listed_text(o, "command"),
		.user = listed_text(o, "user"),
		.host = listed_text(o, "host"),
		.note = listed_text(o, "note"),
		.tags = listed_tags(o),
		.start_epoch_ns = member_read_epoch(o, "start_time"),
		.state = state == ONLY_RUNNING      ? RUN_RUNNING
			 : state == ONLY_UNFINISHED ? RUN_UNFINISHED
						    : RUN_FINISHED,
		.cause = state == ONLY_LIMIT ? CAUSE_LIMIT
			 : state == ONLY_OOM ? CAUSE_OOM
					     : CAUSE_NONE,
		.is_complete = json_is_true(json_object_get(o, "complete")),
		.exit_code = listed_number(o, "exit_code", 0),
		.signal = listed_number(o, "signal", 0),
		.wall_ns = listed_number(o, "wall_seconds", 9),
		.cpu_ns = listed_number(o, "cpu_seconds", 9),
		.rss_peak_bytes = listed_number(o, "rss_peak_bytes", 0),
		.processes = listed_number(o, "processes_total", 0),
		.lines_lost = -1,
	};
	listed_needed(&r->needed, o);
	return r->id > 0 && r->uuid && r->tags ? 0 : -EBADMSG;
}

int listed_run_append(struct stored_runs *all, const char *text, size_t length)
{
	size_t failures = memory_failures_of_thread();
	json_t *o = jansson_loadb(text, length, 0, NULL);
	struct stored_run r = { 0 };
	int err = json_is_object(o) ? listed_run_read(&r, o) : -EBADMSG;

	json_decref(o);
	if (memory_failures_of_thread() > failures)
		err = -ENOMEM;
	if (!err)
		err = stored_runs_append(all, &r);
	if (err)
		stored_run_done(&r);
	return err;
}

size_t node_runs_fold(struct stored_runs *all)
{
	static const char *const always[] = { "node", "other" };
	bool has[] = { false, false };
	size_t kept = 0, left_out;

	for (size_t i = 0; i < all->nr; i++) {
		bool is_known = false;

		for (size_t k = 0; all->runs[i].job && k < 2; k++) {
			bool is = !strcmp(all->runs[i].job, always[k]);

			is_known |= is && has[k];
			has[k] |= is;
		}
		if (is_known)
			stored_run_done(&all->runs[i]);
		else
			all->runs[kept++] = all->runs[i];
	}
	left_out = all->nr - kept;
	all->nr = kept;
	return left_out;
}
