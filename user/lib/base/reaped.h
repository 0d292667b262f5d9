/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Usage of reaped processes and of the children that they had reaped: exact even for short-lived
 * ones. The launcher sends it to a collector without BPF.
 */
#ifndef BASE_REAPED_H
#define BASE_REAPED_H

#include "base/procstat.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct reaped {
	uint64_t user_ns, system_ns; /* totals, as the members below */
	uint64_t minflt, majflt, nvcsw, nivcsw;
	struct proc_io io;
	uint64_t io_unread; /* processes whose I/O could not be read, except for storage I/O */
	/*
	 * Largest high-water mark; 0 if none exceeds that of the launcher, whose memory a child
	 * copies until its exec.
	 */
	uint64_t peak_bytes, launcher_peak_bytes;
	int last_is_unread; /* 1 if the I/O of the last process could not be read */
	pid_t last;         /* PID of the last process; its wait(2) status is @status */
	int status;
	/* its own usage; exact without children, else up to a tick too low */
	uint64_t last_user_ns, last_system_ns;
	uint64_t last_children_user_ns,
		last_children_system_ns; /* of its reaped children, to a tick */
	/* like peak_bytes; 0 also if the mark may be that of one of its children */
	uint64_t last_peak_bytes;
};

/*
 * Waits for the zombie child @pid, after reading its usage, and adds that. Returns 0 or a negative
 * errno.
 */
int reaped_wait(struct reaped *r, pid_t pid);
/*
 * Conversion to and from a text in a message to another process of this program. reaped_scan()
 * returns false if @text is none.
 */
#define REAPED_BYTES (2 * sizeof(struct reaped) + 1)
void reaped_print(const struct reaped *r, char text[REAPED_BYTES]);
bool reaped_scan(struct reaped *r, const char *text);

/* bpfmon's own children of the launcher: roles, keepers, a reader. */

#define OWN_CHILDREN_MOST 8

struct own_children {
	struct {
		pid_t pid;
		uint64_t start_ns; /* detects a reused PID */
	} all[OWN_CHILDREN_MOST];
	size_t nr;
};

/*
 * Reads the children that @launcher has before the command runs, except @command. Returns 0,
 * -ENOENT if /proc is not mounted or has no lists of children, or another negative errno.
 */
int own_children_read(struct own_children *own, pid_t launcher, pid_t command);
bool own_children_has(const struct own_children *own, pid_t pid);
/* Returns true if one of them had this PID, which may be reused. */
bool own_children_had(const struct own_children *own, pid_t pid);

#endif
