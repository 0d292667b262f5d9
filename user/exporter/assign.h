/* SPDX-License-Identifier: BSD-2-Clause */
/* Which series the runs of a board are part of. The caller holds the lock of the board. */
#ifndef EXPORTER_ASSIGN_H
#define EXPORTER_ASSIGN_H

#include "exporter/board.h"

/*
 * Assigns all live runs whose use is known, the largest first, to series of their own, also those
 * that are in the common series so far, as far as there is room; the others and ended runs to the
 * common series. Removes the ended ones. Returns 0 or -ENOMEM.
 */
int board_assign_runs(struct board *b);
/* Assigns ended runs alone. Returns 0 or -ENOMEM. */
int board_assign_ended(struct board *b);
/*
 * Finds or adds the series of the user and kind in @l; @is_new is for one that is added. Returns
 * NULL if out of memory.
 */
struct series *board_user(struct board *b, const struct job_labels *l, bool is_new);
/* Returns true for a run of what no rule matches. */
bool run_is_rest(const struct shown_run *r);
/* Removes the run; its values stay in its series. */
void board_remove_run(struct board *b, struct shown_run *r);
/* Notes that a run of the series has ended. */
void series_end_run(struct series *s, uint64_t now_ns);
/* Removes series whose jobs have ended and that were kept for long enough. */
void board_expire(struct board *b, uint64_t now_ns);

#endif
