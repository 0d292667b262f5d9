/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a shell may offer for a word that is being typed. Each candidate is a line on stdout, with
 * its description after a tab; a line that begins with a colon tells the shell to add what it knows
 * itself: ":files N", ":folders N", ":users N" for the word from its byte N on, ":command N" for a
 * command that begins at the word N.
 */
#ifndef OPTIONS_COMPLETION_H
#define OPTIONS_COMPLETION_H

#include "options/common_options.h"

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
/* The part of @c behind the last @mark. */
struct completion completion_after(const struct completion *c, char mark);
/* Offer the live processes, with their names. */
void completion_offer_pids(const struct completion *c);
void completion_offer_files(const struct completion *c);
/* For words: the subcommands, if @first is NULL. */
void completion_offer_subcommands(const struct completion *c, const char *first);
/* For words: the newest runs of the store, by number and by name, and files. */
void completion_offer_runs(const struct completion *c, const char *first);
/* Offer the names and keys of tags of the runs in the store. */
void completion_offer_names(const struct completion *c);
void completion_offer_tag_keys(const struct completion *c);

/* Print the candidates for the last of the @nr words that follow "bpfmon". */
void completion_print(char **words, size_t nr);

#endif
