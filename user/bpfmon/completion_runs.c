// SPDX-License-Identifier: BSD-2-Clause
/* What completion offers of the store. */
#include "bpfmon/completion.h"

#include "store/stores.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RUNS_OFFERED 200

/* The runs, the newest first; false without any. */
static bool completion_find_runs(const struct completion *c, struct stores *s,
				 struct stored_runs *all)
{
	struct run_filter any = { 0 };

	if (!stores_find(s, &c->store) && !stores_query(s, &any, all)) {
		stored_runs_sort(all, BY_START);
		return true;
	}
	return false;
}

typedef void (*run_offer)(const struct completion *c, const struct stored_runs *all, size_t i,
			  const char *prefix);

static void completion_each_run(const struct completion *c, run_offer offer)
{
	struct stored_runs all = { 0 };
	struct stores s = { 0 };

	if (completion_find_runs(c, &s, &all))
		for (size_t i = 0; i < all.nr && i < MAX_RUNS_OFFERED; i++)
			offer(c, &all, i, s.prefix ? s.prefix[all.runs[i].source] : "");
	stored_runs_done(&all);
	stores_done(&s);
}

static void run_offer_name(const struct completion *c, const struct stored_runs *all, size_t i,
			   const char *prefix)
{
	const char *name = all->runs[i].name;

	(void)prefix;
	if (!name)
		return;
	for (size_t k = 0; k < i; k++)
		if (all->runs[k].name && !strcmp(all->runs[k].name, name))
			return;
	completion_offer(c, name, all->runs[i].command);
}

static void run_offer_id(const struct completion *c, const struct stored_runs *all, size_t i,
			 const char *prefix)
{
	const struct stored_run *r = &all->runs[i];
	char id[320], help[200];

	snprintf(id, sizeof(id), "%s%lld", prefix, (long long)r->id);
	snprintf(help, sizeof(help), "%s%s%.120s", r->name ? r->name : "", r->name ? ": " : "",
		 r->command ? r->command : "");
	completion_offer(c, id, help);
	run_offer_name(c, all, i, prefix);
}

/* Whether an earlier run has the tag, or with @length one that begins so. */
static bool tag_is_known(const struct stored_runs *all, size_t i, const char *tag, size_t length)
{
	for (size_t k = 0; k < i; k++)
		for (const char *t = all->runs[k].tags; *t; t += strlen(t) + 1)
			if (length ? !strncmp(t, tag, length) : !strcmp(t, tag))
				return true;
	return false;
}

static void run_offer_tags(const struct completion *c, const struct stored_runs *all, size_t i,
			   const char *prefix)
{
	(void)prefix;
	for (const char *t = all->runs[i].tags; *t; t += strlen(t) + 1)
		if (!tag_is_known(all, i, t, 0))
			completion_offer(c, t, NULL);
}

static void run_offer_tag_keys(const struct completion *c, const struct stored_runs *all, size_t i,
			       const char *prefix)
{
	(void)prefix;
	for (const char *t = all->runs[i].tags; *t; t += strlen(t) + 1) {
		char *key = strndup(t, strcspn(t, "="));

		if (key && !tag_is_known(all, i, t, strlen(key) + 1))
			completion_offer(c, key, NULL);
		free(key);
	}
}

void completion_offer_runs(const struct completion *c)
{
	completion_each_run(c, run_offer_id);
}

void completion_offer_names(const struct completion *c)
{
	completion_each_run(c, run_offer_name);
}

void completion_offer_tags(const struct completion *c)
{
	completion_each_run(c, run_offer_tags);
}

void completion_offer_tag_keys(const struct completion *c)
{
	completion_each_run(c, run_offer_tag_keys);
}
