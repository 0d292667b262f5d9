// SPDX-License-Identifier: BSD-2-Clause
/* The spans of a run as steps. */
#include "study/step_parts.h"
#include "store/stored_spans.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define KEY_BYTES (MAX_SPAN_DEPTH * (SPAN_NAME_BYTES + 3) + 1)

/* What identifies the path in all runs, into @key; and its names as a list, or NULL. */
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
	size_t *step_of; /* each path */
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
	struct adding_spans to = { all, p, run, calloc(p->nr + 1, sizeof(*to.step_of)) };
	int err = to.step_of ? steps_make_room(all, run + 1) : -ENOMEM;

	for (size_t at = NO_PATH; !err && (at = span_paths_next(p, at)) != NO_PATH;)
		err = step_find_path(all, p, at, &to.step_of[at]);
	if (!err && p->nr_spans)
		err = source_each(src, PART(LINE_SPAN), span_add_to_step, &to);
	free(to.step_of);
	return err;
}

int steps_add_spans(struct steps *all, size_t run, struct source *src)
{
	struct span_paths p;
	int err = spans_read_paths(src, false, &p);

	if (!err)
		err = steps_add_paths(all, run, &p, src);
	span_paths_done(&p);
	return err;
}
