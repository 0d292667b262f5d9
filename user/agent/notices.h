/* SPDX-License-Identifier: BSD-2-Clause */
/* What the agent does not see of its machine, or cannot name: sentences for its admins. */
#ifndef AGENT_NOTICES_H
#define AGENT_NOTICES_H

#include "base/json.h"

#include <stddef.h>
#include <sys/types.h>

struct agent;

#define UNSEEN_KEPT 64

/* Live processes that /proc lists, and that the kernel does not show to BPF programs. */
struct unseen {
	pid_t pids[UNSEEN_KEPT];
	size_t nr;     /* up to UNSEEN_KEPT */
	char comm[16]; /* of the first one */
};

/* To be called once, after all tasks have been adopted and drained; drains once more in doubt. */
void unseen_find(struct agent *a);
/* Logs what is known when the agent begins; later what no rule knows, once. */
void notices_log_start(const struct agent *a);
void notices_log_gaps(struct agent *a);

#endif
