/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the agent says about itself: its line at start, and notices, each a sentence about what it
 * cannot measure here or has lost. A notice is logged, and is in the agent's JSON line.
 */
#ifndef AGENT_NOTICES_H
#define AGENT_NOTICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct agent;

#define UNSEEN_KEPT 64
#define MOST_NOTICES 16

/* Live processes that /proc lists but the kernel does not show to BPF programs. */
struct unseen {
	pid_t pids[UNSEEN_KEPT];
	size_t nr;     /* at most UNSEEN_KEPT */
	char comm[16]; /* of the first process */
};

/* How often a notice applies: the number of losses, or 1; and when that was logged. */
struct notice_state {
	uint64_t amount, logged;
	uint64_t risen_ns, logged_ns; /* CLOCK_MONOTONIC */
};

struct notices {
	struct unseen unseen;
	int handles_err;  /* of open_by_handle_at(); 0: it works */
	bool is_hybrid;   /* another hierarchy is in use, and the configuration chose none */
	bool has_memory;  /* the hierarchy has the memory controller */
	bool lacks_block; /* block I/O was requested, and the hierarchy has no io controller */
	const char *no_history; /* why no history is kept, although configured; NULL; not owned */
	uint64_t start_epoch_ns;
	struct notice_state states[MOST_NOTICES];
};

/*
 * Finds such processes. Called once, after all tasks were adopted and drained; drains again if some
 * seem missing.
 */
void unseen_find(struct agent *a);
/* Logs that the agent serves, and what it cannot do. Called once, with its final rights. */
void notices_log_start(struct agent *a);
/* Logs new notices, and those about more losses than before, each every ten minutes at most. */
void notices_update(struct agent *a);
void notices_log_stop(const struct agent *a);

#endif
