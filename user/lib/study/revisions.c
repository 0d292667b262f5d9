// SPDX-License-Identifier: BSD-2-Clause
/* The git revisions of runs, from their meta lines. */
#include "study/trend.h"

#include "study/line_walk.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int run_revisions_open(struct run_revisions *r, size_t nr)
{
	r->of = calloc(nr + 1, sizeof(*r->of));
	return r->of ? 0 : -ENOMEM;
}

void run_revisions_done(struct run_revisions *r)
{
	free(r->of);
	*r = (struct run_revisions){ 0 };
}

/* Goes to the member @key, if there is one. */
static bool line_walk_find(struct line_walk *w, const char *line, const char *key)
{
	for (line_walk_begin(w, line); line_walk_next(w);)
		if (line_walk_is_at(w, key))
			return true;
	return false;
}

void run_revisions_take(void *revisions, size_t at, const char *meta)
{
	char *to = ((struct run_revisions *)revisions)->of[at];
	struct line_walk w;
	size_t n = 0;

	if (!line_walk_find(&w, meta, "git") || !line_walk_find(&w, w.value, "revision") ||
	    *w.value != '"')
		return;
	while (n + 1 < REVISION_BYTES && isxdigit((unsigned char)w.value[1 + n]))
		n++;
	if (w.value[1 + n] == '"') /* nothing but digits, as it is recorded */
		memcpy(to, w.value + 1, n);
}
