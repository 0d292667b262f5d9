// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon like RUN: finds the stored runs that are most similar to RUN. */
#include "base/exit_status.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/progress.h"
#include "options/common_options.h"
#include "store/database_open.h"
#include "store/named_run.h"
#include "store/node_store.h"
#include "options/option_values.h"
#include "store/stores.h"
#include "study/like_answer.h"
#include "store/signatures.h"
#include "text/terminal.h"
#include "options/completion.h"
#include "bpfmon/subcommands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct like_runs {
	struct stored_runs all; /* owned; the runs that match the filter */
	struct known_runs known;
	char **kinds; /* owned: for each run, its kind if that is not its name, else NULL */
};

#define WRITTEN_AT_ONCE 500

/* State of joining the runs of one store, by ID, with its signatures. */
struct joining {
	struct like_runs *runs;
	size_t *order; /* owned; indices of the runs */
	size_t nr, at;
	size_t *missing; /* owned; indices of runs without a signature in the store */
	size_t nr_missing;
};

/* Returns the base name of the program, the first word of the command, or NULL if out of memory. */
static char *kind_from_command(const char *command)
{
	size_t length = strcspn(command, " ");
	const char *from = command;

	for (size_t i = 0; i + 1 < length; i++)
		if (command[i] == '/')
			from = command + i + 1;
	return memory_strndup(from, length - (size_t)(from - command));
}

/* The kind of a run is its name or program; a run with neither is left out. */
static int like_runs_add(struct like_runs *r, size_t of, const struct signature *g)
{
	const struct stored_run *run = &r->all.runs[of];

	if (run->name)
		return known_add(&r->known, of, run->name, g);
	if (!run->command || !*run->command)
		return 0;
	r->kinds[of] = kind_from_command(run->command);
	return r->kinds[of] ? known_add(&r->known, of, r->kinds[of], g) : -ENOMEM;
}

/* Runs and signatures are both sorted by ID. */
static int signature_join(void *context, int64_t id, const struct signature *g)
{
	struct joining *j = context;
	const struct stored_run *all = j->runs->all.runs;

	while (j->at < j->nr && all[j->order[j->at]].id < id)
		j->missing[j->nr_missing++] = j->order[j->at++];
	if (j->at == j->nr || all[j->order[j->at]].id != id)
		return 0;
	return like_runs_add(j->runs, j->order[j->at++], g);
}

static int id_order(const void *x, const void *y, void *context)
{
	const struct stored_run *all = context;
	int64_t a = all[*(const size_t *)x].id, b = all[*(const size_t *)y].id;

	return (a > b) - (a < b);
}

static int joining_begin(struct joining *j, struct like_runs *r, size_t source)
{
	*j = (struct joining){ .runs = r };
	j->order = memory_calloc(r->all.nr + 1, sizeof(*j->order));
	j->missing = memory_calloc(r->all.nr + 1, sizeof(*j->missing));
	if (!j->order || !j->missing)
		return -ENOMEM;
	for (size_t i = 0; i < r->all.nr; i++)
		if (r->all.runs[i].source == source)
			j->order[j->nr++] = i;
	if (j->nr)
		qsort_r(j->order, j->nr, sizeof(*j->order), id_order, r->all.runs);
	return 0;
}

static void joining_end(struct joining *j)
{
	free(j->order);
	free(j->missing);
}

struct made {
	int64_t id;
	struct signature signature;
};

struct written {
	const struct made *list;
	size_t nr;
};

static int made_write(struct database *d, void *context)
{
	const struct written *w = context;
	int err = 0;

	for (size_t i = 0; !err && i < w->nr; i++)
		err = signature_write(d, w->list[i].id, &w->list[i].signature);
	return err;
}

/* Stores the signatures for later calls. A failure is harmless: they are computed again. */
static void made_keep(const char *path, const struct made *made, size_t nr)
{
	struct database d;
	int err = database_open(&d, path, DATABASE_CHANGE);

	for (size_t from = 0; !err && from < nr; from += WRITTEN_AT_ONCE) {
		size_t left = nr - from;
		struct written w = { made + from, left < WRITTEN_AT_ONCE ? left : WRITTEN_AT_ONCE };

		err = database_transact(&d, made_write, &w);
	}
	if (err)
		log_info("cannot save the signatures in the store '%s': %s", path,
			 d.why[0] ? d.why : strerror(-err));
	database_close(&d);
}

static int missing_make(struct joining *j, struct database *d, struct made *made, size_t *nr)
{
	int err = 0;

	for (size_t i = 0; !err && i < j->nr_missing; i++) {
		struct made *m = &made[*nr];

		m->id = j->runs->all.runs[j->missing[i]].id;
		err = signed_run_of_store(d, m->id, &m->signature);
		progress_add(1);
		if (err == -ENODATA) {
			err = 0;
			continue;
		}
		if (!err)
			err = like_runs_add(j->runs, j->missing[i], &m->signature);
		*nr += !err;
	}
	return err;
}

static int signatures_read(struct joining *j, struct database *d, struct made **made, size_t *nr)
{
	int err = signature_each(d, signature_join, j);

	while (!err && j->at < j->nr)
		j->missing[j->nr_missing++] = j->order[j->at++];
	if (!err && j->nr_missing)
		*made = memory_calloc(j->nr_missing, sizeof(**made));
	if (!err && j->nr_missing && !*made)
		err = -ENOMEM;
	if (err || !j->nr_missing)
		return err;
	progress_begin("computing signatures", "runs", j->nr_missing);
	err = missing_make(j, d, *made, nr);
	progress_end();
	return err;
}

static int like_runs_read_store(struct like_runs *r, const char *path, size_t source)
{
	struct made *made = NULL;
	struct joining j;
	struct database d = { 0 };
	size_t nr = 0;
	bool may_keep = false;
	int err = joining_begin(&j, r, source);

	if (!err && j.nr) {
		err = database_open(&d, path, DATABASE_READ);
		may_keep = !node_store_is(path);
		if (!err)
			err = signatures_read(&j, &d, &made, &nr);
		if (err)
			log_error("cannot read the store '%s': %s", path,
				  d.why[0] ? d.why : strerror(-err));
		database_close(&d);
	} else if (err) {
		log_error("out of memory for %zu runs", r->all.nr);
	}
	if (!err && nr && may_keep)
		made_keep(path, made, nr);
	joining_end(&j);
	free(made);
	return err;
}

/* Marks the runs with the same command line. */
static void known_mark_same(struct like_runs *r, const char *command)
{
	for (size_t i = 0; command && *command && i < r->known.nr; i++) {
		const char *other = r->all.runs[r->known.list[i].of].command;

		r->known.list[i].is_same = other && !strcmp(other, command);
	}
}

/* An agent's runs are read one by one. */
static int like_runs_ask(struct like_runs *r, const struct stores *s)
{
	char uuid[SIGNED_UUID_BYTES];
	struct signature g;
	struct source source;
	int err = 0;

	progress_begin("reading runs", "lines", 0);
	for (size_t i = 0; !err && i < r->all.nr; i++) {
		err = stores_open_run(s, &r->all.runs[i], &source);
		if (err)
			break; /* already reported */
		source.is_coarse = true;
		err = signed_run_read(&source, &g, uuid, NULL);
		if (!err)
			err = like_runs_add(r, i, &g);
		if (err)
			log_error("cannot read run %s: %s", r->all.runs[i].uuid,
				  source_why(&source, err));
		source_close(&source);
	}
	progress_end();
	return err;
}

static void known_leave_out(struct like_runs *r, const char *uuid)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->known.nr; i++)
		if (strcmp(r->all.runs[r->known.list[i].of].uuid, uuid) != 0)
			r->known.list[kept++] = r->known.list[i];
	r->known.nr = kept;
}

/*
 * Reads and sorts the runs that match the filter, except @uuid. Computes signatures that a store
 * does not have, and adds them to it unless it is the agent's. Returns 0, or a negative errno after
 * a message to the user. The caller calls like_runs_done() in any case.
 */
static int like_runs_read(struct like_runs *r, const struct stores *s, const struct run_filter *f,
			  const char *uuid)
{
	struct run_filter ended = *f;
	int err;

	if (ended.state == ANY_STATE)
		ended.state = ONLY_FINISHED;
	err = stores_query(s, &ended, &r->all);
	if (err)
		return err; /* already reported */
	r->kinds = memory_calloc(r->all.nr + 1, sizeof(*r->kinds));
	if (!r->kinds) {
		log_error("out of memory for %zu runs", r->all.nr);
		return -ENOMEM;
	}
	if (s->agent)
		err = like_runs_ask(r, s);
	for (size_t i = 0; !err && !s->agent && i < s->nr; i++)
		err = like_runs_read_store(r, s->path[i], i);
	if (!err) {
		known_leave_out(r, uuid);
		known_sort(&r->known);
	}
	return err;
}

static void like_runs_done(struct like_runs *r)
{
	for (size_t i = 0; r->kinds && i < r->all.nr; i++)
		free(r->kinds[i]);
	free(r->kinds);
	known_done(&r->known);
	stored_runs_done(&r->all);
}

#define DEFAULT_NEIGHBOURS 5

struct like_options {
	struct common_options common; /* common.words: the run */
	struct filter_options filter;
	struct store_options store;
	unsigned neighbours; /* 0: the default */
	bool without_programs;
	enum print_format as;
};

static int neighbours_parse(void *number, const char *text)
{
	return number_parse(text, 1, MAX_NEIGHBOURS, number);
}

/* clang-format off */
#define AT(field) offsetof(struct like_options, field)

static const struct option_row like_rows[] = {
	{ "neighbours", 'k', "N", false, "Show the N nearest runs, which vote on the kind (default 5)", neighbours_parse, AT(neighbours), GUARD_NONE },
	{ "without-programs", 0, NULL, false, "Ignore which programs ran, and compare only their behaviour", flag_parse, AT(without_programs), GUARD_NONE },
	{ "format", 'f', "FORMAT", false, "Output format: text (default), or json, one document", print_json_or_text_parse, AT(as), GUARD_NONE },
	{ "json", 0, NULL, false, "Same as --format json", print_json_parse, AT(as), GUARD_NONE },
	{ 0 }
};
/* clang-format on */

static const struct option_group like_groups[] = {
	{ like_rows, 0, false },
	{ filter_rows, AT(filter), false },
	{ store_rows, AT(store), true },
	{ node_rows, AT(store), false },
	{ node_agent_rows, AT(store), true },
	{ colour_rows, AT(common), true },
	{ common_rows, AT(common), false },
	{ 0 },
};

static int like_parse(void *options, int argc, char **argv)
{
	return options_parse(&subcommand_like, options, argc, argv);
}

static void like_help(void)
{
	puts("Usage: bpfmon like [OPTIONS] [RUN]\n"
	     "\n"
	     "Finds the recorded runs that are most similar to RUN. Compares features that do not\n"
	     "depend on the size of a run: shares of the time; calls, bytes and page faults per "
	     "CPU\n"
	     "second; the shape of the memory curve; the programs executed. Runs of the same "
	     "command\n"
	     "line come first, then the nearest. They vote on the kind of RUN: the name of a run, "
	     "or\n"
	     "its program. If no run is near, the kind is unknown. RUN is given as for\n"
	     "`bpfmon show`. The filters select the finished runs to compare it with.\n");
	options_print(&subcommand_like);
	puts("\nExit status: 0: success, 2: usage error, no such run, or no run to compare with.");
}

/* The caller frees @command, which may be NULL. */
static int signature_find(const struct named_runs *named, struct signature *g,
			  char uuid[SIGNED_UUID_BYTES], char **command)
{
	struct source s = { 0 };
	int err = named_runs_open(named, 0, &s);

	if (err)
		return err; /* already reported */
	s.is_coarse = true;
	err = signed_run_read(&s, g, uuid, command);
	if (err)
		log_error("cannot read '%s': %s", named->list[0].label, source_why(&s, err));
	source_close(&s);
	return err;
}

static int like_print(const struct like_shown *s, const struct like_options *o)
{
	int err = 0;

	if (o->as == PRINT_JSON)
		err = like_json(stdout, s);
	else
		like_text(stdout, s, table_width(stdout));
	if (err)
		log_error("out of memory");
	return err;
}

static int like_compare(const struct named_runs *named, const struct like_runs *runs,
			const struct signature *g, const struct like_options *o)
{
	size_t k = o->neighbours ? o->neighbours : DEFAULT_NEIGHBOURS;
	struct like_scale scale;
	struct like_answer answer;
	const struct like_shown shown = {
		.label = named->list[0].label,
		.signature = g,
		.known = &runs->known,
		.runs = &runs->all,
		.prefixes = (const char *const *)named->stores.prefix,
		.scale = &scale,
		.answer = &answer,
	};
	int err;

	if (!runs->known.nr) {
		log_error("no other finished run with a name or a command matches the filters; see "
			  "'%s' with the same filters",
			  stores_list_command(named->stores.of_node));
		return -ENOENT;
	}
	err = like_scale_make(&scale, &runs->known, !o->without_programs);
	if (!err)
		err = like_answer_make(&answer, &scale, &runs->known, g, k);
	if (err) {
		log_error("out of memory for %zu runs", runs->known.nr);
		return err;
	}
	return like_print(&shown, o);
}

static int like_do(const struct named_runs *named, const struct like_options *o)
{
	struct run_filter filter = filter_get(&o->filter);
	char uuid[SIGNED_UUID_BYTES];
	struct like_runs runs = { 0 };
	char *command = NULL;
	struct signature g;
	int err = signature_find(named, &g, uuid, &command);

	if (!err)
		err = like_runs_read(&runs, &named->stores, &filter, uuid);
	if (!err) {
		known_mark_same(&runs, command);
		err = like_compare(named, &runs, &g, o);
	}
	like_runs_done(&runs);
	free(command);
	return err;
}

static int cmd_like(int argc, char **argv)
{
	const struct run_word_rules rules = { 0 };
	struct named_runs named = { 0 };
	struct like_options o;
	int go_on = options_begin(&subcommand_like, &o, argc, argv), err;

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	err = named_runs_find(&named, &o.store, o.common.words, &rules, NULL);
	if (!err)
		err = like_do(&named, &o);
	named_runs_done(&named);
	return err ? EXIT_USAGE : 0;
}

const struct subcommand subcommand_like = {
	.name = "like",
	.summary = "find the runs most similar to one",
	.part = PART_READS,
	.words = { .most = 1, .offer = completion_offer_runs },
	.run = cmd_like,
	.groups = like_groups,
	.options_bytes = sizeof(struct like_options),
	.parse = like_parse,
	.help = like_help,
};
