/* SPDX-License-Identifier: BSD-2-Clause */
/* Warnings for admins about what the agent cannot see on this machine, or has no rule for. */
#ifndef AGENT_NOTICES_H
#define AGENT_NOTICES_H

#include "base/json.h"

#include <stddef.h>
#include <sys/types.h>

struct agent;

#define UNSEEN_KEPT 64

/* Live processes that /proc lists but the kernel does not show to BPF programs. */
struct unseen {
	pid_t pids[UNSEEN_KEPT];
	size_t nr;     /* at most UNSEEN_KEPT */
	char comm[16]; /* of the first process */
};

/*
 * Finds such processes. Called once, after all tasks were adopted and drained; drains again if some
 * seem missing.
 */
void unseen_find(struct agent *a);
/*
 * Logs what is known at start; notices_log_gaps() logs once, later, which cgroups no rule matches.
 */
void notices_log_start(const struct agent *a);
void notices_log_gaps(struct agent *a);

#endif
