// SPDX-License-Identifier: BSD-2-Clause
/* Chooses the rows of a comparison: the changes that matter most come first. */
#include "study/compare.h"

#include <math.h>
#include <string.h>

/* What gates call "memory", and peaks, the most exact first. */
static const char *const memory_keys[] = { "memory_needed_bytes", "rss_peak_exact_bytes",
					   "rss_peak_upper_bytes", "rss_peak_bytes",
					   "process_rss_peak_bytes" };
#define NR_MEMORY (sizeof(memory_keys) / sizeof(*memory_keys))

/* Values that follow from others, or are parts of them. */
static const char *const derived_keys[] = { "user_seconds",   "system_seconds",
					    "cores_mean",     "lifetime_seconds",
					    "pss_peak_bytes", "uss_peak_bytes",
					    "forks",          "execs",
					    "exits" };
#define NR_DERIVED (sizeof(derived_keys) / sizeof(*derived_keys))

#define LEAST_OF_ESTIMATE 0.25 /* as LEAST_CHANGE; and the difference is a second or more */

/* Smaller differences matter less, whatever their share. */
static const double least_amounts[NR_UNITS] = {
	[UNIT_COUNT] = 100,     [UNIT_NS] = 0.01,      [UNIT_BYTES] = 1 << 20, [UNIT_MILLI] = 0.1,
	[UNIT_MICROJOULE] = 10, [UNIT_MILLIWATT] = 10, [UNIT_HERTZ] = 100e6,
};

/* Failures come before resources. */
static const char *const trouble_keys[] = { "exit_code", "signal", "oom_kills" };
#define NR_TROUBLE (sizeof(trouble_keys) / sizeof(*trouble_keys))

static bool key_is_one_of(size_t key, const char *const *names, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(run_key(key).name, names[i]))
			return true;
	return false;
}

/* Without a test: whether the difference may be more than chance. */
static bool change_is_noticed(const struct against *x, struct run_key key)
{
	if (key.is_estimate)
		return fabs(x->relative) >= LEAST_OF_ESTIMATE && fabs(x->difference) >= 1;
	return fabs(x->relative) >= LEAST_CHANGE;
}

enum row_state row_state(const struct comparison *c, size_t group, size_t key)
{
	const struct against *x = against_of(c, group, key);
	bool has_first = spread_of(c, 0, key)->nr, has_other = spread_of(c, group, key)->nr;

	if (!run_key(key).name || (!has_first && !has_other))
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
	return change_is_noticed(x, run_key(key)) ? ROW_CHANGED : ROW_SMALL;
}

static bool memory_key(const struct comparison *c, size_t group, size_t *key)
{
	bool is_known = false;
	size_t k;

	for (size_t i = 0; i < NR_MEMORY; i++) {
		if (run_key_find(memory_keys[i], strlen(memory_keys[i]), &k) ||
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
	return !run_key_find(names[h], strlen(names[h]), key) &&
	       row_state(c, group, *key) != ROW_ABSENT;
}

/* Returns the size of a change, the same for a factor and its reciprocal. */
static double change_size(const struct comparison *c, size_t group, size_t key)
{
	const struct against *x = against_of(c, group, key);

	if (key_is_one_of(key, trouble_keys, NR_TROUBLE))
		return INFINITY;
	return fabs(x->relative < 0 ? x->relative / (1 + fmax(x->relative, -0.999999))
				    : x->relative);
}

enum change_class { CHANGE_TROUBLE, CHANGE_LARGE, CHANGE_SMALL, CHANGE_DERIVED };

static enum change_class change_class(const struct comparison *c, size_t group, size_t key)
{
	const struct run_key k = run_key(key);

	if (key_is_one_of(key, trouble_keys, NR_TROUBLE))
		return CHANGE_TROUBLE;
	if (k.is_estimate || key_is_one_of(key, derived_keys, NR_DERIVED))
		return CHANGE_DERIVED;
	if (!strcmp(k.name, "processes_total") ||
	    fabs(against_of(c, group, key)->difference) >= least_amounts[k.unit])
		return CHANGE_LARGE;
	return CHANGE_SMALL;
}

static bool change_matters_more(const struct comparison *c, size_t group, size_t a, size_t b)
{
	enum change_class of_a = change_class(c, group, a), of_b = change_class(c, group, b);

	return of_a != of_b ? of_a < of_b : change_size(c, group, a) > change_size(c, group, b);
}

/* Inserts a key by how much its change matters, after equal ones. */
static void changed_insert(struct comparison_rows *r, const struct comparison *c, size_t group,
			   size_t key)
{
	size_t at = r->nr_changed++;

	for (; at && change_matters_more(c, group, key, r->changed[at - 1]); at--)
		r->changed[at] = r->changed[at - 1];
	r->changed[at] = key;
}

bool queue_is_told(const struct comparison *c, size_t group, size_t *key)
{
	size_t wall;
	double longest;

	if (run_key_find(QUEUE_KEY, strlen(QUEUE_KEY), key) ||
	    !headline_key(c, group, HEAD_WALL, &wall) || !against_of(c, group, *key)->has_both ||
	    !against_of(c, group, wall)->has_both)
		return false;
	longest = fmax(spread_of(c, 0, *key)->median, spread_of(c, group, *key)->median);
	return longest >= LEAST_CHANGE * spread_of(c, group, wall)->median &&
	       row_state(c, group, wall) == ROW_CHANGED;
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

/* Shows headlines, what is wrong, and the changes that matter most, up to @most. */
static void rows_show_changes(struct comparison_rows *r, const struct comparison *c, size_t group,
			      bool is_shown[NR_KEYS], size_t most)
{
	size_t key, at = 0, queue = NR_KEYS, shown = 0;
	bool is_told = queue_is_told(c, group, &queue);

	while (at < r->nr_changed && key_is_one_of(r->changed[at], trouble_keys, NR_TROUBLE)) {
		row_show(r, is_shown, r->changed[at++]);
		shown++;
	}
	for (int h = 0; h < NR_HEADLINES; h++) {
		if (!headline_key(c, group, (enum headline)h, &key))
			continue;
		shown += row_state(c, group, key) == ROW_CHANGED;
		row_show(r, is_shown, key);
	}
	for (; at < r->nr_changed; at++) {
		key = r->changed[at];
		if (is_shown[key] || shown >= most || (is_told && key == queue))
			continue;
		row_show(r, is_shown, key);
		shown++;
	}
}

void comparison_choose_rows(struct comparison_rows *r, const struct comparison *c, size_t group,
			    const struct row_choice *choice)
{
	static const struct row_choice none = { 0 };
	bool is_shown[NR_KEYS] = { false };

	*r = (struct comparison_rows){ 0 };
	choice = choice ? choice : &none;
	changed_find(r, c, group);
	rows_show_changes(r, c, group, is_shown, choice->is_all ? NR_KEYS : MOST_DIFFERENCES);
	for (size_t key = 0; key < NR_KEYS; key++) {
		enum row_state state = row_state(c, group, key);

		if (state == ROW_ABSENT || is_shown[key])
			continue;
		if (choice->is_all || row_is_wanted(choice, key))
			row_show(r, is_shown, key);
		else if (state == ROW_CHANGED && !key_is_one_of(key, memory_keys, NR_MEMORY))
			r->hidden++;
		else
			r->left_out[state]++;
	}
}
