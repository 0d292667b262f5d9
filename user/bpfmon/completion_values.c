// SPDX-License-Identifier: BSD-2-Clause
/* What completion offers as values of options. */
#include "bpfmon/completion.h"

#include "base/cleanup.h"
#include "study/values.h"
#include "export/export.h"
#include "run/metric.h"
#include "bpfmon/roles/observer.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 64 /* of a help line */
#define NONSENSE "\x01"

/* The part behind the last comma. */
static struct completion completion_after(const struct completion *c, char mark)
{
	struct completion part = *c;
	const char *last = strrchr(c->typed, mark);

	if (last)
		part.typed = last + 1;
	return part;
}

static void completion_offer_metrics(const struct completion *c)
{
	struct completion part = completion_after(c, ',');
	unsigned groups = 0; /* those offered: a bit each */

	for (int i = 0; i < NR_METRICS; i++) {
		const struct metric *m = metric_get((enum metric_id)i);

		if (!(groups & 1U << m->group))
			completion_offer(&part, metric_group_name(m->group), "all of this group");
		groups |= 1U << m->group;
		completion_offer(&part, m->key, m->help);
	}
}

static void completion_offer_keys(const struct completion *c)
{
	for (size_t i = 0; i < NR_KEYS; i++) {
		struct compare_key key = compare_key(i);

		if (key.name)
			completion_offer(c, key.name, NULL);
	}
}

/* Those of many runs, after commas, too: short names and keys. */
static void completion_offer_many(const struct completion *c)
{
	struct completion part = completion_after(c, ',');
	const char *word, *key;

	for (size_t i = 0; (word = many_metric_word(i, &key)); i++)
		completion_offer(&part, word, key);
	completion_offer_keys(&part);
}

static void completion_offer_steps(const struct completion *c)
{
	completion_offer(c, "phase", "what the phases of each name used");
	completion_offer(c, "program", "what the processes of each program used");
	completion_offer(c, "span", "what the spans of each name used");
	completion_offer_tag_keys(c);
}

void completion_offer_pids(const struct completion *c)
{
	__cleanup(closedirp) DIR *proc = opendir("/proc");
	const struct dirent *e;

	while (proc && (e = readdir(proc))) {
		char path[300], name[64] = "";
		FILE *f;

		if (!isdigit((unsigned char)*e->d_name))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", e->d_name);
		f = fopen(path, "re");
		if (f && fgets(name, sizeof(name), f))
			name[strcspn(name, "\n")] = '\0';
		if (f)
			fclose(f);
		completion_offer(c, e->d_name, name);
	}
}

static void completion_offer_formats(const struct completion *c)
{
	const struct export_format *f;

	for (size_t i = 0; (f = export_at(i)); i++)
		completion_offer(c, f->name, f->help);
}

/* FORMAT:PATH: up to the colon the formats, and files in any case. */
static void completion_offer_outputs(const struct completion *c)
{
	struct completion part = completion_after(c, ':');
	const struct observer_ops *ops;

	for (size_t i = 0; part.typed == c->typed && (ops = observer_at(i)); i++)
		if (ops->extension)
			completion_offer_part(c, ops->name, ":", NULL);
	completion_offer_own(&part, "files");
}

static void completion_offer_users(const struct completion *c)
{
	completion_offer_own(c, "users");
}

static void completion_offer_folders(const struct completion *c)
{
	completion_offer_own(c, "folders");
}

static void completion_offer_files(const struct completion *c)
{
	completion_offer_own(c, "files");
}

/* clang-format off */
static const struct {
	const char *subcommand; /* NULL: of any */
	const char *option;     /* or @argument */
	const char *argument;
	void (*offer)(const struct completion *c);
} known[] = {
	{ NULL, "metrics", NULL, completion_offer_metrics },
	{ "compare", "fail-if", NULL, completion_offer_keys },
	{ "compare", "by", NULL, completion_offer_steps },
	{ NULL, NULL, "METRIC,...", completion_offer_many },
	{ "list", "trend", NULL, completion_offer_many },
	{ "export", "format", NULL, completion_offer_formats },
	{ NULL, "name", NULL, completion_offer_names },
	{ NULL, "tag", NULL, completion_offer_tags },
	{ NULL, "user", NULL, completion_offer_users },
	{ NULL, "pid", NULL, completion_offer_pids },
	{ NULL, "cgroup", NULL, completion_offer_folders },
	{ NULL, NULL, "[FORMAT:]PATH", completion_offer_outputs },
	{ NULL, NULL, "PATH", completion_offer_files },
	{ NULL, NULL, "FILE", completion_offer_files },
	{ NULL, NULL, "SOCKET", completion_offer_files },
};
/* clang-format on */

static bool value_is_taken(const struct subcommand *sub, const struct option_group *group,
			   const struct option_row *row, const char *text)
{
	void *scratch = calloc(1, sub->options_bytes);
	bool is_taken = scratch && !row->parse((char *)scratch + group->offset + row->offset, text);

	free(scratch);
	return is_taken;
}

/*
 * The words of the option's argument and help that it takes: most name their values there. Nothing
 * of an option that takes anything.
 */
static void completion_offer_words(const struct completion *c, const struct subcommand *sub,
				   const struct option_group *group, const struct option_row *row)
{
	char text[512], *words[MAX_WORDS], *at = NULL;
	size_t nr = 0;

	if (value_is_taken(sub, group, row, NONSENSE))
		return;
	snprintf(text, sizeof(text), "%s %s", row->argument, row->help);
	for (char *w = strtok_r(text, " ,;:|()'", &at); w && nr < MAX_WORDS;
	     w = strtok_r(NULL, " ,;:|()'", &at)) {
		bool is_known = !value_is_taken(sub, group, row, w);

		for (size_t i = 0; !is_known && i < nr; i++)
			is_known = !strcmp(words[i], w);
		if (is_known)
			continue;
		words[nr++] = w;
		completion_offer(c, w, NULL);
	}
}

void completion_offer_values(const struct completion *c, const struct subcommand *sub,
			     const struct option_group *group, const struct option_row *row)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (known[i].subcommand &&
		    (!sub->name || strcmp(known[i].subcommand, sub->name) != 0))
			continue;
		if (strcmp(known[i].option ? known[i].option : known[i].argument,
			   known[i].option ? row->name : row->argument) != 0)
			continue;
		known[i].offer(c);
		return;
	}
	completion_offer_words(c, sub, group, row);
}
