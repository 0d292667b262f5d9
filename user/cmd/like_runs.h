/* SPDX-License-Identifier: BSD-2-Clause */
/* The known runs of `bpfmon like`: those of the stores, with their signatures. */
#ifndef CMD_LIKE_RUNS_H
#define CMD_LIKE_RUNS_H

#include "cmd/stores.h"
#include "like/known.h"

struct like_runs {
	struct stored_runs all; /* owned; as the filter chose them */
	struct known_runs known;
	char **kinds; /* owned: kinds that are no names of runs; one for each run, or NULL */
};

/*
 * Reads the runs that pass the filter, but for @uuid, and sorts them. Signatures that a store does
 * not have yet are worked out, and kept in it if it is the user's own. A negative errno after one
 * line to the user; like_runs_done() in any case.
 */
int like_runs_read(struct like_runs *r, const struct stores *s, const struct run_filter *f,
		   const char *uuid);
void like_runs_done(struct like_runs *r);

#endif
