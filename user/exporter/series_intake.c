// SPDX-License-Identifier: BSD-2-Clause
#include "exporter/series_intake.h"

#include "run/reader_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const unsigned parts_shown = PART(LINE_META) | PART(LINE_SAMPLE) | PART(LINE_EVENT) |
				    PART(LINE_SUMMARY) | PART(LINE_OTHER);

static void label_read(char out[LABEL_BYTES], const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	snprintf(out, LABEL_BYTES, "%s", text ? text : "");
}

/* All runs of what belongs to no rule have one series; and one of no user. */
static void labels_read(struct job_labels *l, const json_t *job)
{
	uint64_t uid;

	*l = (struct job_labels){ 0 };
	label_read(l->kind, job, "kind");
	if (!strcmp(l->kind, "other")) {
		snprintf(l->job, LABEL_BYTES, "other");
		return;
	}
	label_read(l->job, job, "id");
	label_read(l->name, job, "name");
	label_read(l->user, job, "user");
	if (!*l->user && value_read_number(json_object_get(job, "uid"), 0, &uid))
		snprintf(l->user, LABEL_BYTES, "%" PRIu64, uid);
}

static int intake_begin(struct intake *in, const char *run, uint64_t now_ns)
{
	const json_t *job = json_object_get(in->line.tree, "node_job");
	struct run_begin begin = { .run = run, .start_epoch_ns = in->line.start_epoch_ns };
	int err = line_check_meta(&in->line);

	if (err || !json_is_object(job))
		return err ? err : -EBADMSG;
	labels_read(&begin.labels, job);
	begin.interval_ns = member_read_number(in->line.tree, "interval_seconds", 9);
	return board_begin_run(in->board, &begin, now_ns);
}

static int intake_note_stall(struct intake *in, const char *run)
{
	const char *event = json_string_value(json_object_get(in->line.tree, "event"));
	bool is_stalled = event && !strcmp(event, "stalled");

	if (!is_stalled && (!event || strcmp(event, "resumed") != 0))
		return 0;
	return board_stall_run(in->board, run, is_stalled);
}

static int intake_apply(struct intake *in, uint64_t now_ns)
{
	const struct line *l = &in->line;
	const char *run = json_string_value(json_object_get(l->tree, "run"));
	const char *kind = json_string_value(json_object_get(l->tree, "kind"));

	if (l->kind == LINE_OTHER) {
		if (!strcmp(kind, "agent"))
			agent_read(&in->board->agent, l->tree);
		return 0;
	}
	if (!run)
		return -EBADMSG;
	switch (l->kind) {
	case LINE_META:
		return intake_begin(in, run, now_ns);
	case LINE_SAMPLE:
		return board_sample_run(in->board, run, &l->sample, now_ns);
	case LINE_EVENT:
		return intake_note_stall(in, run);
	case LINE_SUMMARY:
		return board_end_run(in->board, run, &l->summary.total, now_ns);
	default:
		return 0;
	}
}

void intake_take(struct intake *in, const char *text, size_t length, uint64_t now_ns)
{
	bool is_needed = line_may_be(text, length, parts_shown);
	int err = is_needed ? line_read(&in->line, text, length) : 0;
	struct board *b = in->board;

	pthread_mutex_lock(&b->lock);
	b->counts.lines++;
	if (!err && is_needed)
		err = intake_apply(in, now_ns);
	if (err)
		b->counts.lines_refused++;
	pthread_mutex_unlock(&b->lock);
}

void intake_refuse(struct intake *in)
{
	pthread_mutex_lock(&in->board->lock);
	in->board->counts.lines++;
	in->board->counts.lines_refused++;
	pthread_mutex_unlock(&in->board->lock);
}

void intake_done(struct intake *in)
{
	line_done(&in->line);
}
