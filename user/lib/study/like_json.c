// SPDX-License-Identifier: BSD-2-Clause
/* The answer for programs: one object. */
#include "study/like_show.h"

#include "base/json.h"
#include "text/run_column.h"

#include <math.h>

static void signature_json(struct jsonw *j, const struct signature *g)
{
	jsonw_object(j, "signature");
	for (int d = 0; d < NR_SIGNATURE_DIMENSIONS; d++)
		if (g->has[d])
			jsonw_double(j, signature_dimension((enum signature_dimension)d)->key,
				     g->milli[d] / 1e3);
	jsonw_object_end(j);
	jsonw_object(j, "programs");
	for (size_t i = 0; i < g->nr_programs; i++)
		jsonw_decimal(j, g->program[i].name, (uint64_t)g->program[i].milli, 3);
	jsonw_object_end(j);
}

static void neighbour_json(struct jsonw *j, const struct like_shown *s, const struct neighbour *n)
{
	const struct known_run *known = &s->known->list[n->at];
	const struct stored_run *r = &s->runs->runs[known->of];
	char ref[RUN_CELL_BYTES];

	jsonw_object(j, NULL);
	jsonw_string(j, "ref", run_ref_text(ref, r, s->prefixes));
	jsonw_string(j, "run", r->uuid);
	jsonw_string(j, "kind", known->kind);
	jsonw_double(j, "distance", round(n->distance * 1e6) / 1e6);
	jsonw_object_end(j);
}

int like_json(FILE *f, const struct like_shown *s)
{
	const struct like_answer *a = s->answer;
	struct jsonw j = { 0 };

	jsonw_object(&j, NULL);
	jsonw_schema(&j, "like");
	jsonw_string(&j, "run", s->label);
	jsonw_bool(&j, "near", a->is_near);
	if (a->is_near)
		jsonw_string(&j, "kind", a->kind);
	jsonw_uint(&j, "agreeing", a->is_near ? a->agreeing : 0);
	if (a->has_threshold)
		jsonw_double(&j, "threshold", round(a->threshold * 1e6) / 1e6);
	jsonw_uint(&j, "known_runs", s->known->nr);
	jsonw_uint(&j, "known_kinds", s->known->nr_kinds);
	jsonw_array(&j, "neighbours");
	for (size_t i = 0; i < a->nr; i++)
		neighbour_json(&j, s, &a->list[i]);
	jsonw_array_end(&j);
	signature_json(&j, s->signature);
	jsonw_object_end(&j);
	jsonw_newline(&j);
	return jsonw_print(&j, f);
}
