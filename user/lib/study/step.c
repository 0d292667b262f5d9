// SPDX-License-Identifier: BSD-2-Clause
#include "study/step.h"

#include "base/memory.h"
#include "run/phase.h"
#include "store/source_phases.h"
#include "study/side.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP_BETWEEN '\x1f' /* joins the names of a key; shown as '/' */
const char *step_kind_name(enum step_kind kind)
{
	static const char *const names[] = { STEP_WORDS };

	return names[kind];
}

const char *step_kind_names(enum step_kind kind)
{
	static const char *const names[] = { "phases", "programs", "spans" };

	return names[kind];
}

const char *step_kind_counted(enum step_kind kind)
{
	static const char *const names[] = { "phases", "procs", "spans" };

	return names[kind];
}

static void step_done(struct step *s)
{
	comparison_done(&s->comparison);
	groups_done(&s->groups);
	json_decref(s->path);
	free(s->name);
	free(s->sides);
	free(s->spans);
	free(s->counts);
}

void steps_done(struct steps *all)
{
	for (size_t i = 0; i < all->nr; i++)
		step_done(&all->list[i]);
	free(all->list);
	json_decref(all->index);
	*all = (struct steps){ 0 };
}

static void step_clear(struct step *s, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		s->sides[i] = (struct side){ .format = "bpfmon", .is_run = true, .complete = true };
		s->spans[i] = 0;
		for (size_t key = 0; key < NR_KEYS; key++)
			s->sides[i].value[key] = NAN;
	}
}

static int step_make_room(struct step *s, size_t from, size_t to)
{
	struct side *sides = memory_reallocarray(s->sides, to, sizeof(*sides));
	size_t *spans;

	if (!sides)
		return -ENOMEM;
	s->sides = sides;
	spans = memory_reallocarray(s->spans, to, sizeof(*spans));
	if (!spans)
		return -ENOMEM;
	s->spans = spans;
	step_clear(s, from, to);
	return 0;
}

/* Makes room for @nr_sides runs in each step. Returns 0 or -ENOMEM. */
static int steps_make_room(struct steps *all, size_t nr_sides)
{
	int err = 0;

	if (!all->index)
		all->index = json_object();
	if (!all->index)
		return -ENOMEM;
	for (size_t i = 0; !err && i < all->nr; i++)
		err = step_make_room(&all->list[i], all->nr_sides, nr_sides);
	if (!err)
		all->nr_sides = nr_sides;
	return err;
}

/* Appends a step. Takes ownership of @path, also on error. Returns NULL without memory. */
static struct step *step_append(struct steps *all, const char *key, json_t *path)
{
	struct step *s;

	if (all->nr == all->room) {
		size_t room = all->room ? all->room * 2 : 16;
		struct step *list = memory_reallocarray(all->list, room, sizeof(*list));

		if (!list) {
			json_decref(path);
			return NULL;
		}
		all->list = list;
		all->room = room;
	}
	s = &all->list[all->nr];
	*s = (struct step){ .path = path, .name = memory_strdup(key) };
	if (!s->name || step_make_room(s, 0, all->nr_sides) ||
	    json_object_set_new_nocheck(all->index, key, json_integer((json_int_t)all->nr))) {
		step_done(s);
		return NULL;
	}
	for (char *c = s->name; *c; c++)
		*c = *c == STEP_BETWEEN ? '/' : *c;
	all->nr++;
	return s;
}

/*
 * Finds or adds the step with @key. *@number is SIZE_MAX beyond MAX_STEPS. Takes ownership of
 * @path, also on error. Returns 0 or -ENOMEM, also if @path is NULL.
 */
static int step_find(struct steps *all, const char *key, json_t *path, size_t *number)
{
	const json_t *known = json_object_get(all->index, key);

	*number = known ? (size_t)json_integer_value(known) : all->nr;
	if (!path)
		return -ENOMEM;
	if (known || all->nr == MAX_STEPS) {
		*number = known ? *number : SIZE_MAX;
		json_decref(path);
		return 0;
	}
	return step_append(all, key, path) ? 0 : -ENOMEM;
}

static int step_make_groups(struct step *s, const struct groups *g, const struct sides *runs)
{
	s->groups = (struct groups){ .list = memory_calloc(g->nr + 1, sizeof(*g->list)),
				     .by = g->by,
				     .most_sides = g->most_sides };
	if (!s->groups.list)
		return -ENOMEM;
	for (size_t i = 0; i < g->nr; i++) {
		struct group *one = &s->groups.list[s->groups.nr];

		*one = (struct group){ .name = g->list[i].name,
				       .sides = memory_calloc(g->list[i].nr, sizeof(*one->sides)),
				       .nr = g->list[i].nr };
		if (!one->sides)
			return -ENOMEM;
		s->groups.nr++;
		for (size_t k = 0; k < one->nr; k++)
			one->sides[k] = &s->sides[g->list[i].sides[k] - runs->list];
	}
	return 0;
}

static int step_count_spans(struct step *s, const struct groups *g, const struct sides *runs)
{
	double *of_group = memory_calloc(g->most_sides, sizeof(*of_group));
	bool is_whole;

	s->counts = memory_calloc(g->nr, sizeof(*s->counts));
	for (size_t i = 0; of_group && s->counts && i < g->nr; i++) {
		const struct group *one = &g->list[i];

		for (size_t k = 0; k < one->nr; k++)
			of_group[k] = (double)s->spans[one->sides[k] - runs->list];
		stats_sort(of_group, one->nr);
		s->counts[i] = stats_quantile(of_group, one->nr, 0.5);
	}
	is_whole = of_group && s->counts;
	free(of_group);
	return is_whole ? 0 : -ENOMEM;
}

int steps_compare(struct steps *all, const struct groups *g, const struct sides *runs)
{
	int err = steps_make_room(all, runs->nr); /* the last runs may have no steps */

	for (size_t i = 0; !err && i < all->nr; i++) {
		err = step_make_groups(&all->list[i], g, runs);
		if (!err)
			err = step_count_spans(&all->list[i], g, runs);
		if (!err)
			err = groups_compare(&all->list[i].comparison, &all->list[i].groups);
	}
	return err;
}

/* Finds or adds the step @name. Returns NULL if there are too many (*@err is 0) or on error. */
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

/*
 * Sets only the time if phases overlap with phases of other names: their other values are not
 * separable.
 */
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

/* A run without marks has no phases: its only one is the run itself. */
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

#define KEY_BYTES (MAX_SPAN_DEPTH * (SPAN_NAME_BYTES + 3) + 1)

/*
 * Writes the key of the path, which is the same in all runs. Returns its names as a list, or NULL
 * without memory.
 */
static json_t *path_describe(const struct span_paths *p, size_t at, char key[KEY_BYTES])
{
	size_t above[MAX_SPAN_DEPTH], nr = 0, n = 0;
	json_t *path = json_array();

	for (; at != NO_PATH && nr < MAX_SPAN_DEPTH; at = p->all[at].parent)
		above[nr++] = at;
	while (path && nr) {
		const struct span_path *one = &p->all[above[--nr]];
		if (one->is_orphan && json_array_append_new(path, json_string("?")))
			goto fail;
		if (json_array_append_new(path, json_string(one->name)))
			goto fail;
		n += (size_t)snprintf(key + n, KEY_BYTES - n, "%s%s%.*s", n ? "\x1f" : "",
				      one->is_orphan ? "?\x1f" : "", SPAN_NAME_BYTES - 1,
				      one->name);
	}
	return path;
fail:
	json_decref(path);
	return NULL;
}

static int step_find_path(struct steps *all, const struct span_paths *p, size_t at, size_t *number)
{
	char key[KEY_BYTES] = "";
	json_t *path = path_describe(p, at, key);

	return step_find(all, key, path, number);
}

struct adding_spans {
	struct steps *all;
	const struct span_paths *paths;
	size_t run;
	size_t *step_of; /* owned; [path]; SIZE_MAX if left out */
};

static int span_add_to_step(void *context, struct line *l)
{
	struct adding_spans *to = context;
	size_t path = span_paths_find(to->paths, l->span.id);
	struct side one = { 0 };
	struct step *s;

	if (path == NO_PATH || to->step_of[path] == SIZE_MAX) {
		to->all->left_out++;
		return 0;
	}
	s = &to->all->list[to->step_of[path]];
	for (size_t key = 0; key < NR_KEYS; key++)
		one.value[key] = NAN;
	side_take_values(&one, l->tree);
	side_add_values(&s->sides[to->run], &one);
	s->spans[to->run]++;
	return 0;
}

static int steps_add_paths(struct steps *all, size_t run, const struct span_paths *p,
			   struct source *src)
{
	struct adding_spans to = { all, p, run, memory_calloc(p->nr + 1, sizeof(*to.step_of)) };
	int err = to.step_of ? steps_make_room(all, run + 1) : -ENOMEM;

	for (size_t at = NO_PATH; !err && (at = span_paths_next(p, at)) != NO_PATH;)
		err = step_find_path(all, p, at, &to.step_of[at]);
	if (!err && p->nr_spans)
		err = source_each(src, PART(LINE_SPAN), span_add_to_step, &to);
	free(to.step_of);
	return err;
}

static int steps_add_spans(struct steps *all, size_t run, struct source *src)
{
	struct span_paths p;
	int err = spans_read_paths(src, false, &p);

	if (!err)
		err = steps_add_paths(all, run, &p, src);
	span_paths_done(&p);
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
