/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What processes had used that a process has waited for, with all that these had waited for: exact,
 * however short they lived. The launcher sends it to a collector that has no BPF.
 */
#ifndef BASE_REAPED_H
#define BASE_REAPED_H

#include "base/procstat.h"

#include <stddef.h>

struct reaped {
	uint64_t user_ns, system_ns; /* of all so far, as the rest */
	uint64_t minflt, majflt, nvcsw, nivcsw;
	struct proc_io io;
	uint64_t processes;
	uint64_t
		io_unread; /* of these: their I/O could not be read, but for what went to storage */
	int last_is_unread; /* the last one is one of these */
	pid_t last;         /* of these; and how it ended, as wait(2) gives it */
	int status;
	uint64_t last_user_ns, last_system_ns; /* what it had used, with those it had waited for */
	uint64_t last_children_user_ns, last_children_system_ns; /* of this, by these; to a tick */
};

/*
 * Waits for the zombie @pid, a child: reads what it had used before that, and adds it. 0, or a
 * negative errno.
 */
int reaped_wait(struct reaped *r, pid_t pid);
/* As a text for a message; and back, false: it is none. */
#define REAPED_BYTES 512
void reaped_print(const struct reaped *r, char *text, size_t size);
bool reaped_scan(struct reaped *r, const char *text);

#endif
