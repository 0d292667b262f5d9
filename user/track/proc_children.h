/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What /proc has of a process includes, of some figures, the children that it has waited for. Those
 * that have a record are taken out, so that nothing is in two records; what is left is of children
 * that ended between two looks.
 */
#ifndef TRACK_PROC_CHILDREN_H
#define TRACK_PROC_CHILDREN_H

#include "base/procstat.h"

/* Of children that have ended and have a record. */
struct proc_children {
	uint64_t cpu_ns;
	struct proc_io io; /* with that of the children that these had waited for */
};

/* @s and @io: of a child, as it was seen last. */
void proc_children_add(struct proc_children *c, const struct proc_stat *s,
		       const struct proc_io *io);
/* CPU time of the children that have no record. */
uint64_t proc_children_unseen_ns(const struct proc_children *c, const struct proc_stat *s);
/* @io without that of the children that have one. */
struct proc_io proc_children_without(const struct proc_children *c, const struct proc_io *io);

#endif
