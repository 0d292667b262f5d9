/* SPDX-License-Identifier: BSD-2-Clause */
/* Option rows that several subcommands share. */
#ifndef OPTIONS_COMMON_OPTIONS_H
#define OPTIONS_COMMON_OPTIONS_H

#include "options/options.h"
#include "run/run.h"
#include "store/query.h"
#include "store/stores.h"

extern const struct option_row common_rows[]; /* for struct common_options */
extern const struct option_row
	colour_rows[]; /* for struct common_options of subcommands that show something */
extern const struct option_row store_rows[]; /* for struct store_options */
extern const struct option_row
	node_rows[]; /* for struct store_options of subcommands that only read */
extern const struct option_row node_agent_rows[]; /* with node_rows, but set by a variable, too */
extern const struct option_row force_rows[];      /* for a bool */
extern const struct option_row silent_rows[];     /* for a bool */

/* Options that select runs of the stores, for list and compare. */

#define MAX_FILTER_WORDS 64

struct filter_options {
	struct run_filter filter;   /* all but its tags */
	const char *tags[MAX_TAGS]; /* key or key=value; their number is in the filter */
	const char *words[MAX_FILTER_WORDS];
};

extern const struct option_row filter_rows[];

/* Adds a word to search for. Returns 0, or -EINVAL if it is empty or there are too many. */
int filter_word_add(void *filter_options, const char *word);
/* Returns the filter with its tags, which point into @o. */
struct run_filter filter_get(const struct filter_options *o);
/* Returns true if any of the options was given. */
bool filter_is_given(const struct filter_options *o);

/* Output formats of subcommands: the options --format, --json and --csv. */

enum print_format {
	PRINT_TEXT, /* for people; the default */
	PRINT_JSON, /* an object, or one per line if there are several; each names its schema */
	PRINT_MARKDOWN,
	PRINT_CSV,
};

/*
 * Parsers of option rows for an enum print_format: text or json; also markdown; all; all but
 * markdown; and the switches --csv and --json. Return 0, or -EINVAL for any other text.
 */
int print_json_or_text_parse(void *as, const char *text);
int print_markdown_parse(void *as, const char *text);
int print_any_parse(void *as, const char *text);
int print_list_parse(void *as, const char *text);
int print_csv_parse(void *as, const char *text);
int print_json_parse(void *as, const char *text);

#endif
