// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/observer.h"

#include "base/fd.h"
#include "base/message.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "bpfmon/roles/recorder.h"
#include "export/csv.h"
#include "store/store.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_EXTENSION 8 /* characters; longer extensions of names are accidental */

/* All observers. Those with a target hook are opened in this order, after those of --output. */
/* clang-format off */
static const struct observer_ops *const observers[] = {
	&text_observer,
	&jsonl_observer,
	&csv_observer,
	&influx_observer,
	&terminal_observer,
	&live_observer,	 /* ends before the terminal shows the summary */
	&lines_observer,
	&store_observer, /* ends before the terminal shows where the run is kept */
};
/* clang-format on */

const struct observer_ops *observer_at(size_t i)
{
	return i < sizeof(observers) / sizeof(*observers) ? observers[i] : NULL;
}

const struct observer_ops *observer_find(const char *name, size_t length)
{
	const struct observer_ops *ops;

	for (size_t i = 0; (ops = observer_at(i)); i++)
		if (!ops->target && text_is(name, length, ops->name))
			return ops;
	return NULL;
}

const struct observer_ops *observer_for_path(const char *path)
{
	const char *dot = strrchr(path, '.');
	const struct observer_ops *ops;

	for (size_t i = 0; dot && (ops = observer_at(i)); i++)
		if (ops->extension && !strcmp(dot, ops->extension))
			return ops;
	return NULL;
}

const char *path_extension(const char *path)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	size_t n;

	if (!dot || dot == name || !dot[1] || !strchr(letters, dot[1]))
		return NULL;
	n = strspn(dot + 1, letters);
	n += strspn(dot + 1 + n, "0123456789");
	return n <= MOST_EXTENSION && !dot[1 + n] ? dot : NULL;
}

/* Returns the largest number of observers that @options can request. */
static size_t observers_count(const struct recorder_options *options)
{
	size_t nr = options->nr_outputs;

	for (size_t i = 0; observer_at(i); i++)
		nr++;
	return nr;
}

/* Adds an observer to @s, unless it is skipped or fails. */
static int observer_open(struct observers *s, const struct observer_ops *ops, const char *target,
			 const struct recorder_options *options, struct patience *patience)
{
	struct observer *o = &s->all[s->nr];
	const size_t failures = memory_failures_of_thread();
	int err;

	*o = (struct observer){ .ops = ops, .target = target, .patience = patience };
	o->own = memory_calloc(1, ops->own_bytes + 1);
	if (!o->own)
		return -ENOMEM;
	err = ops->open ? ops->open(o, options) : 0;
	if (err) {
		free(o->own);
		return err == OBSERVER_SKIPPED ? 0 : err;
	}
	s->nr++;
	return memory_failures_of_thread() > failures ? -ENOMEM : 0;
}

int observers_open(struct observers *s, const struct recorder_options *options,
		   struct patience *patience)
{
	const struct observer_ops *ops;
	int err = 0;

	s->all = memory_calloc(observers_count(options), sizeof(*s->all));
	if (!s->all)
		return -ENOMEM;
	for (size_t i = 0; !err && i < options->nr_outputs; i++)
		err = observer_open(s, options->outputs[i].format, options->outputs[i].path,
				    options, patience);
	for (size_t i = 0; !err && (ops = observer_at(i)); i++) {
		const char *target = ops->target ? ops->target(options) : NULL;

		if (target)
			err = observer_open(s, ops, target, options, patience);
	}
	return err;
}

static void observer_drop(struct observer *o, int err)
{
	o->has_failed = true;
	if (err == -ETIMEDOUT)
		log_warn("nothing reads '%s', and the launcher has ended: the last lines are "
			 "missing there",
			 o->target);
	else
		log_warn("writing '%s' failed: %s; it contains the data up to then, %s", o->target,
			 strerror(-err), "and the command goes on");
}

void observers_begin(struct observers *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		struct observer *o = &s->all[i];
		int err = o->ops->begin ? o->ops->begin(o) : 0;

		if (!err)
			continue;
		o->has_failed = true;
		log_warn("cannot replace '%s': %s", o->target, strerror(-err));
	}
}

void observers_line(struct observers *s, const struct line *l, const char *text, size_t length)
{
	for (size_t i = 0; i < s->nr; i++) {
		struct observer *o = &s->all[i];
		int err = o->ops->line && !o->has_failed ? o->ops->line(o, l, text, length) : 0;

		if (err)
			observer_drop(o, err);
	}
}

void observers_flush(struct observers *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		struct observer *o = &s->all[i];
		int err = o->ops->flush && !o->has_failed ? o->ops->flush(o) : 0;

		if (err)
			observer_drop(o, err);
	}
}

void observers_end(struct observers *s, struct summary *total)
{
	for (size_t i = s->nr; i > 0; i--) {
		struct observer *o = &s->all[i - 1];
		int err = o->ops->end && !o->has_failed ? o->ops->end(o, total) : 0;

		if (err)
			observer_drop(o, err);
	}
}

void observers_close(struct observers *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		struct observer *o = &s->all[i];
		int err = o->ops->close ? o->ops->close(o) : 0;

		if (err && !o->has_failed)
			log_warn("closing '%s' failed: %s", o->target, strerror(-err));
		free(o->own);
	}
	free(s->all);
	*s = (struct observers){ 0 };
}

#define NO_READER_MS 20 /* between two attempts to open a pipe without a reader */
#define SILENCE_MS 1000 /* until a warning that a reader is missing */

static void output_refuse(const struct recorder_options *options, const struct output *out,
			  const char *path, int err)
{
	char why[1024];

	if (err == -EBADF && !strcmp(path, "-"))
		snprintf(why, sizeof(why), "cannot write to stdout (-o -): it is closed");
	else if (err == -EALREADY)
		snprintf(why, sizeof(why),
			 "'%s' is already being written, by another bpfmon or another output of "
			 "this one",
			 path);
	else if (err == -EEXIST)
		snprintf(why, sizeof(why), "'%s' exists; use --force to overwrite it", path);
	else if (!out->why && options->as_user &&
		 (err == -EACCES || err == -EPERM || err == -EROFS))
		snprintf(why, sizeof(why),
			 "cannot write '%s' as user %s: %s; use --record-as root to write as root",
			 path, options->as_user, strerror(-err));
	else
		snprintf(why, sizeof(why), "cannot write '%s': %s", path, output_error(out, err));
	control_send(options->control_fd, CONTROL_FAILED, err, 0, why);
}

/* Returns -ECANCELED if the launcher has ended, or has cancelled the run. */
static int output_open_waiting(struct output *out, const char *path,
			       const struct recorder_options *options)
{
	struct pollfd launcher = { .fd = options->control_fd };
	int err;

	if (options->stdout_is_closed && !strcmp(path, "-"))
		return -EBADF;
	for (int ms = 0; (err = output_open(out, path, options->force)) == -EAGAIN;
	     ms += NO_READER_MS) {
		if (ms == SILENCE_MS)
			log_warn("waiting for a reader of '%s' before running the command", path);
		if (poll(&launcher, 1, NO_READER_MS) > 0)
			return -ECANCELED;
	}
	return err;
}

int file_observer_open(struct observer *o, const struct recorder_options *options)
{
	struct output *out = file_observer_output(o);
	int err = output_open_waiting(out, o->target, options);

	if (err == -EALREADY && options->outputs_are_defaults) {
		log_warn("another bpfmon is writing '%s', the default output (BPFMON_OUTPUT or a "
			 "configuration file); this run is not written to it; use -o to name "
			 "another file",
			 o->target);
		return OBSERVER_SKIPPED;
	}
	if (err) {
		output_refuse(options, out, o->target, err);
		return err;
	}
	out->patience = o->patience;
	log_info("writing the run to '%s' as %s%s%s", o->target, o->ops->name,
		 options->as_user ? ", as user " : "", options->as_user ? options->as_user : "");
	return 0;
}

int file_observer_begin(struct observer *o)
{
	return output_commit(file_observer_output(o));
}

int file_observer_flush(struct observer *o)
{
	return output_flush(file_observer_output(o));
}

int file_observer_close(struct observer *o)
{
	return output_close(file_observer_output(o));
}

/* Copies the lines to a file that the caller has opened for many runs: a benchmark. */

struct lines_out {
	int fd; /* not owned */
};

static const char *lines_target(const struct recorder_options *options)
{
	return options->lines_fd > 0 ? "the lines of the runs" : NULL;
}

static int lines_open(struct observer *o, const struct recorder_options *options)
{
	((struct lines_out *)o->own)->fd = options->lines_fd;
	return 0;
}

static int lines_put(struct observer *o, const struct line *l, const char *text, size_t length)
{
	(void)l;
	errno = EIO;
	return bytes_transfer(((struct lines_out *)o->own)->fd, (void *)text, length, false)
		       ? 0
		       : -errno;
}

const struct observer_ops lines_observer = {
	.name = "lines",
	.own_bytes = sizeof(struct lines_out),
	.target = lines_target,
	.open = lines_open,
	.line = lines_put,
};

/* CSV: a row per sample. */

struct csv {
	struct output out;
	struct metric_set columns; /* of the header */
	bool has_header;
};

static int csv_line(struct observer *o, const struct line *l, const char *text, size_t length)
{
	struct csv *csv = o->own;
	struct buffer t = { 0 };
	int err;

	(void)text, (void)length;
	if (l->kind == LINE_META) {
		csv->columns = l->wanted;
		csv->has_header = true;
		csv_header(&t, &csv->columns);
	} else if (l->kind == LINE_SAMPLE && csv->has_header) {
		csv_row(&t, &csv->columns, l->start_epoch_ns, &l->sample);
	}
	err = t.failed ? -ENOMEM : 0;
	if (!err && t.used)
		output_put(&csv->out, t.text, t.used);
	buffer_done(&t);
	return err;
}

const struct observer_ops csv_observer = {
	.name = "csv",
	.extension = ".csv",
	.own_bytes = sizeof(struct csv),
	.open = file_observer_open,
	.begin = file_observer_begin,
	.line = csv_line,
	.flush = file_observer_flush,
	.close = file_observer_close,
};

/* JSON Lines: the unchanged stream. */

static int jsonl_line(struct observer *o, const struct line *l, const char *text, size_t length)
{
	(void)l;
	output_put(file_observer_output(o), text, length);
	return 0;
}

const struct observer_ops jsonl_observer = {
	.name = "jsonl",
	.extension = ".jsonl",
	.own_bytes = sizeof(struct output),
	.open = file_observer_open,
	.begin = file_observer_begin,
	.line = jsonl_line,
	.flush = file_observer_flush,
	.close = file_observer_close,
};

/* The store. Its thread waits for the disk and reports failures: no hook here fails. */

struct stored {
	struct store *store; /* owned */
};

static struct store *observer_store(struct observer *o)
{
	return ((struct stored *)o->own)->store;
}

static const char *store_observer_target(const struct recorder_options *options)
{
	return options->store;
}

static int store_observer_open(struct observer *o, const struct recorder_options *options)
{
	struct stored *own = o->own;

	(void)options;
	own->store = store_start(o->target);
	if (!own->store) {
		log_warn("the run is not saved in the store '%s': %s", o->target, strerror(ENOMEM));
		return OBSERVER_SKIPPED;
	}
	log_info("saving the run in the store '%s'", o->target);
	return 0;
}

static int store_observer_line(struct observer *o, const struct line *l, const char *text,
			       size_t length)
{
	(void)l; /* queues text: parsed lines would take several times the memory */
	store_put(observer_store(o), text, length);
	return 0;
}

/* Waits a few seconds, so that the summary can show where the run is, or why it is not kept. */
static int store_observer_end(struct observer *o, struct summary *total)
{
	struct store *s = observer_store(o);

	store_finish(s);
	if (!store_describe_failure(s, total->not_kept, sizeof(total->not_kept)))
		total->kept_as = store_run(s);
	return 0;
}

static int store_observer_close(struct observer *o)
{
	store_free(observer_store(o));
	return 0;
}

const struct observer_ops store_observer = {
	.name = "store",
	.own_bytes = sizeof(struct stored),
	.target = store_observer_target,
	.open = store_observer_open,
	.line = store_observer_line,
	.end = store_observer_end,
	.close = store_observer_close,
};
