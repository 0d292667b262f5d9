/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lives of the run's processes by PID: whether a sender, which may have ended since, was in the
 * run when it sent.
 */
#ifndef MEASURE_SENDERS_H
#define MEASURE_SENDERS_H

#include "bpfmon/shared.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVES_KEPT 16384 /* of those that ended last */

/* One process. */
struct life {
	uint32_t pid;
	uint64_t older; /* number + 1 of the previous one in the same slot; 0: none */
	uint64_t start_boot_ns;
	uint64_t end_boot_ns; /* 0: alive */
};

struct senders {
	struct life *ended; /* owned; a ring of LIVES_KEPT */
	uint64_t *newest;   /* owned; number + 1 of the last to end in each slot */
	uint64_t nr_ended;
	struct life *alive; /* owned; as of the last drain, sorted by PID */
	size_t nr_alive, room_alive;
};

/* -ENOMEM. */
int senders_init(struct senders *s);
void senders_done(struct senders *s);
/* Takes the last record of a process, which has ended or left the run. */
void senders_add_ended(struct senders *s, const struct process_record *r);
/* Takes the @nr rows of a drain as the live processes. -ENOMEM: then none is known. */
int senders_set_alive(struct senders *s, const struct drain_row *rows, size_t nr);
/* True if @pid was a process of the run at @boot_ns (CLOCK_BOOTTIME). */
bool senders_know(const struct senders *s, uint32_t pid, uint64_t boot_ns);

#endif
