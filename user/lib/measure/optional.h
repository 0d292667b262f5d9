/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs that not every kernel accepts. Without one, only its metrics are missing. */
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

/* Conditions for loading, besides wanted metrics of the row's source. */
enum optional_when {
	ALWAYS,
	WHEN_RSS_IS_PER_CPU, /* per-CPU counters of resident memory (6.2) */
	WHEN_TIMERS_MAY_RUN, /* on no kernel with PREEMPT_RT, which is reported */
	WHEN_EXACT_PEAK,
	WHEN_CGROUP,      /* a cgroup is tracked */
	WHEN_NET_ADMIN,   /* CAP_NET_ADMIN; a refusal would take as long as loading */
	WHEN_SEED,        /* attached to running processes */
	WHEN_PEERS,       /* peers are wanted, for one run */
	WHEN_WIRE_CGROUP, /* packets of a v2 cgroup are counted */
	WHEN_RUN_MAY_END
};

enum optional_attachment {
	ATTACHED_TO_HOOK,
	ATTACHED_BY_ONE_RUN, /* test-run once, not attached */
	ATTACHED_AS_ITERATOR,
	ATTACHED_AS_WALKER,
	ATTACHED_TO_ROOT_CGROUP,
	ATTACHED_TO_WIRE_CGROUP,
	ATTACHED_LATER /* by tracker_kill_start() */
};

enum optional_group {
	ALONE,
	GROUP_OF_BLOCK,
	GROUP_OF_CGROUP,
	/* all or none are attached in this group and the next: a partial sum would be too low */
	GROUP_OF_INET_SENDS,
	GROUP_OF_INET_RECEIVES
};

/* Refusals to simulate, for tests. */
struct refusals {
	unsigned loading; /* bits of optional programs */
	unsigned attaching;
	unsigned types; /* bits of program_type_bits() */
};

static inline bool refusals_any(const struct refusals *r)
{
	return r->loading || r->attaching || r->types;
}

struct optional_row {
	const char *name;
	enum metric_source source; /* load only for its metrics; NR_METRIC_SOURCES: always */
	enum optional_when when;   /* and only under this condition */
	enum optional_attachment attachment;
	enum optional_group group;
	enum optional instead_of; /* program that counts the same and more; NR_OPTIONALS: none */
	const char *title;        /* what it measures, for bpfmon check */
	const char *tracepoint;   /* it attaches to, or NULL */
	const char *needs;        /* from the kernel */
	const char *without;      /* the effect of its absence */
};

/* Returns NULL after the last row. */
const struct optional_row *optional_row(size_t i);
/* Returns the bit of the row with that name, or 0. */
unsigned optional_find(const char *name, size_t length);

struct optionals {
	unsigned there;                  /* bits: loaded and, after optionals_attach(), attached */
	char missing[NR_OPTIONALS][200]; /* reason if wanted but missing; else empty */
	struct bpf_link *links[NR_OPTIONALS]; /* owned; NULL if not attached by a link */
	struct walker sockets;                /* OPTIONAL_LIVE_SOCKETS */
};

/*
 * Sets the reasons for the programs of @wanted that are missing. why[i] is the kernel's refusal;
 * empty: the kernel lacks what the program needs.
 */
#define REFUSAL_BYTES 160
void optionals_explain(struct optionals *x, unsigned wanted,
		       const char why[NR_OPTIONALS][REFUSAL_BYTES]);
/* Sets the reasons if the source is /proc. */
void optionals_refuse(struct optionals *x, bool exact_peak);
/*
 * Attaches the loaded programs one by one, except those in @refused (for tests). @wire_cgroup is
 * the folder of the cgroup whose packets are counted, or NULL.
 */
void optionals_attach(struct optionals *x, struct bpfmon *skel, unsigned refused,
		      const char *wire_cgroup);
/* For hooks that another process has attached: attaches only what reads the maps. */
void optionals_attach_iterators(struct optionals *x, struct bpfmon *skel);
bool optionals_have_group(const struct optionals *x, enum optional_group group);
void optionals_detach(struct optionals *x);

#endif
