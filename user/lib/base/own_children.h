/* SPDX-License-Identifier: BSD-2-Clause */
/* The children of the launcher that are bpfmon's own: roles, keepers, a reader. */
#ifndef BASE_OWN_CHILDREN_H
#define BASE_OWN_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define OWN_CHILDREN_MOST 8

struct own_children {
	struct {
		pid_t pid;
		uint64_t start_ns; /* the PID may be another's when it has ended */
	} all[OWN_CHILDREN_MOST];
	size_t nr;
};

/*
 * Those that @launcher has before the command runs, without @command. 0; -ENOENT: /proc is not
 * mounted, or lists no children; or another negative errno.
 */
int own_children_read(struct own_children *own, pid_t launcher, pid_t command);
bool own_children_has(const struct own_children *own, pid_t pid);
/* Whether one of them had the PID, which may be another's since. */
bool own_children_had(const struct own_children *own, pid_t pid);

#endif
