/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Resources used by processes that were waited for, with their own reaped children: exact even for
 * short-lived processes. The launcher sends them to a collector that has no BPF.
 */
#ifndef BASE_REAPED_H
#define BASE_REAPED_H

#include "base/procstat.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct reaped {
	uint64_t user_ns, system_ns; /* of all so far, as the rest */
	uint64_t minflt, majflt, nvcsw, nivcsw;
	struct proc_io io;
	uint64_t
		io_unread; /* of how many the I/O could not be read, but for what went to storage */
	/*
	 * The largest high-water mark of one of them; 0: none is above that of the launcher's own
	 * memory, of which a child has a copy until it executes a program.
	 */
	uint64_t peak_bytes, launcher_peak_bytes;
	int last_is_unread; /* the last one is one of these */
	pid_t last;         /* of these; and how it ended, as wait(2) gives it */
	int status;
	/* what it had used itself: at least that and less than a tick more, if it had children */
	uint64_t last_user_ns, last_system_ns;
	uint64_t last_children_user_ns,
		last_children_system_ns; /* of those it had waited for; to a tick */
	uint64_t last_peak_bytes; /* as peak_bytes; 0 also where it may be that of one of these */
};

/*
 * Waits for the zombie @pid, a child: reads what it had used before that, and adds it. 0, or a
 * negative errno.
 */
int reaped_wait(struct reaped *r, pid_t pid);
/* As a text for a message to another process of this program; and back, false: it is none. */
#define REAPED_BYTES (2 * sizeof(struct reaped) + 1)
void reaped_print(const struct reaped *r, char text[REAPED_BYTES]);
bool reaped_scan(struct reaped *r, const char *text);

/* The children of the launcher that are bpfmon's own: roles, keepers, a reader. */

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
