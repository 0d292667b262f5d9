// SPDX-License-Identifier: BSD-2-Clause
/* Describes the result of a comparison in a sentence or two. */

#include "base/memory.h"
#include "text/format.h"
#include "study/compare_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct {
	const char *name;
	const char *more, *less; /* after a percentage */
	const char *verb, *times; /* before it, and after a factor */
	const char *than;        /* before the name of the other side, after a factor */
} headlines[NR_HEADLINES] = {
	[HEAD_WALL]   = { "time", "longer", "less time", "took", "as long", "as" },
	[HEAD_CPU]    = { "CPU time", "more CPU time", "less CPU time", "used", "the CPU time", "of" },
	[HEAD_MEMORY] = { "memory", "more memory", "less memory", "needed", "the memory", "of" },
};
/* clang-format on */

struct headlines {
	bool is[ROW_CHANGED + 1][NR_HEADLINES]; /* by state */
	size_t nr_changed, nr_too_few; /* changed headlines; those of them with VERDICT_TOO_FEW */
};

static enum row_state headline_state(const struct comparison *c, size_t group, enum headline h)
{
	size_t key;

	return headline_key(c, group, h, &key) ? row_state(c, group, key) : ROW_ABSENT;
}

static struct headlines headlines_sort(const struct comparison *c, size_t group)
{
	struct headlines all = { 0 };
	size_t key;

	for (int h = 0; h < NR_HEADLINES; h++) {
		enum row_state state = headline_state(c, group, (enum headline)h);

		all.is[state][h] = true;
		if (state != ROW_CHANGED || !headline_key(c, group, (enum headline)h, &key))
			continue;
		all.nr_changed++;
		all.nr_too_few += against_of(c, group, key)->verdict == VERDICT_TOO_FEW;
	}
	return all;
}

/*
 * Writes "took 12 % longer", "used 2.4 times the CPU time", "needed more memory". With @than also
 * than what.
 */
static void change_put(FILE *f, enum headline h, double relative, const char *than)
{
	double percent = fabs(relative) * 100;

	fprintf(f, "%s ", headlines[h].verb);
	if (isinf(relative))
		fputs(headlines[h].more, f);
	else if (relative >= 9.995)
		fprintf(f, "%.0f times %s", relative + 1, headlines[h].times);
	else if (relative >= 1)
		fprintf(f, "%.1f times %s", relative + 1, headlines[h].times);
	else
		fprintf(f,
			percent > 99 && percent < 99.95 ? "%.1f %% %s"
			: percent > 99                  ? "%.0f %% %s"
							: "%.2g %% %s",
			percent, relative > 0 ? headlines[h].more : headlines[h].less);
	if (than)
		fprintf(f, " %s %s", relative >= 1 && !isinf(relative) ? headlines[h].than : "than",
			than);
}

static bool value_is(const struct comparison *c, size_t group, const char *name, double number)
{
	size_t key;

	return !run_key_find(name, strlen(name), &key) && spread_of(c, group, key)->nr &&
	       spread_of(c, group, key)->least == number &&
	       spread_of(c, group, key)->most == number;
}

/* Returns whether all runs had a single thread, so that its waiting is a part of the time. */
static bool runs_have_one_thread(const struct comparison *c, size_t group)
{
	return value_is(c, 0, "processes_total", 1) && value_is(c, group, "processes_total", 1) &&
	       value_is(c, 0, "threads_created", 0) && value_is(c, group, "threads_created", 0);
}

static bool median_of(const struct comparison *c, size_t group, const char *name, double *median)
{
	size_t key;

	if (run_key_find(name, strlen(name), &key) || !spread_of(c, group, key)->nr)
		return false;
	*median = spread_of(c, group, key)->median;
	return true;
}

/* The time of a group whose threads ran or waited for a CPU one at a time. */
struct serial_time {
	double wall, queue; /* seconds; queue is a part of wall */
};

static bool serial_time_of(struct serial_time *t, const struct comparison *c, size_t group)
{
	double cpu;

	return median_of(c, group, "wall_seconds", &t->wall) &&
	       median_of(c, group, QUEUE_KEY, &t->queue) &&
	       median_of(c, group, "cpu_seconds", &cpu) && t->queue + cpu <= t->wall * 1.1;
}

#define MOST_OF_IT 0.5
#define ALL_OF_IT 0.9
#define SAME_WORK 0.05

/* How much of the difference in time is waiting for a CPU. */
struct queue_share {
	bool is_most; /* else it is not told */
	bool is_all;
	bool is_longer; /* the other group took longer than the first */
	double work;    /* relative change of the rest of the time */
};

static struct queue_share queue_share_of(const struct comparison *c, size_t group)
{
	struct queue_share s = { 0 };
	struct serial_time a, b;
	double rest, share;
	size_t key;

	if (!queue_is_told(c, group, &key) || !serial_time_of(&a, c, 0) ||
	    !serial_time_of(&b, c, group))
		return s;
	rest = a.wall - a.queue;
	share = (b.queue - a.queue) / (b.wall - a.wall);
	s.is_most = share >= MOST_OF_IT && rest > 0;
	s.is_all = share >= ALL_OF_IT;
	s.is_longer = b.wall > a.wall;
	s.work = (b.wall - b.queue - rest) / (rest > 0 ? rest : 1);
	return s;
}

/* Writes ", all of it waiting for a CPU; its own work is the same (+2 %)". */
static void queue_share_put(FILE *f, const struct queue_share *s, bool is_only)
{
	if (!s->is_most)
		return;
	if (is_only)
		fprintf(f, ", %s of it %s for a CPU", s->is_all ? "all" : "most",
			s->is_longer ? "waiting" : "by waiting less");
	else
		fprintf(f, "; %s of the %s time is %s for a CPU", s->is_all ? "all" : "most",
			s->is_longer ? "longer" : "saved",
			s->is_longer ? "waiting" : "less waiting");
	if (fabs(s->work) < 0.005)
		fputs("; its own work is the same", f);
	else if (fabs(s->work) < SAME_WORK)
		fprintf(f, "; its own work is the same (%+.0f %%)", s->work * 100);
	else
		fprintf(f, "; its own work takes %.0f %% %s", fabs(s->work) * 100,
			s->work > 0 ? "longer" : "less time");
}

/* Writes how long the runs waited for a CPU, unless that is unknown, negligible or told after. */
static void queue_put(FILE *f, const struct comparison *c, size_t group)
{
	char first[NUMBER_BYTES], other[NUMBER_BYTES];
	size_t key;

	if (!queue_is_told(c, group, &key) || queue_share_of(c, group).is_most)
		return;
	number_format(first, UNIT_NS, spread_of(c, 0, key)->median);
	number_format(other, UNIT_NS, spread_of(c, group, key)->median);
	fprintf(f,
		runs_have_one_thread(c, group)
			? "; of that, %s against %s waiting for a CPU"
			: "; all threads together waited %s against %s for a CPU",
		other, first);
}

static void headline_put(FILE *f, const struct comparison *c, size_t group, enum headline h,
			 bool is_first)
{
	char first[NUMBER_BYTES], other[NUMBER_BYTES];
	size_t key;

	if (!headline_key(c, group, h, &key))
		return;
	change_put(f, h, against_of(c, group, key)->relative,
		   is_first ? c->groups->list[0].title : NULL);
	fprintf(f, " (%s against %s",
		number_format(other, run_key(key).unit, spread_of(c, group, key)->median),
		number_format(first, run_key(key).unit, spread_of(c, 0, key)->median));
	if (h == HEAD_WALL)
		queue_put(f, c, group);
	fputc(')', f);
}

/* Writes "a", "a and b", "a, b and c". */
static void between_put(FILE *f, size_t at, size_t nr)
{
	if (at)
		fputs(at + 1 == nr ? " and " : ", ", f);
}

static void headlines_put_changes(FILE *f, const struct comparison *c, size_t group,
				  const struct headlines *all)
{
	const struct queue_share share = queue_share_of(c, group);
	size_t n = 0;

	fprintf(f, "%s ", c->groups->list[group].title);
	for (int h = 0; h < NR_HEADLINES; h++) {
		if (!all->is[ROW_CHANGED][h])
			continue;
		between_put(f, n, all->nr_changed);
		headline_put(f, c, group, (enum headline)h, !n++);
	}
	if (all->is[ROW_CHANGED][HEAD_WALL])
		queue_share_put(f, &share, n == 1);
	if (all->nr_too_few)
		fputs(", but the runs are too few to tell that from noise", f);
	else if (comparison_has_several(c))
		fputs(": more than noise", f);
}

static void headlines_put_names(FILE *f, const struct headlines *all, enum row_state state)
{
	size_t nr = 0, n = 0;

	for (int h = 0; h < NR_HEADLINES; h++)
		nr += all->is[state][h];
	for (int h = 0; h < NR_HEADLINES; h++) {
		if (!all->is[state][h])
			continue;
		between_put(f, n++, nr);
		fputs(headlines[h].name, f);
	}
}

static bool headlines_have(const struct headlines *all, enum row_state state)
{
	for (int h = 0; h < NR_HEADLINES; h++)
		if (all->is[state][h])
			return true;
	return false;
}

/* Writes how many other values changed; if none did, the limit that applied. */
static void others_put(FILE *f, const struct comparison_rows *r, size_t others, size_t facts)
{
	fputs("; ", f);
	if (others) {
		fprintf(f, "%zu other value%s changed", others, others == 1 ? "" : "s");
		return;
	}
	fputs(facts ? "no other value changed" : "nothing else changed", f);
	if (r->left_out[ROW_NOISE])
		fputs(" by more than noise", f);
	else if (r->left_out[ROW_SMALL])
		fputs(" by 1 % or more", f);
}

/* Writes that no headline changed. @is_all: the runs also ended alike. */
static void verdict_put_none(FILE *f, const struct comparison *c, const struct comparison_rows *r,
			     const struct headlines *all, size_t others, bool is_all, size_t facts)
{
	bool is_noise = headlines_have(all, ROW_NOISE) || r->left_out[ROW_NOISE];
	bool is_small = headlines_have(all, ROW_SMALL) || r->left_out[ROW_SMALL];

	if (!others) {
		fprintf(f, "%s%s changed%s", facts ? "No" : "Nothing",
			is_all  ? facts ? " value" : ""
			: facts ? " other value"
				: " else",
			is_noise   ? " by more than noise"
			: is_small ? " by 1 % or more"
				   : "");
		return;
	}
	if (headlines_have(all, ROW_NOISE)) {
		fputs("Differences in ", f);
		headlines_put_names(f, all, ROW_NOISE);
		fputs(" may be noise", f);
	} else {
		fprintf(f, "Time, CPU time and memory are the same%s",
			headlines_have(all, ROW_SMALL) ? " within 1 %" : "");
	}
	fprintf(f, "; %zu %svalue%s changed%s", others, "other ", others == 1 ? "" : "s",
		comparison_has_several(c) ? " by more than noise" : "");
}

/*
 * Sets the values of @name. Returns false if groups have several runs, one lacks the value, or both
 * are equal.
 */
static bool trouble_differs(const struct comparison *c, size_t group, const char *name,
			    double *first, double *other)
{
	size_t key;

	if (c->groups->list[group].nr > 1 || run_key_find(name, strlen(name), &key) ||
	    row_state(c, group, key) != ROW_CHANGED)
		return false;
	*first = spread_of(c, 0, key)->median;
	*other = spread_of(c, group, key)->median;
	return true;
}

static void signal_put(FILE *f, const char *label, double number)
{
	if (number > 0)
		fprintf(f, "%s was killed by signal %.0f", label, number);
	else
		fprintf(f, "%s was not killed", label);
}

/* Writes how the runs ended if that differs. Returns the number of values used. */
static size_t verdict_put_trouble(FILE *f, const struct comparison *c, size_t group)
{
	const char *a = c->groups->list[0].title, *b = c->groups->list[group].title;
	double first, other;
	size_t n = 0;

	if (trouble_differs(c, group, "exit_code", &first, &other)) {
		fprintf(f, "%s ended with %.0f, %s with %.0f. ", b, other, a, first);
		n++;
	}
	if (trouble_differs(c, group, "signal", &first, &other)) {
		signal_put(f, b, other);
		fputs(", ", f);
		signal_put(f, a, first);
		fputs(". ", f);
		n++;
	}
	if (trouble_differs(c, group, "oom_kills", &first, &other)) {
		fprintf(f,
			"The kernel killed %.0f processes of %s for lack of memory, and %.0f of "
			"%s. ",
			other, b, first, a);
		n++;
	}
	return n;
}

static bool groups_are_incomplete(const struct comparison *c, size_t group)
{
	const size_t both[] = { 0, group };

	for (size_t i = 0; i < 2; i++) {
		const struct group *g = &c->groups->list[both[i]];

		for (size_t k = 0; k < g->nr; k++)
			if (g->sides[k]->is_run && !g->sides[k]->complete)
				return true;
	}
	return false;
}

/* Writes what limits the verdict: noise, incomplete runs, single runs. */
static void verdict_put_doubts(FILE *f, const struct comparison *c, size_t group,
			       const struct comparison_rows *r, const struct headlines *all)
{
	if (all->nr_changed && headlines_have(all, ROW_NOISE)) {
		fputs(" Differences in ", f);
		headlines_put_names(f, all, ROW_NOISE);
		fputs(" may be noise.", f);
	}
	if (groups_are_incomplete(c, group))
		fputs(" Some runs are incomplete: they may have used more than is shown.", f);
	else if (r->nr_changed && !comparison_has_several(c))
		fputs(" With one run each, changes cannot be told from noise.", f);
}

static void verdict_write(FILE *f, const struct comparison *c, size_t group, size_t facts)
{
	struct headlines all = headlines_sort(c, group);
	struct comparison_rows r;
	size_t others, nr_trouble, queue;

	comparison_choose_rows(&r, c, group, NULL);
	nr_trouble = verdict_put_trouble(f, c, group);
	others = r.nr_changed - all.nr_changed - nr_trouble;
	if (queue_is_told(c, group, &queue) && row_state(c, group, queue) == ROW_CHANGED)
		others--;
	if (!all.nr_changed) {
		verdict_put_none(f, c, &r, &all, others, !nr_trouble, facts);
	} else {
		headlines_put_changes(f, c, group, &all);
		if (!all.nr_too_few)
			others_put(f, &r, others, facts);
	}
	fputc('.', f);
	verdict_put_doubts(f, c, group, &r, &all);
}

char *verdict_text(const struct comparison *c, size_t group, size_t facts)
{
	char *text = NULL;
	size_t length;
	FILE *f = memory_open_memstream(&text, &length);

	if (!f)
		return NULL;
	verdict_write(f, c, group, facts);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}
