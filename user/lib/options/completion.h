/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completion of a word for a shell. Each candidate is printed as a line with its description after
 * a tab. A line that begins with a colon requests candidates that the shell itself knows: ":files
 * N", ":folders N", ":users N" for the word from its byte N on, ":command N" for a command that
 * begins at the word N.
 */
#ifndef OPTIONS_COMPLETION_H
#define OPTIONS_COMPLETION_H

#include "options/common_options.h"

struct completion {
	const char *typed; /* the part of the word to complete */
	const char *word;  /* the whole word; @typed points into it */
	struct store_options store;
};

/* Prints the candidate if it begins as typed. Skips or disarms text that could break the line. */
void completion_offer(const struct completion *c, const char *text, const char *help);
/* Prints a candidate for a part of a word, followed by @end. */
void completion_offer_part(const struct completion *c, const char *text, const char *end,
			   const char *help);
/* Requests candidates of the shell: "files", "folders", "users". */
void completion_offer_own(const struct completion *c, const char *what);
/* Returns a completion of the part of @c after the last @mark. */
struct completion completion_after(const struct completion *c, char mark);
/* Offers the live processes with their names. */
void completion_offer_pids(const struct completion *c);
void completion_offer_files(const struct completion *c);
/* Offers the subcommands if @first is NULL. */
void completion_offer_subcommands(const struct completion *c, const char *first);
/* Offers the newest runs of the store by number and name, and files. */
void completion_offer_runs(const struct completion *c, const char *first);
/* Offer the names, or the keys of tags, of the runs in the store. */
void completion_offer_names(const struct completion *c);
void completion_offer_tag_keys(const struct completion *c);

/* Prints the candidates for the last of the @nr words after "bpfmon". */
void completion_print(char **words, size_t nr);

#endif
