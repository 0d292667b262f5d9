/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows that several subcommands have. */
#ifndef OPTIONS_COMMON_OPTIONS_H
#define OPTIONS_COMMON_OPTIONS_H

#include "options/options.h"
#include "run/run.h"
#include "store/query.h"
#include "store/stores.h"

extern const struct option_row common_rows[]; /* of struct common_options */
extern const struct option_row colour_rows[]; /* the same, of those that show something */
extern const struct option_row store_rows[];  /* of struct store_options */
extern const struct option_row node_rows[];   /* the same, of those that only read */
extern const struct option_row force_rows[];  /* of a bool */
extern const struct option_row silent_rows[]; /* of a bool */

/* The options that choose runs of the stores: of list, and of compare. */

#define MAX_FILTER_WORDS 64

struct filter_options {
	struct run_filter filter;   /* all but its tags */
	const char *tags[MAX_TAGS]; /* key, or key=value; as many as the filter says */
	const char *words[MAX_FILTER_WORDS];
};

extern const struct option_row filter_rows[];

/* Adds a word to be found. -EINVAL: it is empty, or there are too many. */
int filter_word_add(void *filter_options, const char *word);
/* The filter with its tags; valid as long as @o. */
struct run_filter filter_get(const struct filter_options *o);
/* As --state takes it. */
const char *filter_state_word(enum state_filter state);
/* Whether any of the options was given. */
bool filter_is_given(const struct filter_options *o);

/* How a subcommand prints what it has found: the option --format, and --json for one of them. */

enum print_format {
	PRINT_TEXT, /* for people; the default */
	PRINT_JSON, /* an object, or one a line where there are several; each names its schema */
	PRINT_MARKDOWN,
	PRINT_CSV,
};

/*
 * Parsers of rows, of an enum print_format: text or json; markdown as well; all of them; all
 * but markdown; and --csv and --json. 0, or -EINVAL: it is none of these.
 */
int print_json_or_text_parse(void *as, const char *text);
int print_markdown_parse(void *as, const char *text);
int print_any_parse(void *as, const char *text);
int print_list_parse(void *as, const char *text);
int print_csv_parse(void *as, const char *text);
int print_json_parse(void *as, const char *text);

#endif
