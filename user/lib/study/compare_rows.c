// SPDX-License-Identifier: BSD-2-Clause
#include "study/compare_rows.h"

#include <math.h>
#include <string.h>

/* Peaks of the same memory, that which is known best first. */
static const char *const memory_keys[] = { "rss_peak_exact_bytes", "rss_peak_upper_bytes",
					   "rss_peak_bytes", "process_rss_peak_bytes" };
#define NR_MEMORY (sizeof(memory_keys) / sizeof(*memory_keys))

/* What is wrong with a run comes before what it used. */
static const char *const trouble_keys[] = { "exit_code", "signal", "oom_kills" };
#define NR_TROUBLE (sizeof(trouble_keys) / sizeof(*trouble_keys))

static bool key_is_one_of(size_t key, const char *const *names, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(compare_key(key).name, names[i]))
			return true;
	return false;
}

enum row_state row_state(const struct comparison *c, size_t group, size_t key)
{
	const struct against *x = against_of(c, group, key);
	bool has_first = spread_of(c, 0, key)->nr, has_other = spread_of(c, group, key)->nr;

	if (!compare_key(key).name || (!has_first && !has_other))
		return ROW_ABSENT;
	if (!x->has_both)
		return ROW_ONE_SIDED;
	switch (x->verdict) {
	case VERDICT_EQUAL:
		return ROW_EQUAL;
	case VERDICT_NO_SIGN:
		return ROW_NOISE;
	case VERDICT_DIFFERENT:
		return ROW_CHANGED;
	default:
		if (x->difference == 0)
			return ROW_EQUAL;
	}
	if (key_is_one_of(key, trouble_keys, NR_TROUBLE))
		return ROW_CHANGED;
	return fabs(x->relative) >= LEAST_CHANGE ? ROW_CHANGED : ROW_SMALL;
}

static bool memory_key(const struct comparison *c, size_t group, size_t *key)
{
	bool is_known = false;
	size_t k;

	for (size_t i = 0; i < NR_MEMORY; i++) {
		if (compare_key_find(memory_keys[i], strlen(memory_keys[i]), &k) ||
		    row_state(c, group, k) == ROW_ABSENT)
			continue;
		if (!is_known || against_of(c, group, k)->has_both)
			*key = k;
		is_known = true;
		if (against_of(c, group, k)->has_both)
			break;
	}
	return is_known;
}

bool headline_key(const struct comparison *c, size_t group, enum headline h, size_t *key)
{
	static const char *const names[] = {
		[HEAD_WALL] = "wall_seconds", [HEAD_CPU] = "cpu_seconds"
	};

	if (h == HEAD_MEMORY)
		return memory_key(c, group, key);
	return !compare_key_find(names[h], strlen(names[h]), key) &&
	       row_state(c, group, *key) != ROW_ABSENT;
}

/* How far apart two values are, in either direction. */
static double change_size(const struct comparison *c, size_t group, size_t key)
{
	const struct against *x = against_of(c, group, key);

	if (key_is_one_of(key, trouble_keys, NR_TROUBLE))
		return INFINITY;
	return fabs(x->relative < 0 ? x->relative / (1 + fmax(x->relative, -0.999999))
				    : x->relative);
}

/* Into its place among those that are there: behind those that changed as much. */
static void changed_insert(struct comparison_rows *r, const struct comparison *c, size_t group,
			   size_t key)
{
	size_t at = r->nr_changed++;

	for (; at && change_size(c, group, r->changed[at - 1]) < change_size(c, group, key); at--)
		r->changed[at] = r->changed[at - 1];
	r->changed[at] = key;
}

static bool row_is_wanted(const struct row_choice *choice, size_t key)
{
	for (size_t i = 0; i < choice->nr_wanted; i++)
		if (choice->wanted[i] == key)
			return true;
	return false;
}

static void row_show(struct comparison_rows *r, bool is_shown[NR_KEYS], size_t key)
{
	if (!is_shown[key])
		r->keys[r->nr++] = key;
	is_shown[key] = true;
}

static void changed_find(struct comparison_rows *r, const struct comparison *c, size_t group)
{
	size_t memory = NR_KEYS;

	memory_key(c, group, &memory);
	for (size_t key = 0; key < NR_KEYS; key++) {
		if (row_state(c, group, key) != ROW_CHANGED)
			continue;
		if (key == memory || !key_is_one_of(key, memory_keys, NR_MEMORY))
			changed_insert(r, c, group, key);
	}
}

void comparison_choose_rows(struct comparison_rows *r, const struct comparison *c, size_t group,
			    const struct row_choice *choice)
{
	static const struct row_choice none = { 0 };
	bool is_shown[NR_KEYS] = { false };
	size_t key, at = 0;

	*r = (struct comparison_rows){ 0 };
	choice = choice ? choice : &none;
	changed_find(r, c, group);
	while (at < r->nr_changed && key_is_one_of(r->changed[at], trouble_keys, NR_TROUBLE))
		row_show(r, is_shown, r->changed[at++]);
	for (int h = 0; h < NR_HEADLINES; h++)
		if (headline_key(c, group, (enum headline)h, &key))
			row_show(r, is_shown, key);
	for (; at < r->nr_changed; at++)
		row_show(r, is_shown, r->changed[at]);
	for (key = 0; key < NR_KEYS; key++) {
		enum row_state state = row_state(c, group, key);

		if (state == ROW_ABSENT || is_shown[key])
			continue;
		if (choice->is_all || row_is_wanted(choice, key))
			row_show(r, is_shown, key);
		else
			r->left_out[state]++;
	}
}
