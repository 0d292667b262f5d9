/* SPDX-License-Identifier: BSD-2-Clause */
/* What a later reader needs to compare a run with others: the machine, the limits, the container,
 * the batch job, the revision. A text that is empty and a number that is 0 were not reported.
 */
#ifndef RUN_META_H
#define RUN_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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

/* Reads small files of the kernel and of the system, with a limit. */

/*
 * Reads up to @size - 1 bytes of the file @path below @root ("": the machine's own) and ends them
 * with a NUL. Returns their number, or a negative errno; @out is empty then.
 */
ssize_t file_read_text(const char *root, const char *path, char *out, size_t size);
/* Reads its first line, without blanks around it. 0, or a negative errno, with @out empty: it
 * cannot be read, is empty, or does not fit into @out. */
int file_read_line(const char *root, const char *path, char *out, size_t size);
/*
 * The first value of @key in @text, which has lines of KEY, blanks, @separator, blanks, VALUE: not
 * terminated, its length in @n. NULL: there is none.
 */
const char *text_value(const char *text, const char *key, char separator, size_t *n);
/* The same as a number. 0, or a negative errno, with @value unchanged: there is none. */
int text_number(const char *text, const char *key, char separator, uint64_t *value);
/* Copies @n bytes to @out (@size bytes) and a NUL; @out becomes empty where they do not fit. */
void text_copy(char *out, size_t size, const char *text, size_t n);

/* Environment variables about the job, the container or a program's settings: those of one table,
 * and no other. */

struct scheduler_row {
	const char *name;
	const char *only_with; /* counts only if this one is set, too: the name is a common one */
	bool is_job;           /* the scheduler's id of the job */
	bool may_hold_args;    /* left out with --no-args: its default is the command line */
};

size_t scheduler_nr_rows(void);
const struct scheduler_row *scheduler_row(size_t i);
/* Adds to @m those that are set and not empty; a value is cut to VARIABLE_BYTES, between
 * characters.
 */
void scheduler_read(bool no_args, struct meta *m);
/* The scheduler's id of the job that this process belongs to, not owned; NULL: there is none. */
const char *scheduler_job_id(void);
/*
 * The variable by which srun or mpirun says that this process is one of several on this node, and
 * not the first; NULL: there is none.
 */
const char *scheduler_later_rank(void);

#endif
