// SPDX-License-Identifier: BSD-2-Clause
/* The colours of many runs: by name, else by a tag, and of failed runs. */
#include "page/many_page.h"

#include "base/memory.h"
#include "base/text.h"
#include "text/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SEEN 64  /* different texts that are counted */
#define NAME_SHOWN 60 /* characters */
#define NAME_BYTES 300

struct seen {
	struct many_name name;
	size_t count;
};

/* Returns the value of a tag; empty without it. */
static struct many_name run_tag(const struct stored_run *r, const char *tag)
{
	size_t n = strlen(tag);

	for (const char *t = r->tags; *t; t += strlen(t) + 1)
		if (!strncmp(t, tag, n) && t[n] == '=')
			return (struct many_name){ t + n + 1, strlen(t + n + 1) };
	return (struct many_name){ "", 0 };
}

/* Returns the value of @tag, or if that is NULL the name of the run, else that of its program. */
static struct many_name run_name(const struct stored_run *r, const char *tag)
{
	const char *text = r->name ? r->name : r->command ? r->command : "";
	size_t n = r->name ? strlen(text) : strcspn(text, " ");

	if (tag)
		return run_tag(r, tag);
	for (size_t i = n; !r->name && i-- > 0;)
		if (text[i] == '/')
			return (struct many_name){ text + i + 1, n - i - 1 };
	return (struct many_name){ text, n };
}

static bool many_names_are_same(struct many_name a, struct many_name b)
{
	return a.length == b.length && !memcmp(a.text, b.text, a.length);
}

static int seen_compare(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	return x->count < y->count ? 1 : -(x->count > y->count);
}

/* Names the groups by @tag, or by name. Returns whether there are several. */
static bool groups_name(struct many_groups *g, const struct stored_runs *all, const char *tag)
{
	struct seen seen[MOST_SEEN];
	size_t nr = 0, at;

	for (size_t i = 0; i < all->nr; i++) {
		const struct many_name name = run_name(&all->runs[i], tag);

		for (at = 0; at < nr && !many_names_are_same(seen[at].name, name);)
			at++;
		if (at == MOST_SEEN)
			continue;
		if (at == nr)
			seen[nr++] = (struct seen){ .name = name };
		seen[at].count++;
	}
	qsort(seen, nr, sizeof(*seen), seen_compare);
	g->nr_named = nr < MANY_NAMED ? nr : MANY_NAMED;
	for (size_t i = 0; i < g->nr_named; i++)
		g->name[i] = seen[i].name;
	return nr > 1;
}

/* Chooses the name, else the first tag of the first run that has several values, else the name. */
static int groups_choose(struct many_groups *g, const struct stored_runs *all)
{
	const char *tags = all->nr ? all->runs[0].tags : "";

	if (groups_name(g, all, NULL))
		return 0;
	for (const char *t = tags; *t; t += strlen(t) + 1) {
		g->tag = memory_strndup(t, strcspn(t, "="));
		if (!g->tag)
			return -ENOMEM;
		if (groups_name(g, all, g->tag))
			return 0;
		free(g->tag);
		g->tag = NULL;
	}
	groups_name(g, all, NULL);
	return 0;
}

static unsigned char group_of(const struct many_groups *g, const struct stored_run *r)
{
	const struct many_name name = run_name(r, g->tag);

	if (stored_run_is(r, ONLY_FAILED))
		return MANY_FAILED;
	for (size_t i = 0; i < g->nr_named; i++)
		if (many_names_are_same(g->name[i], name))
			return (unsigned char)i;
	return MANY_OTHERS;
}

int many_groups_make(struct many_groups *g, const struct stored_runs *all)
{
	int err;

	*g = (struct many_groups){ .of = memory_calloc(all->nr + 1, 1) };
	err = g->of ? groups_choose(g, all) : -ENOMEM;
	for (size_t i = 0; !err && i < all->nr; i++) {
		g->of[i] = group_of(g, &all->runs[i]);
		g->count[g->of[i]]++;
	}
	return err;
}

void many_groups_done(struct many_groups *g)
{
	free(g->of);
	free(g->tag);
	*g = (struct many_groups){ 0 };
}

static void group_put_name(FILE *f, const struct many_groups *g, size_t group)
{
	char text[NAME_BYTES];

	if (group == MANY_FAILED)
		fputs("failed", f);
	else if (group == MANY_OTHERS)
		fputs("others", f);
	else if (!g->name[group].length)
		fputs(g->tag ? "without the tag" : "without a name", f);
	else {
		snprintf(text, sizeof(text), "%.*s", (int)g->name[group].length,
			 g->name[group].text);
		xml_write(f, text, NAME_SHOWN);
	}
}

void many_groups_put_keys(FILE *f, const struct many_groups *g)
{
	char count[FORMAT_BYTES];
	size_t nr = 0;

	for (size_t i = 0; i < NR_MANY_GROUPS; i++)
		nr += g->count[i] > 0;
	if (nr < 2)
		return;
	fputs("<p class=\"keys\">", f);
	if (g->tag) {
		fputs("By the tag ", f);
		xml_write(f, g->tag, NAME_SHOWN);
		fputs(":", f);
	} else {
		fputs("By name:", f);
	}
	for (size_t i = 0; i < NR_MANY_GROUPS; i++) {
		if (!g->count[i])
			continue;
		fprintf(f, "\n<span><i class=\"g%zu\"></i>", i);
		group_put_name(f, g, i);
		fprintf(f, " <span class=\"quiet\">%s</span></span>",
			format_count(count, g->count[i]));
	}
	fputs("</p>\n", f);
}
