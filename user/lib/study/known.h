/* SPDX-License-Identifier: BSD-2-Clause */
/* The runs that a run is compared with, each of a kind. */
#ifndef STUDY_KNOWN_H
#define STUDY_KNOWN_H

#include "run/signature.h"

struct known_run {
	size_t of;        /* which run it is, as the caller counts them */
	const char *kind; /* not owned */
	size_t nr_kind;   /* set by known_sort(): the number of the kind */
	struct signature signature;
};

struct known_runs {
	struct known_run *list; /* owned */
	size_t nr, room, nr_kinds;
};

/* -ENOMEM. */
int known_add(struct known_runs *k, size_t of, const char *kind, const struct signature *g);
/* Brings the runs of each kind together; to be done before they are used. */
void known_sort(struct known_runs *k);
/* The end of the runs of the kind that begins at @from. */
size_t known_kind_end(const struct known_runs *k, size_t from);
void known_done(struct known_runs *k);

#endif
