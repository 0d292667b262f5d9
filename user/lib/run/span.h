/* SPDX-License-Identifier: BSD-2-Clause */
/* A span of a run: one process and its descendants, from a moment on, with totals of their own. */
#ifndef RUN_SPAN_H
#define RUN_SPAN_H

#include "run/summary.h"

#define SPAN_NAME_BYTES 256 /* with its NUL */
#define MAX_SPAN_TAGS 16
#define MAX_SPAN_DEPTH 32 /* none begins deeper; one that is read is beside its parent */

/* What it is called by the process that begins it. */
struct span_label {
	const char *name;                /* not owned */
	const char *tags[MAX_SPAN_TAGS]; /* "key=value", the keys are unique; not owned */
	size_t nr_tags;
};

struct span {
	uint64_t id;     /* from 1 on, in the order in which the run's spans begin */
	uint64_t parent; /* the span in which it began; 0: the run itself */
	int32_t pid;     /* of the process that began it */
	bool in_place;   /* that process ends it itself */
	struct span_label label;
	uint64_t start_epoch_ns;
	uint64_t end_epoch_ns; /* of its last process, or when it was ended in place; 0: it had
				* not ended when the run did */
	struct summary used;   /* spans within it included; no programs */
};

#endif
