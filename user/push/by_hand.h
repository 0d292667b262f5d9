/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends lines from standard input, as of a run, and ends. What waits is in memory. */
#ifndef PUSH_BY_HAND_H
#define PUSH_BY_HAND_H

#include "push/push_options.h"

/*
 * Returns 0 if all lines were sent, or a negative errno after a message that says how many were
 * not.
 */
int by_hand_run(const struct push_options *o);

#endif
