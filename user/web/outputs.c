// SPDX-License-Identifier: BSD-2-Clause
/* Replies with the output of bpfmon as a child: exports, comparisons, lists and edits. */
#include "base/buffer.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/number.h"
#include "export/export.h"
#include "store/node_jobs.h"
#include "web/pack.h"
#include "web/web.h"
#include "web/web_node.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Running bpfmon as a child gives pages the same data as the command line, and frees its memory
 * with its exit.
 */

#define CHILD_WORDS 256
#define CHILD_OUTPUT "/proc/self/fd/3" /* path of the output, with @as_file */

struct child {
	pid_t pid;
	int fd;         /* output of the child */
	bool has_ended; /* read completely */
};

/*
 * Starts @program with the NULL-terminated @words and no stdin. @c->fd reads its stdout, or with
 * @as_file what it writes to CHILD_OUTPUT, and with @with_errors also its messages. Returns 0 or a
 * negative errno.
 */
int child_start(struct child *c, const char *program, char *const *words, bool as_file,
		bool with_errors);
/*
 * Reaps the child, killing it unless its output was read completely. Returns its exit status, or -1
 * if it was killed.
 */
int child_end(struct child *c);

#define SILENCE_MS 60000
#define EXIT_NO_PROGRAM 127

/*
 * Runs between fork and exec in a program with threads, so only async-signal-safe calls are
 * allowed.
 */
static void child_become(const char *program, char *const *words, int out, bool as_file,
			 bool with_errors)
{
	sigset_t none;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	dup2(null, STDIN_FILENO);
	dup2(as_file ? null : out, STDOUT_FILENO);
	if (as_file && out == 3)
		fcntl(out, F_SETFD, 0);
	else if (as_file)
		dup2(out, 3);
	if (with_errors)
		dup2(out, STDERR_FILENO);
	execv(program, words);
	_exit(EXIT_NO_PROGRAM);
}

int child_start(struct child *c, const char *program, char *const *words, bool as_file,
		bool with_errors)
{
	int ends[2], err;

	*c = (struct child){ .fd = -1 };
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	c->pid = fork();
	if (!c->pid)
		child_become(program, words, ends[1], as_file, with_errors);
	err = c->pid < 0 ? -errno : 0;
	close(ends[1]);
	c->fd = ends[0];
	if (err)
		close(ends[0]);
	return err;
}

/*
 * Reads up to @size bytes. Returns 0 at the end, -ETIME after a minute without output, or another
 * negative errno.
 */
static ssize_t child_read(struct child *c, void *out, size_t size)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	ssize_t n;
	int ready;

	do
		ready = poll(&p, 1, SILENCE_MS);
	while (ready < 0 && errno == EINTR);
	if (ready <= 0)
		return -ETIME;
	n = read(c->fd, out, size);
	c->has_ended = !n;
	return n < 0 ? -errno : n;
}

int child_end(struct child *c)
{
	int status = 0;

	close(c->fd);
	if (!c->has_ended)
		kill(c->pid, SIGKILL); /* nobody reads its output any more */
	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define PIECE_BYTES (64 << 10)
#define FLOWS 16
#define COMPARED 100 /* the number of curves that can be drawn */
#define MESSAGE_BYTES 4000

/* A child whose output is being sent. */
struct flow {
	struct child child;
	struct packer *packer; /* owned; NULL if the output is sent as it is */
	struct web *web;
	size_t used, at; /* of @piece, which was read to see whether there is any output */
	char piece[PIECE_BYTES];
};

/* Reads what is left of the piece, then the child. */
static ssize_t flow_read_plain(void *context, void *out, size_t most)
{
	struct flow *f = context;
	ssize_t n;

	if (f->at < f->used) {
		n = f->used - f->at < most ? (ssize_t)(f->used - f->at) : (ssize_t)most;
		memcpy(out, f->piece + f->at, (size_t)n);
		f->at += (size_t)n;
		return n;
	}
	return child_read(&f->child, out, most);
}

static ssize_t flow_read(void *context, uint64_t at, char *out, size_t most)
{
	struct flow *f = context;
	ssize_t n = f->packer ? packer_read(f->packer, out, most) : flow_read_plain(f, out, most);

	(void)at;
	return n > 0 ? n : n ? MHD_CONTENT_READER_END_WITH_ERROR : MHD_CONTENT_READER_END_OF_STREAM;
}

static void flow_free(void *context)
{
	struct flow *f = context;

	child_end(&f->child);
	packer_free(f->packer);
	f->web->flows--;
	free(f);
}

/* Returns NULL if the child could not start. Without output, the reply says so. */
static struct MHD_Response *flow_open(struct web *w, struct MHD_Connection *c, char *const *words,
				      bool as_file, unsigned *status)
{
	struct flow *f = w->flows < FLOWS ? memory_calloc(1, sizeof(*f)) : NULL;
	struct MHD_Response *r;
	ssize_t n;

	if (!f || child_start(&f->child, w->program, words, as_file, false)) {
		free(f);
		return NULL;
	}
	f->web = w;
	w->flows++;
	n = child_read(&f->child, f->piece, sizeof(f->piece));
	f->used = n > 0 ? (size_t)n : 0;
	f->packer = request_accepts_gzip(c) ? packer_new(flow_read_plain, f) : NULL;
	*status = MHD_HTTP_OK;
	r = n > 0 ? MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE_BYTES, flow_read, f,
						      flow_free)
		  : reply_text("The file or page could not be made; see the messages of bpfmon "
			       "serve.\n",
			       MHD_HTTP_NOT_FOUND, status);
	if (r && n > 0 && f->packer)
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
	if (!r || n <= 0)
		flow_free(f);
	return r;
}

/*
 * Writes the files of a format to a temporary folder, which is removed. Returns a descriptor of the
 * requested file.
 */
static int export_make_file(struct web *w, char **words, size_t nr, const char *suffix,
			    const struct export_format *format)
{
	char folder[] = "/tmp/bpfmon-web-XXXXXX", path[64], piece[512];
	struct child child = { .fd = -1 };
	int fd = -1;

	if (!mkdtemp(folder))
		return -errno;
	snprintf(path, sizeof(path), "%s/run", folder);
	words[nr++] = (char *)"-o";
	words[nr++] = path;
	words[nr] = NULL;
	if (!child_start(&child, w->program, words, false, false)) {
		while (child_read(&child, piece, sizeof(piece)) > 0)
			;
		child_end(&child);
	}
	for (size_t i = 0; i < EXPORT_DOCUMENTS && format->documents[i].write; i++) {
		snprintf(path, sizeof(path), "%s/run%s", folder, format->documents[i].suffix);
		if (!strcmp(format->documents[i].suffix, suffix))
			fd = open(path, O_RDONLY | O_CLOEXEC);
		unlink(path);
	}
	rmdir(folder);
	return fd;
}

static struct MHD_Response *export_send_file(int fd, unsigned *status)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return reply_text("The file or page could not be made; see the messages of bpfmon "
				  "serve.\n",
				  MHD_HTTP_NOT_FOUND, status);
	*status = MHD_HTTP_OK;
	return MHD_create_response_from_fd((size_t)st.st_size, fd);
}

static void export_name(struct MHD_Response *r, const char *ref, const char *format,
			const char *suffix)
{
	char name[512];

	snprintf(name, sizeof(name), "attachment; filename=\"run-%s%s%s%s\"", ref,
		 *suffix ? "" : ".", *suffix ? "" : format, suffix);
	for (char *p = name + sizeof("attachment;"); *p; p++)
		if (*p == ':')
			*p = '-';
	MHD_add_response_header(r, "Content-Disposition", name);
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "application/octet-stream");
}

static bool format_has_suffix(const struct export_format *f, const char *suffix)
{
	for (size_t i = 0; i < EXPORT_DOCUMENTS && f->documents[i].write; i++)
		if (!strcmp(f->documents[i].suffix, suffix))
			return true;
	return false;
}

struct MHD_Response *reply_export(struct web *w, const struct run_ref *ref,
				  struct MHD_Connection *c, unsigned *status)
{
	const char *name = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "format");
	const char *suffix = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "part");
	const struct export_format *f = name ? export_find(name) : NULL;
	char *words[16] = { (char *)"bpfmon", (char *)"export", (char *)ref->text, (char *)"-f" };
	struct MHD_Response *r;
	size_t nr = 4;

	suffix = suffix ? suffix : "";
	if (!f || !format_has_suffix(f, suffix))
		return reply_text("There is no such format.\n", MHD_HTTP_BAD_REQUEST, status);
	words[nr++] = (char *)f->name;
	words[nr++] = (char *)"-q";
	nr += web_put_store(w, ref->of_node, words + nr);
	r = f->documents[1].write
		    ? export_send_file(export_make_file(w, words, nr, suffix, f), status)
		    : flow_open(w, c, words, false, status);
	if (r && *status == MHD_HTTP_OK)
		export_name(r, ref->text, f->name, suffix);
	return r;
}

struct compared_words {
	char *list[COMPARED + 12];
	size_t nr, runs;
	bool of_node, is_bad;
};

static enum MHD_Result compared_add(void *context, enum MHD_ValueKind kind, const char *key,
				    const char *value)
{
	struct compared_words *w = context;

	(void)kind;
	if (strcmp(key, "run") != 0)
		return MHD_YES;
	if (!value || !(w->of_node ? job_ref_is_valid : run_ref_is_valid)(value) ||
	    w->runs == COMPARED)
		w->is_bad = true;
	else {
		w->list[w->nr++] = (char *)value;
		w->runs++;
	}
	return MHD_YES;
}

struct MHD_Response *reply_comparison(struct web *w, struct MHD_Connection *c, unsigned *status)
{
	struct compared_words words = { .list = { (char *)"bpfmon", (char *)"compare" }, .nr = 2 };
	struct MHD_Response *r;

	words.of_node = request_is_of_node(c);
	MHD_get_connection_values(c, MHD_GET_ARGUMENT_KIND, compared_add, &words);
	if (words.is_bad || words.runs < 2)
		return reply_text("Two runs or more are needed: /compare?run=41&run=42\n",
				  MHD_HTTP_BAD_REQUEST, status);
	words.list[words.nr++] = (char *)"--html";
	words.list[words.nr++] = (char *)CHILD_OUTPUT;
	words.list[words.nr++] = (char *)"--force";
	words.nr += web_put_store(w, words.of_node, words.list + words.nr);
	r = flow_open(w, c, words.list, true, status);
	if (r && *status == MHD_HTTP_OK) {
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE,
					"text/html; charset=utf-8");
		/* the page has a stricter policy with a nonce */
		MHD_add_response_header(r, "Content-Security-Policy",
					"default-src 'none'; script-src 'unsafe-inline'; style-src "
					"'unsafe-inline'; frame-ancestors 'none'");
	}
	return r;
}

struct MHD_Response *reply_formats(struct MHD_Connection *c, unsigned *status)
{
	const struct export_format *f;
	struct MHD_Response *r = NULL;
	struct jsonw j = { 0 };

	jsonw_array(&j, NULL);
	for (size_t i = 0; (f = export_at(i)); i++)
		for (size_t k = 0; k < EXPORT_DOCUMENTS && f->documents[k].write; k++) {
			jsonw_object(&j, NULL);
			jsonw_string(&j, "name", f->name);
			jsonw_string(&j, "part", f->documents[k].suffix);
			jsonw_string(&j, "help", f->help);
			jsonw_object_end(&j);
		}
	jsonw_array_end(&j);
	if (!j.failed)
		r = reply_json(c, &j);
	jsonw_done(&j);
	*status = MHD_HTTP_OK;
	return r;
}

struct MHD_Response *reply_edit(struct web *w, const char *ref, char *const *words,
				unsigned *status)
{
	char *all[CHILD_WORDS] = { (char *)"bpfmon", (char *)"edit", (char *)ref },
	     messages[MESSAGE_BYTES];
	size_t nr = 3, used = 0;
	struct child child = { .fd = -1 };
	ssize_t n;

	nr += web_put_store(w, false, all + nr);
	for (; *words && nr < CHILD_WORDS - 1; words++)
		all[nr++] = *words;
	if (child_start(&child, w->program, all, false, true))
		return NULL;
	while ((n = child_read(&child, messages + used, sizeof(messages) - 1 - used)) > 0)
		used += (size_t)n;
	messages[used] = '\0';
	return reply_text(messages, child_end(&child) ? MHD_HTTP_CONFLICT : MHD_HTTP_OK, status);
}

/* Replies with a part of the list of runs, from `bpfmon list --json` with the same filters. */

#define PAGE_RUNS 500
#define LIST_BYTES (4UL << 20) /* limit of a reply */
#define LIST_MESSAGE_BYTES 2000

/* Parameters of a request that are passed as options of `bpfmon list`. */
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

	if (w->nr_owned == CHILD_WORDS || memory_asprintf(&text, "--%s=%s", key, value) < 0) {
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

/* The lines of the child that belong to the requested part. */
struct window {
	size_t skip, most, total;
	struct buffer line, runs, messages;
	bool has_agent,
		is_now; /* there is an agent; it has no history, so its running jobs are listed */
	const struct node_job_rows *jobs; /* NULL unless the list is of the node */
};

static void window_add_line(struct window *w)
{
	bool is_run = w->line.used && *w->line.text == '{';

	if (!is_run && w->messages.used < LIST_MESSAGE_BYTES) {
		buffer_put(&w->messages, w->line.text, w->line.used);
		buffer_puts(&w->messages, " ");
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
	buffer_done(&w->messages);
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
	if (!is_good || w->messages.used)
		jsonw_bytes(j, "said", w->messages.text ? w->messages.text : "", w->messages.used);
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
	struct child child = { .fd = -1 };
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
		/* if the agent does not answer, `bpfmon list` reports why */
		window.is_now = !node_read_jobs(w->agent, NULL, &jobs, NULL) && !jobs.has_history;
	}
	if (!words.failed && !window.is_now)
		err = window_read(&window, w->program, &words);
	window_write(&window, !err, &j);
	if (!words.failed && err >= 0 && !j.failed && !window.runs.failed && !window.line.failed)
		r = reply_json(c, &j);
	*status = err ? MHD_HTTP_BAD_REQUEST : MHD_HTTP_OK;
	jsonw_done(&j);
	window_done(&window);
	words_done(&words);
	node_jobs_done(&jobs);
	return r;
}
