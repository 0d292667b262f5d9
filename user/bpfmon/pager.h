/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shows what is longer than the screen by BPFMON_PAGER, PAGER, or "less -FRX". Output is collected
 * in memory first, so that what is short, or has failed, needs no pager. It has the rights of the
 * user who called bpfmon, through sudo or not, and no others.
 */
#ifndef BPFMON_PAGER_H
#define BPFMON_PAGER_H

#include <stdbool.h>

/*
 * Collects what is written to stdout from now on. False: it is not collected, as no terminal would
 * show it, or no pager is wanted.
 */
bool pager_begin(void);
/* After pager_begin(): shows it, by the pager if it is long, and waits for that. */
void pager_end(void);

#endif
