// SPDX-License-Identifier: BSD-2-Clause
/* The phases, or the programs, of a run as steps. */
#include "study/step_parts.h"
#include "run/phase.h"
#include "store/marks.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* The step that is called @name in the run; NULL without *@err: there are too many. */
static struct step *step_of_name(struct steps *all, const char *name, int *err)
{
	json_t *path = json_pack("[s]", name);
	size_t number;

	*err = step_find(all, name, path, &number);
	return *err || number == SIZE_MAX ? NULL : &all->list[number];
}

static void side_clear_values(struct side *s)
{
	*s = (struct side){ .complete = true };
	for (size_t key = 0; key < NR_KEYS; key++)
		s->value[key] = NAN;
}

static double metric_to_number(enum metric_id id, uint64_t value)
{
	return (double)value / pow(10, metric_decimals(id));
}

/* Of phases that share with those of other names only their time is known. */
static void side_take_phases(struct side *s, const struct phase_sum *sum)
{
	side_clear_values(s);
	side_set(s, "wall_seconds", (double)sum->ns / 1e9);
	for (int m = 0; !sum->nr_shared && m < NR_METRICS; m++) {
		enum metric_id id = (enum metric_id)m;

		if (!metric_has(&sum->have, id))
			continue;
		if (metric_get(id)->kind == KIND_COUNTER)
			side_set(s, metric_get(id)->key, metric_to_number(id, sum->value[m]));
		else if (id == M_rss)
			side_set(s, "rss_peak_bytes", metric_to_number(id, sum->value[m]));
		else if (id == M_cores)
			side_set(s, "cores_peak", metric_to_number(id, sum->value[m]));
	}
}

static int steps_add_phase_sums(struct steps *all, size_t run, const struct phase_sums *sums)
{
	int err = 0;

	for (size_t i = 0; !err && i < sums->nr; i++) {
		const struct phase_sum *sum = &sums->all[i];
		struct step *s = step_of_name(all, sum->text ? sum->text : "(start)", &err);
		struct side one;

		if (!s) {
			all->left_out += sum->nr;
			continue;
		}
		side_take_phases(&one, sum);
		side_add_values(&s->sides[run], &one);
		s->spans[run] += sum->nr;
	}
	return err;
}

/* A run without marks has no phases, not one. */
static int steps_add_phases(struct steps *all, size_t run, struct source *src)
{
	struct phase_sums sums = { 0 };
	struct summary total = { 0 };
	struct phases p = { 0 };
	bool is_folded;
	int err = source_summary(src, &total, &is_folded);

	if (!err)
		err = phases_read(&p, src, total.wall_ns);
	if (!err)
		err = steps_make_room(all, run + 1);
	if (!err && p.nr > 1)
		err = phase_sums_make(&sums, &p);
	if (!err)
		err = steps_add_phase_sums(all, run, &sums);
	all->left_out += p.left_out;
	phase_sums_done(&sums);
	phases_done(&p);
	summary_done(&total);
	return err;
}

static int steps_add_program(struct steps *all, size_t run, const json_t *program)
{
	const char *exe = json_string_value(json_object_get(program, "exe"));
	json_int_t processes = json_integer_value(json_object_get(program, "processes"));
	struct side one;
	struct step *s;
	int err;

	s = step_of_name(all, exe ? exe : "(unknown)", &err);
	if (!s) {
		all->left_out++;
		return err;
	}
	side_clear_values(&one);
	side_take_values(&one, program);
	one.complete = true;
	side_set(&one, "processes_total", (double)processes);
	side_add_values(&s->sides[run], &one);
	s->spans[run] += processes > 0 ? (size_t)processes : 0;
	return 0;
}

static int steps_add_programs(struct steps *all, size_t run, struct source *src)
{
	const json_t *program;
	void *tree = NULL;
	bool is_folded;
	size_t i;
	int err = source_summary_tree(src, &tree, &is_folded);

	if (!err)
		err = steps_make_room(all, run + 1);
	json_array_foreach(json_object_get(tree, "programs"), i, program)
		if (!err)
			err = steps_add_program(all, run, program);
	json_decref(tree);
	return err;
}

int steps_add_run(struct steps *all, size_t run, struct source *src)
{
	static int (*const add[NR_STEP_KINDS])(struct steps *, size_t, struct source *) = {
		[STEP_PHASE] = steps_add_phases,
		[STEP_PROGRAM] = steps_add_programs,
		[STEP_SPAN] = steps_add_spans,
	};

	return add[all->kind](all, run, src);
}
