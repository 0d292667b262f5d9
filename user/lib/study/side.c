// SPDX-License-Identifier: BSD-2-Clause
#include "study/side.h"

#include "base/cleanup.h"
#include "study/facts.h"
#include "study/compare_parts.h"
#include "text/meta_text.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define LARGEST_PEER (16U << 20) /* bytes: what a command wrote may stand before its block */

static void side_done(struct side *s)
{
	free(s->name);
	free(s->title);
	json_decref(s->facts);
}

void sides_done(struct sides *all)
{
	for (size_t i = 0; i < all->nr; i++)
		side_done(&all->list[i]);
	free(all->list);
	*all = (struct sides){ 0 };
}

struct side *sides_append(struct sides *all, const char *name)
{
	struct side *s;

	if (all->nr == all->room) {
		size_t room = all->room ? all->room * 2 : 8;
		struct side *list = realloc(all->list, room * sizeof(*list));

		if (!list)
			return NULL;
		all->list = list;
		all->room = room;
	}
	s = &all->list[all->nr];
	*s = (struct side){ .name = strdup(name), .facts = json_object() };
	for (size_t i = 0; i < NR_KEYS; i++)
		s->value[i] = NAN;
	if (!s->name || !s->facts) {
		side_done(s);
		return NULL;
	}
	all->nr++;
	return s;
}

void sides_drop(struct sides *all)
{
	side_done(&all->list[--all->nr]);
}

void side_set(struct side *s, const char *key, double value)
{
	size_t i;

	if (!compare_key_find(key, strlen(key), &i))
		s->value[i] = value;
}

static double side_get(const struct side *s, const char *key)
{
	size_t i;

	return compare_key_find(key, strlen(key), &i) ? NAN : s->value[i];
}

/* A run that ended with a status was not killed: a gate on signals must pass. */
static void side_derive_signal(struct side *s)
{
	if (isnan(side_get(s, "signal")) && !isnan(side_get(s, "exit_code")))
		side_set(s, "signal", 0);
}

void side_derive(struct side *s)
{
	double wall = side_get(s, "wall_seconds");

	if (isnan(side_get(s, "cpu_seconds")))
		side_set(s, "cpu_seconds",
			 side_get(s, "user_seconds") + side_get(s, "system_seconds"));
	if (isnan(side_get(s, "cores_mean")) && wall > 0)
		side_set(s, "cores_mean", side_get(s, "cpu_seconds") / wall);
	side_derive_signal(s);
}

void side_take_values(struct side *s, const json_t *summary)
{
	for (size_t i = 0; i < NR_KEYS; i++) {
		const char *key = compare_key(i).name;
		const json_t *v = key ? json_object_get(summary, key) : NULL;

		if (json_is_number(v))
			s->value[i] = json_number_value(v);
	}
	side_derive_signal(s);
	s->complete = json_is_true(json_object_get(summary, "complete"));
}

/* Memory is a peak, and so is what is a rate; a status is the worst. */
static bool key_is_largest(size_t key)
{
	struct compare_key k = compare_key(key);

	if (key >= NR_SUMMARY_COMPARED)
		return false;
	return k.unit == UNIT_BYTES || k.unit == UNIT_MILLI || !strcmp(k.name, "exit_code") ||
	       !strcmp(k.name, "signal");
}

void side_add_values(struct side *s, const struct side *one)
{
	for (size_t i = 0; i < NR_KEYS; i++) {
		if (isnan(s->value[i]))
			s->value[i] = one->value[i];
		else if (!isnan(one->value[i]))
			s->value[i] = key_is_largest(i) ? fmax(s->value[i], one->value[i])
							: s->value[i] + one->value[i];
	}
	s->complete &= one->complete;
	if (side_get(s, "wall_seconds") > 0)
		side_set(s, "cores_mean", side_get(s, "cpu_seconds") / side_get(s, "wall_seconds"));
}

struct taking {
	struct side *side;
	bool has_summary;
};

static int side_take_part(void *context, struct line *l)
{
	struct taking *t = context;

	if (l->kind == LINE_META) {
		free(t->side->title);
		t->side->title = meta_title(l->tree);
		return facts_add(t->side->facts, l->tree);
	}
	side_take_values(t->side, l->tree);
	t->has_summary = true;
	return 0;
}

/* Of a run that was cut off; what no sample has stays absent. */
static int side_take_folded(struct side *s, struct source *src)
{
	void *tree;
	int err = source_summary_tree(src, &tree, &s->is_folded);

	if (!err)
		side_take_values(s, tree);
	json_decref(tree);
	return err;
}

int sides_add_run(struct sides *all, const char *name, struct source *src)
{
	struct taking t = { .side = sides_append(all, name) };
	int err;

	if (!t.side)
		return -ENOMEM;
	t.side->format = "bpfmon";
	t.side->is_run = true;
	err = source_each(src, PART(LINE_META) | PART(LINE_SUMMARY), side_take_part, &t);
	if (!err && !t.has_summary)
		err = side_take_folded(t.side, src);
	if (err)
		sides_drop(all);
	return err;
}

static int file_read_whole(const char *path, char **text, size_t *length)
{
	__cleanup(fclosep) FILE *f = fopen(path, "re");

	if (!f)
		return -errno;
	*text = malloc(LARGEST_PEER + 1);
	if (!*text)
		return -ENOMEM;
	*length = fread(*text, 1, LARGEST_PEER + 1, f);
	if (ferror(f))
		return -errno;
	if (*length > LARGEST_PEER)
		return -EBADMSG;
	(*text)[*length] = '\0';
	return 0;
}

int sides_add_peer(struct sides *all, const char *path)
{
	__cleanup(freep) char *text = NULL;
	size_t length = 0;
	int err = file_read_whole(path, &text, &length);
	struct side *s = err ? NULL : sides_append(all, path);

	if (!err && !s)
		err = -ENOMEM;
	if (err)
		return err;
	err = peer_read(s, text, length);
	if (err)
		sides_drop(all);
	else
		side_derive(s);
	return err;
}

const char *side_tag(const struct side *s, const char *tag)
{
	__cleanup(freep) char *key = NULL;

	if (asprintf(&key, "tags.%s", tag) < 0) {
		key = NULL;
		return NULL;
	}
	return json_string_value(json_object_get(s->facts, key));
}
