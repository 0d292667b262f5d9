/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs that not every kernel accepts: without one only what it measures is missing. */
#ifndef MEASURE_OPTIONAL_H
#define MEASURE_OPTIONAL_H

#include "measure/iterator.h"

#include <stdbool.h>
#include <stddef.h>

struct bpf_link;
struct bpfmon;

enum optional {
	OPTIONAL_OFFSETS,
	OPTIONAL_OLD_IMAGES,
	OPTIONAL_RELEASES,
	OPTIONAL_OOM,
	OPTIONAL_EXACT_PEAK,
	OPTIONAL_BLOCK, /* this and the next: only where block I/O is wanted, and then both */
	OPTIONAL_BLOCK_BIOS,
	OPTIONAL_MOVES, /* this and the two that follow: only where a cgroup is followed */
	OPTIONAL_REMADE,
	OPTIONAL_REMOVED,
	OPTIONAL_SENDS, /* this and those that follow: only where metrics of sockets are wanted */
	OPTIONAL_RECEIVES,
	OPTIONAL_INET_SENDS, /* this and the four that follow: only where these two are missing */
	OPTIONAL_INET6_SENDS,
	OPTIONAL_INET_PAGES,
	OPTIONAL_INET_RECEIVES,
	OPTIONAL_INET6_RECEIVES,
	OPTIONAL_STATES,
	OPTIONAL_CONNECTS,
	OPTIONAL_CONNECTS6,
	OPTIONAL_RETRANSMITS,
	OPTIONAL_SEED_SOCKETS, /* only where processes are attached to */
	OPTIONAL_SENDMSG4,     /* this and the next: only where peers are wanted */
	OPTIONAL_SENDMSG6,
	OPTIONAL_LIVE_SOCKETS,
	OPTIONAL_KINDS,
	OPTIONAL_WIRE_RECEIVES, /* this and the next: only where these have a cgroup of version 2 */
	OPTIONAL_WIRE_SENDS,
	OPTIONAL_ENDS, /* only where a run may be ended, and attached only then: track/ending.c */
	NR_OPTIONALS
};

#define OPTIONAL_BIT(which) (1U << (which))
#define OPTIONAL_ALL ((1U << NR_OPTIONALS) - 1)
#define OPTIONAL_OF_BLOCK (1U << OPTIONAL_BLOCK | 1U << OPTIONAL_BLOCK_BIOS)
/* From OPTIONAL_MOVES to OPTIONAL_REMOVED. */
#define OPTIONAL_OF_CGROUP ((2U << OPTIONAL_REMOVED) - (1U << OPTIONAL_MOVES))

/* From OPTIONAL_SENDS to OPTIONAL_LIVE_SOCKETS. */
#define OPTIONAL_OF_SOCKETS ((2U << OPTIONAL_LIVE_SOCKETS) - (1U << OPTIONAL_SENDS))

/* From OPTIONAL_INET_SENDS to OPTIONAL_INET_PAGES, and from there to OPTIONAL_INET6_RECEIVES. */
#define OPTIONAL_OF_INET_SENDS ((2U << OPTIONAL_INET_PAGES) - (1U << OPTIONAL_INET_SENDS))
#define OPTIONAL_OF_INET_RECEIVES ((2U << OPTIONAL_INET6_RECEIVES) - (1U << OPTIONAL_INET_RECEIVES))
#define OPTIONAL_OF_INET (OPTIONAL_OF_INET_SENDS | OPTIONAL_OF_INET_RECEIVES)

#define OPTIONAL_OF_CONNECTS ((2U << OPTIONAL_CONNECTS6) - (1U << OPTIONAL_CONNECTS))

#define OPTIONAL_OF_PEERS ((2U << OPTIONAL_SENDMSG6) - (1U << OPTIONAL_SENDMSG4))

/* What is attached to the root of the cgroups. */
#define OPTIONAL_OF_ROOT (OPTIONAL_OF_CONNECTS | OPTIONAL_OF_PEERS)

#define OPTIONAL_OF_WIRE ((2U << OPTIONAL_WIRE_SENDS) - (1U << OPTIONAL_WIRE_RECEIVES))

/* What is refused as if the kernel did so, for tests. */
struct refusals {
	unsigned loading;   /* bits of optional programs */
	unsigned attaching; /* the same */
	unsigned types;     /* bits of program_type_bits() */
};

static inline bool refusals_any(const struct refusals *r)
{
	return r->loading || r->attaching || r->types;
}

struct optional_row {
	const char *name;    /* of the program */
	const char *title;   /* what it measures, for bpfmon check */
	const char *needs;   /* what it needs from the kernel */
	const char *without; /* what is known without it */
	const char *
		tracepoint; /* that it needs, of those that are loaded for a cgroup only; or NULL */
};

/* NULL after the last. */
const struct optional_row *optional_row(size_t i);
/* The bit of the row with that name, of @length bytes; 0: there is none. */
unsigned optional_find(const char *name, size_t length);

struct optionals {
	unsigned there; /* bits; loaded and, from optionals_attach() on, attached */
	char missing[NR_OPTIONALS][200]; /* why it is not, if it was wanted; else empty */
	struct bpf_link
		*links[NR_OPTIONALS]; /* owned; NULL for those that are not attached like that */
	struct walker sockets;        /* OPTIONAL_LIVE_SOCKETS */
};

/*
 * Sets why those of @wanted that are not there are missing. @why: for each the kernel's refusal;
 * empty: it lacks what the program needs.
 */
#define REFUSAL_BYTES 160
void optionals_explain(struct optionals *x, unsigned wanted,
		       const char why[NR_OPTIONALS][REFUSAL_BYTES]);
/* The source is /proc: what is reported of those that a run may ask for. */
void optionals_refuse(struct optionals *x, bool exact_peak);
/* Attaches those that are there, one by one, except for those in @refused (for tests); those of the
 * wire to the cgroup of the folder @wire_fd, OPTIONAL_OF_ROOT to that of @root_fd (-1: none). */
void optionals_attach(struct optionals *x, struct bpfmon *skel, unsigned refused, int wire_fd,
		      int root_fd);
void optionals_detach(struct optionals *x);

#endif
