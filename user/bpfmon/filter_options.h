/* SPDX-License-Identifier: BSD-2-Clause */
/* The options that choose runs of the stores: of list, and of compare. */
#ifndef BPFMON_FILTER_OPTIONS_H
#define BPFMON_FILTER_OPTIONS_H

#include "bpfmon/options.h"
#include "run/run.h"
#include "store/query.h"

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

#endif
