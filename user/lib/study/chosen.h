/* SPDX-License-Identifier: BSD-2-Clause */
/* The runs that advice is from, and room for their values. */
#ifndef STUDY_CHOSEN_H
#define STUDY_CHOSEN_H

#include "study/advice.h"
#include "study/advise_request.h"

#include <stddef.h>

struct chosen {
	const struct stored_run **runs;      /* owned; not what they point to; the newest first */
	const struct run_request **requests; /* owned likewise; NULL: not looked at */
	double *values, *sizes;              /* owned; room for one of each run */
	struct need *needs;                  /* owned */
	size_t nr;
};

/* -ENODATA: none of the runs can be used; -ENOMEM. chosen_done() in any case. */
int chosen_open(struct chosen *c, const struct stored_runs *runs,
		const struct run_request *requests, size_t nr_requests, struct advice *a);
void chosen_done(struct chosen *c);
/* Of the first @nr of @c->values, which it sorts; @nr is above 0. */
struct spread chosen_spread(struct chosen *c, size_t nr);

/* What the size of the input explains: of the tag @tag, or, if NULL, of what explains the most. */
void size_find(struct advice *a, struct chosen *c, const char *tag);
/* How much of what was requested was used. */
void use_find(struct advice *a, const struct chosen *c);

#endif
