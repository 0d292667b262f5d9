/* SPDX-License-Identifier: BSD-2-Clause */
/* The tags of a run: of --tag, and of the environment. */
#ifndef BPFMON_RUN_TAGS_H
#define BPFMON_RUN_TAGS_H

#include "run/run.h"

#include <stddef.h>

struct run_tags {
	const char *list[MAX_TAGS]; /* key=value, the keys are unique; not owned */
	size_t nr;
};

/* Of a row, for struct run_tags: key=value; takes the place of one with the same key. -EINVAL;
 * -ENAMETOOLONG: it has RUN_WORD_BYTES; -E2BIG: there are MAX_TAGS. */
int run_tags_parse(void *tags, const char *text);
/*
 * Adds BPFMON_TAG_sample=A7 as sample=A7, and last @defaults (of BPFMON_TAG, or of files): those
 * with a key that is not there yet. How many there was no room for, or are too long.
 */
size_t run_tags_add_defaults(struct run_tags *tags, const struct run_tags *defaults);

#endif
