/* SPDX-License-Identifier: BSD-2-Clause */
/* The arguments of a shell: which of them is the text to execute, or the script. */
#ifndef SHELL_SHELL_WORDS_H
#define SHELL_SHELL_WORDS_H

#include "run/span.h"

#include <stdbool.h>

/* All of it points into the arguments. */
struct shell_words {
	const char *name;                /* of --span-name=NAME; NULL: none, or an empty one */
	const char *tags[MAX_SPAN_TAGS]; /* of --span-tag=KEY=VALUE */
	size_t nr_tags;
	const char *text;   /* of -c; NULL: none */
	bool is_plain;      /* no options but -c, -e and -u, and nothing behind the text */
	const char *script; /* the file to execute; NULL: none */
};

/*
 * Reads @argv as bash would, up to the text or script, and takes the options --span-name and
 * --span-tag out of it, which are for the wrapper alone. A tag without a key or an equals sign is
 * ignored.
 */
void shell_words_take(struct shell_words *w, char **argv);

#endif
