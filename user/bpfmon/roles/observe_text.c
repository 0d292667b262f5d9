// SPDX-License-Identifier: BSD-2-Clause
/*
 * The text output: the summary for people, or the expansion of a template, in a file or on the
 * terminal.
 */
#include "base/log.h"
#include "bpfmon/roles/observer.h"
#include "bpfmon/roles/recorder.h"
#include "text/meta_text.h"
#include "text/summary_text.h"
#include "text/terminal.h"
#include "run/template.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Data beside the summary for some of its lines or a template. */
struct text {
	struct output out;    /* first, for the shared hooks */
	const char *template; /* not owned; NULL: the standard summary */
	json_t *meta;         /* owned; NULL: none yet */
	struct phase_times times;
	struct longest_span spans;
	struct stalls stalls;
	enum summary_length length;
};

static int text_line(struct observer *o, const struct line *l, const char *text, size_t length)
{
	struct text *t = o->own;
	uint64_t elapsed_ns;
	const char *mark;
	size_t bytes;

	(void)text, (void)length;
	if (l->kind == LINE_META) {
		json_decref(t->meta);
		t->meta = json_incref(l->tree);
	} else if (l->kind == LINE_EVENT) {
		mark = line_get_mark(l, &bytes, &elapsed_ns);
		if (mark)
			phase_times_add(&t->times, mark, bytes, elapsed_ns);
		stalls_add(&t->stalls, l->tree);
	} else if (l->kind == LINE_SPAN) {
		longest_span_add(&t->spans, &l->span);
	}
	return 0;
}

/* A short summary is only of use if `bpfmon show` has the rest. */
static bool summary_is_short(enum summary_length length, const struct summary *s)
{
	if (length != SUMMARY_AUTO)
		return length == SUMMARY_SHORT;
	return s->wall_ns < SUMMARY_SHORT_NS && s->kept_as && s->complete && !s->is_attached;
}

/* @f is the terminal, or NULL for a file: with all bounds. */
static int text_put_summary(struct text *t, const struct summary *total, FILE *f)
{
	char *what = t->meta ? meta_format(t->meta, meta_write_subject) : NULL, *text;
	struct answer answer;

	answer_of_run(&answer, total, t->meta, &t->times, &t->stalls);
	text = summary_text(
		total,
		&(struct summary_view){ .answer = &answer,
					.what = what,
					.spans = &t->spans,
					.is_of_job = meta_is_of_job(t->meta),
					.has_bounds = !f,
					.is_short = f && summary_is_short(t->length, total),
					.has_styles = f != NULL },
		f ? terminal_limit(f) : 0);
	free(what);
	if (f)
		text = terminal_paint(text, f);
	if (!text)
		return -ENOMEM;
	output_put(&t->out, text, strlen(text));
	free(text);
	return 0;
}

static int text_put_template(struct text *t, const struct summary *total)
{
	struct buffer b = { 0 };
	int err = template_write(&b, t->template, total, json_object_get(t->meta, "command"));

	if (!err)
		output_put(&t->out, b.text, b.used);
	buffer_done(&b);
	return err;
}

static int text_open(struct observer *o, const struct recorder_options *options)
{
	struct text *t = o->own;

	t->template = options->template;
	return file_observer_open(o, options);
}

static int text_end(struct observer *o, struct summary *total)
{
	struct text *t = o->own;

	return t->template ? text_put_template(t, total) : text_put_summary(t, total, NULL);
}

static int text_close(struct observer *o)
{
	struct text *t = o->own;

	json_decref(t->meta);
	phase_times_done(&t->times);
	return file_observer_close(o);
}

static const char *terminal_target(const struct recorder_options *options)
{
	return options->quiet ? NULL : "stderr";
}

static int terminal_open(struct observer *o, const struct recorder_options *options)
{
	struct text *t = o->own;

	t->template = options->template;
	t->length = options->summary;
	output_open_fd(&t->out, STDERR_FILENO);
	t->out.patience = o->patience;
	return 0;
}

/* Prints the warnings of the summary that a template does not have. */
static void terminal_warn(const struct summary *total)
{
	if (!total->complete)
		log_warn("the recorded data is INCOMPLETE: %s%s", total->reason,
			 total->reason[0] ? ""
			 : total->nr_losses
				 ? "\"losses\" in the output of -o run.jsonl has the details"
				 : "reason unknown");
	if (total->not_kept[0])
		log_warn("the run is not saved in the store: %s", total->not_kept);
}

static int terminal_end(struct observer *o, struct summary *total)
{
	struct text *t = o->own;

	if (!t->template)
		return text_put_summary(t, total, stderr);
	terminal_warn(total);
	return text_put_template(t, total);
}

const struct observer_ops text_observer = {
	.name = "text",
	.extension = ".txt",
	.own_bytes = sizeof(struct text),
	.open = text_open,
	.begin = file_observer_begin,
	.line = text_line,
	.flush = file_observer_flush,
	.end = text_end,
	.close = text_close,
};

const struct observer_ops terminal_observer = {
	.name = "terminal",
	.own_bytes = sizeof(struct text),
	.target = terminal_target,
	.open = terminal_open,
	.line = text_line,
	.flush = file_observer_flush,
	.end = terminal_end,
	.close = text_close,
};
