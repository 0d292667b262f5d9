/* SPDX-License-Identifier: BSD-2-Clause */
/* The tags of a run: of --tag, and of the environment. */
#ifndef CMD_TAGS_H
#define CMD_TAGS_H

#include "cmd/options.h"

/* key=value; takes the place of one with the same key. */
int parse_tag(struct options *o, const char *text);
/* BPFMON_TAG_sample=A7 is --tag sample=A7. What does not fit is left out. */
void tags_from_environment(struct options *o);

#endif
