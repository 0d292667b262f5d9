// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/options.h"

#include "base/clock.h"
#include "base/log.h"
#include "cmd/options_parts.h"
#include "cmd/run_tags.h"
#include "cmd/values.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

bool option_is_for(enum option_scope scope, const struct option_row *row)
{
	return row->scope & scope;
}

int option_apply(struct options *o, const struct option_row *row, const char *text,
		 const char *shown_as)
{
	int err = row->parse(o, text);

	if (!err)
		return 0;
	if (err == -E2BIG)
		log_error("%s does not take '%s': a run has %d tags at most", shown_as, text,
			  MAX_TAGS);
	else
		log_error("%s does not take '%s': %s", shown_as, text, row->help);
	return -EINVAL;
}

static void getopt_tables(enum option_scope scope, char *letters, struct option *longs)
{
	const struct option_row *row;

	if (scope & FOR_ALL)
		*letters++ = '+'; /* the first word that is no option begins the command */
	*letters++ = ':';
	for (size_t i = 0; (row = options_row(i)); i++) {
		if (!option_is_for(scope, row))
			continue;
		*longs++ = (struct option){
			.name = row->name,
			.has_arg = !row->argument              ? no_argument
				   : row->argument_is_optional ? optional_argument
							       : required_argument,
			.val = 256 + (int)i,
		};
		if (!row->key)
			continue;
		*letters++ = row->key;
		if (row->argument)
			*letters++ = ':';
	}
	*letters = '\0';
	*longs = (struct option){ 0 };
}

static const struct option_row *row_of(enum option_scope scope, int found)
{
	const struct option_row *row;

	if (found >= 256)
		return options_row((size_t)found - 256);
	for (size_t i = 0; (row = options_row(i)); i++)
		if (option_is_for(scope, row) && row->key == found)
			return row;
	return NULL;
}

static int usage(const char *what, const char *text)
{
	log_error("%s '%s'; see --help", what, text);
	return -EINVAL;
}

/* A rule that permits "--user" and whatever follows is to give no more than that user's rights. */
static int check_border(struct options *o, const struct option_row *row)
{
	if (row->guard != GUARD_USER)
		return 0;
	if (o->is_lowered) {
		log_error("--%s after --user would choose a user again, and --user gave that up: "
			  "%s",
			  row->name,
			  row->parse == parse_user ? "give it once" : "put it before --user");
		return -EINVAL;
	}
	o->is_lowered = row->parse == parse_user;
	return 0;
}

static int parse_line(struct options *o, int argc, char **argv)
{
	char letters[MAX_OPTIONS * 2 + 3], name[64];
	struct option longs[MAX_OPTIONS + 1];
	int found;

	getopt_tables(o->scope, letters, longs);
	optind = 0; /* it begins anew: glibc remembers a place within a word, too */
	while ((found = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		const struct option_row *row;
		const char *word;

		if (found == ':')
			return usage("a value is missing after", argv[optind - 1]);
		if (found == '?' && optopt >= 256)
			return usage("no value is taken by", argv[optind - 1]);
		if (found == '?' && optopt) {
			snprintf(name, sizeof(name), "-%c", optopt);
			return usage("there is no option", name);
		}
		if (found == '?')
			return usage("there is no option", argv[optind - 1]);
		row = row_of(o->scope, found);
		snprintf(name, sizeof(name), "--%s", row->name);
		/* the beginning of a name would be another's with the next release */
		word = argv[optind - 1 - (optarg == argv[optind - 1])];
		if (found >= 256 && strcspn(word, "=") != strlen(name))
			return usage("there is no option", word);
		if (check_border(o, row) || option_apply(o, row, optarg, name))
			return -EINVAL;
	}
	o->command = argv + optind;
	return 0;
}

/* FORMAT:PATH, where FORMAT is known; else --format, else the extension, else jsonl. */
static int resolve_outputs(struct options *o)
{
	for (size_t i = 0; i < o->nr_outputs; i++) {
		struct recorder_output *out = &o->outputs[i];
		const char *text = o->output_text[i], *colon = strchr(text, ':');

		out->path = text;
		out->format = colon ? observer_find(text, (size_t)(colon - text)) : NULL;
		if (out->format)
			out->path = colon + 1;
		else if (o->format)
			out->format = observer_find(o->format, strlen(o->format));
		else
			out->format = observer_for_path(text);
		if (!out->format)
			out->format = &jsonl_observer;
		if (!*out->path)
			return usage("a path is missing in --output", text);
	}
	return 0;
}

/* Naming one of the metrics asks for the reading, and asking for that for all of them. */
static void resolve_pss(struct options *o)
{
	bool is_named = metric_set_has_source(&o->wanted, SOURCE_PROCFS);

	if (o->pss_ppm && !is_named)
		metric_set_put_source(&o->wanted, SOURCE_PROCFS);
	else if (is_named && !o->pss_ppm)
		o->pss_ppm = PSS_PPM_DEFAULT;
}

static int check_targets(const struct options *o)
{
	int kinds = (o->nr_pids > 0) + (o->cgroup != NULL) + (o->container != NULL);
	const char *what = NULL;

	if (!kinds)
		what = "nothing to attach to was named; try: bpfmon attach --pid PID";
	else if (kinds > 1)
		what = "--pid, --cgroup and --container exclude each other: attach to one of them";
	else if (o->wait_start && !o->cgroup)
		what = "--wait-start waits for a process in a cgroup; name one with --cgroup";
	if (what)
		log_error("%s", what);
	return what ? -EINVAL : 0;
}

static int check_words(const struct options *o)
{
	if (o->scope == FOR_RUN && !*o->command) {
		log_error("no command was given; try: bpfmon -- sleep 1");
		return -EINVAL;
	}
	if (o->scope & (FOR_SHOW | FOR_EXPORT | FOR_REPORT) && !*o->command) {
		log_error("no run was named; name a number of bpfmon list, or a file");
		return -EINVAL;
	}
	if (o->scope & (FOR_SHOW | FOR_EXPORT | FOR_REPORT))
		return o->command[1] ? usage("there is a word too many,", o->command[1]) : 0;
	if (o->scope == FOR_STORE || o->scope == FOR_COMPARE)
		return 0;
	if (o->scope != FOR_RUN && *o->command)
		return usage("there is a word too many,", *o->command);
	if (o->scope == FOR_ATTACH)
		return check_targets(o);
	return 0;
}

/* It is to make room for --tag: one that was given as BPFMON_TAG, or NULL. */
static const char *take_default_tag(struct options *o)
{
	const char *tag = o->nr_tags ? o->tags[0] : NULL;

	o->nr_tags = 0;
	return tag;
}

static void add_tags(struct options *o, const char *default_tag)
{
	size_t left_out = tags_from_environment(o, default_tag);

	if (left_out)
		log_warn("a run has %d tags at most; of those of the environment (BPFMON_TAG_...) "
			 "left out: %zu",
			 MAX_TAGS, left_out);
}

int options_parse(struct options *o, enum option_scope scope, int argc, char **argv)
{
	const char *default_format, *default_tag;

	*o = (struct options){ .scope = scope, .interval_ns = NSEC_PER_SEC };
	metric_set_default(&o->wanted);
	if (options_from_environment(o))
		return -EINVAL;
	default_tag = take_default_tag(o);
	default_format = o->format;
	o->outputs_are_defaults = o->nr_outputs > 0;
	if (parse_line(o, argc, argv))
		return -EINVAL;
	if (o->help || o->version) {
		o->command = NULL;
		return 0;
	}
	if (scope & FOR_ALL)
		add_tags(o, default_tag);
	if ((o->own_cgroup || o->cgroup || o->container) && !o->chooses_metrics)
		metric_set_put_source(&o->wanted, SOURCE_CGROUP);
	if (check_words(o))
		return -EINVAL;
	if (o->format != default_format && !o->nr_outputs) { /* a default may have no use */
		log_error("--format says how, but no --output says where; try -o run.%s",
			  o->format);
		return -EINVAL;
	}
	resolve_pss(o);
	return resolve_outputs(o);
}

void options_help(enum option_scope scope)
{
	const struct option_row *row;

	for (size_t i = 0; (row = options_row(i)); i++) {
		char left[64];
		int n = row->key ? snprintf(left, sizeof(left), "-%c, ", row->key)
				 : snprintf(left, sizeof(left), "    ");

		if (!option_is_for(scope, row) || row->guard == GUARD_TEST)
			continue;
		n += snprintf(left + n, sizeof(left) - (size_t)n, "--%s", row->name);
		if (row->argument)
			snprintf(left + n, sizeof(left) - (size_t)n,
				 row->argument_is_optional ? "[=%s]" : " %s", row->argument);
		printf("  %-30s %s\n", left, row->help);
	}
	if (scope & FOR_ALL)
		puts("\nEvery option has an environment variable: BPFMON_INTERVAL, "
		     "BPFMON_NO_ARGS=1, ... Under\nsudo those that choose users, paths, targets "
		     "or rights are ignored.");
}
