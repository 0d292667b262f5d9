// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/compare_page.h"

#include "base/log.h"
#include "cmd/whole_file.h"
#include "cmd/named_run.h"
#include "compare/text.h"
#include "report/overlay.h"
#include "report/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_WIDTH 130 /* columns, in the page */
#define LABEL_BYTES 48

struct overlay_page {
	struct overlay curves;
	char label[OVERLAY_RUNS][LABEL_BYTES];
};

static size_t groups_count_runs(const struct groups *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->nr; i++)
		for (size_t k = 0; k < g->list[i].nr; k++)
			n += g->list[i].sides[k]->is_run;
	return n;
}

static int page_add_run(struct overlay_page *p, const struct groups *g, size_t group, size_t k,
			const char *store)
{
	const struct side *s = g->list[group].sides[k];
	char letter[24], *label = p->label[p->curves.nr];
	struct source src;
	int err = named_run_open(&src, store, s->name, NULL);

	if (err)
		return err; /* reported already */
	group_label(letter, group);
	if (g->most_sides > 1)
		snprintf(label, LABEL_BYTES, "%s-%zu", letter, k + 1);
	else
		snprintf(label, LABEL_BYTES, "%s", letter);
	err = overlay_add(&p->curves, label, s->name, (unsigned)group, &src);
	if (err)
		log_error("cannot draw '%s': %s", s->name, source_why(&src, err));
	source_close(&src);
	return err;
}

/* The first of each group, then the second of each, as far as there is room. */
static int page_add_runs(struct overlay_page *p, const struct groups *g, const char *store)
{
	int err = 0;

	for (size_t k = 0; k < g->most_sides; k++)
		for (size_t i = 0; i < g->nr; i++)
			if (!err && p->curves.nr < OVERLAY_RUNS && k < g->list[i].nr &&
			    g->list[i].sides[k]->is_run)
				err = page_add_run(p, g, i, k, store);
	return err;
}

static char *comparison_print(const struct comparison *c, const json_t *diff)
{
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	if (!f)
		return NULL;
	comparison_text(f, c, diff, TABLE_WIDTH);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

static int page_render(const struct overlay_page *p, const char *text, size_t left_out, char **page,
		       size_t *length)
{
	struct jsonw data = { 0 };
	FILE *f = open_memstream(page, length);
	int err = f && text ? overlay_write(&p->curves, text, left_out, &data) : -ENOMEM;

	if (!err)
		err = page_write_overlay(f, &data);
	if (f && fclose(f) && !err)
		err = -ENOMEM;
	jsonw_done(&data);
	if (err)
		log_error("cannot make the page of the comparison: %s", strerror(-err));
	return err;
}

int compare_page_write(const struct comparison *c, const json_t *diff,
		       const struct compare_options *o)
{
	size_t runs = groups_count_runs(c->groups), length = 0;
	struct overlay_page p = { 0 };
	char *text = comparison_print(c, diff), *page = NULL;
	int err;

	p.curves.room = runs < OVERLAY_RUNS ? runs : OVERLAY_RUNS;
	err = page_add_runs(&p, c->groups, o->store.path);
	if (!err)
		err = page_render(&p, text, runs - p.curves.nr, &page, &length);
	if (!err)
		err = whole_file_write("page", o->html, o->force, page, length);
	overlay_done(&p.curves);
	free(text);
	free(page);
	return err;
}
