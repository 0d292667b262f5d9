// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/compare_page.h"

#include "base/log.h"
#include "cmd/named_run.h"
#include "cmd/whole_file.h"
#include "compare/document.h"
#include "report/overlay.h"
#include "report/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_SHOWN 500 /* phases, programs or spans: they bound the page */

static size_t groups_count_runs(const struct groups *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->nr; i++)
		for (size_t k = 0; k < g->list[i].nr; k++)
			n += g->list[i].sides[k]->is_run;
	return n;
}

static int page_add_run(struct overlay *curves, const struct side *s, size_t group,
			const struct store_options *store)
{
	struct source src;
	int err = named_run_open(&src, store, s->name, NULL);

	if (err)
		return err; /* reported already */
	err = overlay_add(curves, s->name, group, &src);
	if (err)
		log_error("cannot draw '%s': %s", s->name, source_why(&src, err));
	source_close(&src);
	return err;
}

/* The first of each group, then the second of each, as far as there is room. */
static int page_add_runs(struct overlay *curves, const struct groups *g,
			 const struct store_options *store)
{
	size_t groups = g->nr < OVERLAY_GROUPS ? g->nr : OVERLAY_GROUPS;
	int err = 0;

	for (size_t k = 0; k < g->most_sides; k++)
		for (size_t i = 0; i < groups; i++)
			if (!err && curves->nr < OVERLAY_RUNS && k < g->list[i].nr &&
			    g->list[i].sides[k]->is_run)
				err = page_add_run(curves, g->list[i].sides[k], i, store);
	return err;
}

static int page_render(const struct overlay *curves, const struct comparison *c,
		       const struct steps *steps, const json_t *diff, char **page, size_t *length)
{
	size_t left_out = groups_count_runs(c->groups) - curves->nr;
	struct jsonw data = { 0 }, document = { 0 }, brief = { 0 };
	FILE *f = open_memstream(page, length);
	int err = f ? 0 : -ENOMEM;

	comparison_document(&document, c, NULL, NULL, diff, NULL, 0);
	if (steps)
		comparison_steps_brief(&brief, steps, STEPS_SHOWN);
	if (!err)
		err = overlay_write(curves, &document, steps ? &brief : NULL, left_out, &data);
	if (!err)
		err = page_write_overlay(f, &data);
	if (f && fclose(f) && !err)
		err = -ENOMEM;
	jsonw_done(&document);
	jsonw_done(&brief);
	jsonw_done(&data);
	if (err)
		log_error("cannot make the page of the comparison: %s", strerror(-err));
	return err;
}

int compare_page_write(const struct comparison *c, const struct steps *steps, const json_t *diff,
		       const struct compare_options *o)
{
	struct overlay *curves = calloc(1, sizeof(*curves));
	char *page = NULL;
	size_t length = 0;
	int err;

	if (!curves) {
		log_error("out of memory for the page of the comparison");
		return -ENOMEM;
	}
	curves->room = groups_count_runs(c->groups);
	err = page_add_runs(curves, c->groups, &o->store);
	if (!err)
		err = page_render(curves, c, steps, diff, &page, &length);
	if (!err)
		err = whole_file_write("page", o->html, o->force, page, length);
	overlay_done(curves);
	free(curves);
	free(page);
	return err;
}
