/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a shell may offer for a word that is being typed. Each candidate is a line on stdout, with
 * its description after a tab; a line that begins with a colon tells the shell to add what it knows
 * itself: ":files N", ":folders N", ":users N" for the word from its byte N on, ":command N" for a
 * command that begins at the word N.
 */
#ifndef BPFMON_COMPLETION_H
#define BPFMON_COMPLETION_H

#include "bpfmon/common_options.h"

struct completion {
	const char *typed; /* so far, of the part that is looked for */
	const char *word;  /* the whole word, in which @typed begins */
	struct store_options store;
};

/* Prints the candidate if it begins as typed. Nothing that could break a line is printed. */
void completion_offer(const struct completion *c, const char *text, const char *help);
/* The same, followed by @end: a part of a word. */
void completion_offer_part(const struct completion *c, const char *text, const char *end,
			   const char *help);
/* What the shell knows itself: "files", "folders", "users". */
void completion_offer_own(const struct completion *c, const char *what);
/* The processes that live, with their names. */
void completion_offer_pids(const struct completion *c);
/* The values of an option of the subcommand. */
void completion_offer_values(const struct completion *c, const struct subcommand *sub,
			     const struct option_group *group, const struct option_row *row);

/* Of the store: the newest runs, by number and by name; their names, tags, keys of tags. */
void completion_offer_runs(const struct completion *c);
void completion_offer_names(const struct completion *c);
void completion_offer_tags(const struct completion *c);
void completion_offer_tag_keys(const struct completion *c);

#endif
