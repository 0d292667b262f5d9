/* SPDX-License-Identifier: BSD-2-Clause */
/* The live processes of a run that is under way, as its collector has them now. */
#ifndef CMD_SHOW_LIVE_H
#define CMD_SHOW_LIVE_H

#include "source/source.h"

#include <jansson.h>

/* Prints since when the run @s, which is under way, does nothing, and why; nothing where it goes
 * on. 0 or a negative errno. */
int run_show_stall(struct source *s);
/*
 * Prints how many there are, and those with the most memory, to stdout; where the feed that @meta
 * names cannot be reached, one line that says why. 0, or -ENOMEM.
 */
int run_show_live(const json_t *meta);

#endif
