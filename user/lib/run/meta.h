/* SPDX-License-Identifier: BSD-2-Clause */
/* What a later reader needs to compare a run with others: the machine, the limits, the container,
 * the batch job, the revision. A text that is empty and a number that is 0 were not reported.
 */
#ifndef RUN_META_H
#define RUN_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_NODES 64
#define MAX_VARIABLES 96
#define VARIABLE_BYTES 256 /* a longer value is cut */
#define CPU_LIST_BYTES 2048

struct numa_node {
	unsigned number;
	uint64_t memory_bytes; /* 0: not reported */
};

struct system_info {
	char cpu_model[128];
	unsigned sockets, cores, threads; /* that are online; 0: not reported */
	struct numa_node nodes[MAX_NODES];
	unsigned nr_nodes; /* beyond MAX_NODES there is only their number */
	bool has_swap, has_huge_pages;
	uint64_t swap_bytes;
	uint64_t huge_pages_bytes; /* set aside for huge pages of any size */
	char transparent_hugepage[16];
	char cpu_governor[32];
	char architecture[65];
	char os[128];
	char machine[160]; /* vendor and product */
	bool knows_virtual, is_virtual;
	uint64_t boot_epoch_ns; /* 0: not reported */
};

enum limit_id {
	LIMIT_MEMORY_MAX, /* of the cgroup and those above it, the smallest */
	LIMIT_MEMORY_HIGH,
	LIMIT_SWAP_MAX,
	LIMIT_MEMORY_SWAP_MAX, /* of both together: version 1 */
	LIMIT_CPU_MAX,         /* thousandths of a CPU */
	LIMIT_PIDS_MAX,
	LIMIT_AS, /* of the process, as setrlimit(2) calls them */
	LIMIT_DATA,
	LIMIT_STACK,
	LIMIT_FSIZE,
	LIMIT_CORE,
	LIMIT_MEMLOCK,
	LIMIT_NOFILE,
	LIMIT_NPROC,
	LIMIT_CPU_TIME, /* seconds */
	NR_LIMITS
};

struct limits {
	uint64_t value[NR_LIMITS];
	uint32_t have; /* bits; an unlimited one is absent */
	char cgroup[4096];
	char cpus_allowed[CPU_LIST_BYTES]; /* as in "0-3,8" */
	char mems_allowed[CPU_LIST_BYTES];
};

struct container_info {
	char engine[32]; /* empty: in no known one */
	char id[72];
	char name[128];
	char image[256];
	char pod[72]; /* its UID in Kubernetes */
};

struct variable {
	const char *name; /* of the table, not owned */
	char value[VARIABLE_BYTES + 1];
};

struct git {
	char revision[65]; /* 40 or 64 hexadecimal digits */
	char branch[256];
};

struct meta {
	struct system_info system;
	struct limits limits;
	struct container_info container;
	struct variable variables[MAX_VARIABLES];
	size_t nr_variables;
	struct git git;
};

struct limit_row {
	const char *key; /* as published */
	unsigned decimals;
};

const struct limit_row *limit_get(enum limit_id id);
/* Sets the limit to @value if it is absent or larger. */
void limit_lower(struct limits *l, enum limit_id id, uint64_t value);
bool limit_has(const struct limits *l, enum limit_id id);
/* Reads the next range of a list such as "0-3,8", and advances the list. False: none is left. */
bool list_next(const char **list, unsigned *first, unsigned *last);
/* How many numbers a list such as "0-3,8" has; 0: it is not a list. */
unsigned list_count(const char *list);

#endif
