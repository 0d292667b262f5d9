// SPDX-License-Identifier: BSD-2-Clause
#include "study/hyperfine.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int wall_write(struct jsonw *j, const struct group *g)
{
	struct measure wall, user, system;
	int err = bench_measure(g, "wall_seconds", &wall);

	if (!err)
		err = bench_measure(g, "user_seconds", &user);
	if (!err)
		err = bench_measure(g, "system_seconds", &system);
	if (err)
		return err;
	jsonw_double(j, "mean", wall.mean);
	jsonw_double(j, "stddev", wall.sd); /* null of one run, as there */
	jsonw_double(j, "median", wall.median);
	jsonw_double(j, "user", user.mean);
	jsonw_double(j, "system", system.mean);
	jsonw_double(j, "min", wall.least);
	jsonw_double(j, "max", wall.most);
	return 0;
}

static void times_write(struct jsonw *j, const char *as, const struct group *g, const char *key,
			bool are_whole, double *room)
{
	size_t nr = bench_values(g, key, room);

	if (are_whole && nr < g->nr)
		return; /* it is known of each run, or left out */
	jsonw_array(j, as);
	for (size_t i = 0; i < nr; i++)
		if (are_whole)
			jsonw_uint(j, NULL, (uint64_t)room[i]);
		else
			jsonw_double(j, NULL, room[i]);
	jsonw_array_end(j);
}

/* null of one that a signal has ended. */
static void exit_codes_write(struct jsonw *j, const struct group *g)
{
	size_t code, sig;

	if (compare_key_find("exit_code", 9, &code) || compare_key_find("signal", 6, &sig))
		return;
	jsonw_array(j, "exit_codes");
	for (size_t i = 0; i < g->nr; i++) {
		const struct side *s = g->sides[i];

		if (isnan(s->value[code]) || s->value[sig] > 0)
			jsonw_null(j, NULL);
		else
			jsonw_int(j, NULL, (int64_t)s->value[code]);
	}
	jsonw_array_end(j);
}

static void parameters_write(struct jsonw *j, const struct bench_plan *p,
			     const struct bench_case *c)
{
	if (!p->parameters.nr)
		return;
	jsonw_object(j, "parameters");
	for (size_t i = 0; i < p->parameters.nr; i++)
		jsonw_string(j, p->parameters.list[i].name, c->values[i]);
	jsonw_object_end(j);
}

static int case_write(struct jsonw *j, const struct bench_plan *p, const struct bench_case *c,
		      const struct group *g)
{
	double *room = calloc(g->nr + 1, sizeof(*room));
	int err = room ? 0 : -ENOMEM;

	jsonw_object(j, NULL);
	jsonw_string(j, "command", c->command);
	if (!err)
		err = wall_write(j, g);
	if (!err) {
		times_write(j, "times", g, "wall_seconds", false, room);
		times_write(j, "memory_usage_byte", g, "process_rss_peak_bytes", true, room);
	}
	exit_codes_write(j, g);
	parameters_write(j, p, c);
	jsonw_object_end(j);
	free(room);
	return err;
}

int bench_write_hyperfine(struct jsonw *j, const struct bench_result *r)
{
	int err = 0;

	jsonw_object(j, NULL);
	jsonw_array(j, "results");
	for (size_t i = 0; !err && i < r->plan->nr; i++) {
		const struct group *g = bench_group(r, i);

		if (g)
			err = case_write(j, r->plan, &r->plan->cases[i], g);
	}
	jsonw_array_end(j);
	jsonw_object_end(j);
	jsonw_newline(j);
	return j->failed ? -ENOMEM : err;
}
