/* SPDX-License-Identifier: BSD-2-Clause */
/* The tags of a run: of --tag, and of the environment. */
#ifndef CMD_RUN_TAGS_H
#define CMD_RUN_TAGS_H

#include "cmd/options.h"

/* key=value; takes the place of one with the same key. -E2BIG: there are MAX_TAGS. */
int parse_tag(struct options *o, const char *text);
/* BPFMON_TAG_sample=A7 is --tag sample=A7, and last comes @default_tag (BPFMON_TAG; NULL: none):
 * those whose key nobody has given yet. How many there was no room for. */
size_t tags_from_environment(struct options *o, const char *default_tag);

#endif
