/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs that not every kernel accepts: without one only what it measures is missing. */
#ifndef MEASURE_OPTIONAL_H
#define MEASURE_OPTIONAL_H

#include "measure/iterator.h"
#include "run/metric.h"

#include <stdbool.h>
#include <stddef.h>

struct bpf_link;
struct bpfmon;

enum optional {
#define OPTIONAL(id, ...) OPTIONAL_##id,
#include "measure/optional.def"
	NR_OPTIONALS
};

#define OPTIONAL_BIT(which) (1U << (which))

/* What a run has to ask for, besides metrics of the row's source. */
enum optional_when {
	ALWAYS,
	WHEN_RSS_IS_PER_CPU, /* the kernel keeps resident memory for each CPU (6.2) */
	WHEN_EXACT_PEAK,
	WHEN_CGROUP,      /* a cgroup is followed */
	WHEN_NET_ADMIN,   /* CAP_NET_ADMIN: to be refused would take as long as loading */
	WHEN_SEED,        /* processes are attached to */
	WHEN_PEERS,       /* peers are wanted, of one run */
	WHEN_WIRE_CGROUP, /* packets are counted of a cgroup of version 2 */
	WHEN_RUN_MAY_END
};

enum optional_attachment {
	ATTACHED_TO_HOOK,
	ATTACHED_BY_ONE_RUN, /* it runs once, and is attached to nothing */
	ATTACHED_AS_ITERATOR,
	ATTACHED_AS_WALKER,
	ATTACHED_TO_ROOT_CGROUP,
	ATTACHED_TO_WIRE_CGROUP,
	ATTACHED_LATER /* by tracker_end() */
};

/* Programs that belong together. */
enum optional_group {
	ALONE,
	GROUP_OF_BLOCK,
	GROUP_OF_CGROUP,
	GROUP_OF_INET_SENDS, /* of this and the next all are attached, or none: with a part of them
				the sum would be too low */
	GROUP_OF_INET_RECEIVES
};

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
	const char *name;          /* of the program */
	enum metric_source source; /* loaded only for metrics of it; NR_METRIC_SOURCES: for all */
	enum optional_when when;   /* and only then */
	enum optional_attachment attachment;
	enum optional_group group;
	enum optional instead_of; /* counts the same, and more; NR_OPTIONALS: none does */
	const char *title;        /* what it measures, for bpfmon check */
	const char *tracepoint;   /* that it is attached to; NULL: to something else */
	const char *needs;        /* what it needs from the kernel */
	const char *without;      /* what is known without it */
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
/*
 * Attaches those that are there, one by one, except for those in @refused (for tests).
 * @wire_cgroup: the folder of the cgroup whose packets are counted; NULL: there is none.
 */
void optionals_attach(struct optionals *x, struct bpfmon *skel, unsigned refused,
		      const char *wire_cgroup);
/* Returns true if all programs of @group are attached. */
bool optionals_have_group(const struct optionals *x, enum optional_group group);
void optionals_detach(struct optionals *x);

#endif
