/* SPDX-License-Identifier: BSD-2-Clause */
/* Whose a PID was at a given moment: tells senders of ours, who may have ended, from strangers. */
#ifndef PUSH_SENDERS_H
#define PUSH_SENDERS_H

#include "bpfmon/shared.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVES_KEPT 16384 /* of those that ended last */

/* One process. */
struct life {
	uint32_t pid;
	uint64_t older; /* number + 1 of the one before it in the same slot; 0: none */
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
/* A process has ended, or is told of for the last time. */
void senders_add_ended(struct senders *s, const struct process_record *r);
/* Takes the @nr rows of a drain for those alive. -ENOMEM: nobody is known to be alive. */
int senders_set_alive(struct senders *s, const struct drain_row *rows, size_t nr);
/* Was @pid one of ours at @boot_ns (CLOCK_BOOTTIME)? */
bool senders_know(const struct senders *s, uint32_t pid, uint64_t boot_ns);

#endif
