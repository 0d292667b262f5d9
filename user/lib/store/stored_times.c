// SPDX-License-Identifier: BSD-2-Clause
/* What a run in the store has at a time: samples, their instances and processes, events. */
#include "store/database.h"
#include "store/rows.h"
#include "store/stored.h"

/*
 * The kinds of lines that the store has as they came, beside meta and summary; spans among them, as
 * a bpfmon that knew none has kept them.
 */
static const unsigned parts_events = ~(PART(LINE_META) | PART(LINE_SAMPLE) | PART(LINE_PROCESS) |
				       PART(LINE_PROCESS_SAMPLE) | PART(LINE_SUMMARY));

/* What is given in the order of time; at the same time, in this order. */
enum timed { SAMPLES, PROCESS_SAMPLES, EVENTS, NR_TIMED };

/* Samples come in the order of their times, or never end; of events row_event() looks after it. */
static int cursor_step(struct database *d, struct cursor *c, bool is_ordered)
{
	uint64_t before_ns = c->at_ns;
	int rc = c->s ? sqlite3_step(c->s) : SQLITE_DONE;

	c->is_row = rc == SQLITE_ROW;
	rc = c->is_row ? row_time(d, c->s, &c->at_ns) : database_error(d, rc);
	if (!rc && c->is_row && is_ordered && c->at_ns < before_ns)
		rc = database_damaged(d, "the samples of a run lead back to others");
	return rc;
}

/* The cursor whose row is next; NR_TIMED: all are at their ends. */
static int cursor_find_next(const struct cursor *all)
{
	int next = NR_TIMED;

	for (int i = 0; i < NR_TIMED; i++)
		if (all[i].is_row && (next == NR_TIMED || all[i].at_ns < all[next].at_ns))
			next = i;
	return next;
}

/* What there is of the instances at the time of the sample; they are in its order. */
static int instances_take(struct stored *from, struct sample *smp)
{
	struct cursor *c = &from->instances;
	int err = 0;

	while (!err && c->is_row && c->at_ns <= smp->elapsed_ns) {
		if (c->at_ns == smp->elapsed_ns)
			err = row_instance(&from->d, c->s, smp);
		if (!err)
			err = cursor_step(&from->d, c, true);
	}
	return err;
}

static int timed_give(struct source *s, unsigned parts, int which, struct cursor *c)
{
	struct stored *from = s->from;
	const char *line;
	int err;

	switch (which) {
	case EVENTS:
		err = row_event(&from->d, c->s, &c->last, &line);
		return err ? err : stored_give_line(s, parts, parts_events, line);
	case SAMPLES:
		err = row_sample(&from->d, s->only, c->s, &s->line.sample);
		if (!err)
			err = instances_take(from, &s->line.sample);
		return err ? err : stored_give_row(s, LINE_SAMPLE);
	default:
		err = row_process_sample(&from->d, c->s, &s->line.process_sample);
		return err ? err : stored_give_row(s, LINE_PROCESS_SAMPLE);
	}
}

/* Samples, and between them what befell at their times. */
static int times_give(struct source *s, unsigned parts, struct cursor *all)
{
	struct stored *from = s->from;
	int err = 0, next;

	for (int i = 0; !err && i < NR_TIMED; i++)
		err = cursor_step(&from->d, &all[i], i != EVENTS);
	while (!err && (next = cursor_find_next(all)) != NR_TIMED) {
		err = timed_give(s, parts, next, &all[next]);
		if (!err)
			err = cursor_step(&from->d, &all[next], next != EVENTS);
	}
	return err;
}

int stored_give_times(struct source *s, unsigned parts)
{
	struct stored *from = s->from;
	struct cursor all[NR_TIMED] = { [EVENTS].last = INT64_MIN };
	int err = 0;

	if (parts & PART(LINE_SAMPLE))
		err = (s->is_coarse ? rows_of_blocks : rows_of_samples)(&from->d, from->id, s->only,
									&all[SAMPLES].s);
	from->instances = (struct cursor){ 0 };
	if (!err && parts & PART(LINE_SAMPLE) && !s->is_coarse)
		err = rows_of_instances(&from->d, from->id, &from->instances.s);
	if (!err)
		err = cursor_step(&from->d, &from->instances, true);
	if (!err && parts & PART(LINE_PROCESS_SAMPLE))
		err = rows_of_process_samples(&from->d, from->id, s->from_ns,
					      s->to_ns ? s->to_ns : UINT64_MAX,
					      &all[PROCESS_SAMPLES].s);
	if (!err && parts & parts_events)
		err = rows_of_events(&from->d, from->id, &all[EVENTS].s);
	if (!err)
		err = times_give(s, parts, all);
	for (int i = 0; i < NR_TIMED; i++)
		sqlite3_finalize(all[i].s);
	sqlite3_finalize(from->instances.s);
	return err;
}
