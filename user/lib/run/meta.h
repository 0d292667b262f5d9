/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Data needed to compare a run with others: machine, limits, container, batch job, revision. An
 * empty text or a 0 means that the value was not reported.
 */
#ifndef RUN_META_H
#define RUN_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MAX_NODES 64
#define MAX_VARIABLES 96
#define VARIABLE_BYTES 256 /* longer values are truncated */
#define CPU_LIST_BYTES 2048

struct numa_node {
	unsigned number;
	uint64_t memory_bytes; /* 0: not reported */
};

struct system_info {
	char cpu_model[128];
	unsigned sockets, cores, threads; /* numbers online; 0: not reported */
	struct numa_node nodes[MAX_NODES];
	unsigned nr_nodes; /* real number; @nodes has at most MAX_NODES of them */
	bool has_swap, has_huge_pages;
	uint64_t swap_bytes;
	uint64_t huge_pages_bytes; /* reserved for huge pages of any size */
	char transparent_hugepage[16];
	char cpu_governor[32];
	char architecture[65];
	char os[128];
	char machine[160]; /* vendor and product */
	bool knows_virtual, is_virtual;
	uint64_t boot_epoch_ns; /* 0: not reported */
};

enum limit_id {
	LIMIT_MEMORY_MAX, /* minimum of the cgroup and its ancestors */
	LIMIT_MEMORY_HIGH,
	LIMIT_SWAP_MAX,
	LIMIT_MEMORY_SWAP_MAX, /* memory and swap together; cgroup version 1 */
	LIMIT_CPU_MAX,         /* thousandths of a CPU */
	LIMIT_PIDS_MAX,
	LIMIT_AS, /* from here on resource limits of the process, as in setrlimit(2) */
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
	uint32_t have; /* bit per limit; clear for an unlimited one */
	char cgroup[4096];
	char cpus_allowed[CPU_LIST_BYTES]; /* as in "0-3,8" */
	char mems_allowed[CPU_LIST_BYTES];
};

struct container_info {
	char engine[32]; /* empty: no known engine */
	char id[72];
	char name[128];
	char image[256];
	char pod[72]; /* UID of the pod in Kubernetes */
};

struct variable {
	const char *name; /* from the table, not owned */
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
/* Reads the next range of a list such as "0-3,8" and advances it. Returns false at the end. */
bool list_next(const char **list, unsigned *first, unsigned *last);
/* Returns how many numbers a list such as "0-3,8" contains; 0 if it is malformed. */
unsigned list_count(const char *list);

/*
 * Reads up to @size - 1 bytes of the file @path below @root ("" for the machine's own root) and
 * terminates them with a NUL. Returns the number of bytes, or a negative errno with @out empty.
 */
ssize_t file_read_text(const char *root, const char *path, char *out, size_t size);
/*
 * Reads the first line of a file, trimmed, into @out. Returns 0, or a negative errno with @out
 * empty. Returns -ENODATA if the line is empty or does not fit.
 */
int file_read_line(const char *root, const char *path, char *out, size_t size);
/*
 * Finds the first line KEY, blanks, @separator, blanks, VALUE of @text. Returns the value, which is
 * not terminated and @n bytes long, or NULL if there is none.
 */
const char *text_value(const char *text, const char *key, char separator, size_t *n);
/* Parses that value as a number. Returns 0, or a negative errno with @value unchanged. */
int text_number(const char *text, const char *key, char separator, uint64_t *value);
/* Copies @n bytes and a NUL to @out. Sets @out to "" if they do not fit into @size bytes. */
void text_copy(char *out, size_t size, const char *text, size_t n);

/* Environment variables of the job, the container and program settings, from a fixed table. */

struct scheduler_row {
	const char *name;
	const char *only_with; /* ignored unless this one is set: the name is common */
	bool is_job;           /* the scheduler's job id */
	bool may_hold_args;    /* omitted with --no-args: its default is the command line */
};

size_t scheduler_nr_rows(void);
const struct scheduler_row *scheduler_row(size_t i);
/* Adds the variables that are set and not empty to @m, truncated at a character boundary. */
void scheduler_read(bool no_args, struct meta *m);
/* Returns the scheduler's job id of this process, not owned by the caller, or NULL. */
const char *scheduler_job_id(void);
/*
 * Returns the name of the variable by which srun or mpirun marks this process as one of several on
 * the node and not the first, or NULL if there is none.
 */
const char *scheduler_later_rank(void);

/* Reads files of the machine below @root ("" for its own). Values without a file stay unchanged. */
void system_read(const char *root, struct system_info *s);
/* Reads what needs no file: architecture and boot time. */
void system_read_kernel(struct system_info *s);

/*
 * Reads the repository that contains the folder @fd, searching upwards to the root of the file
 * system. @fd stays open. The files may belong to another user: symbolic links below .git are not
 * followed, only regular files are opened, only a well-formed revision and branch are accepted, and
 * root reads only a repository of its own. Call it only with the rights of the user. Returns 0, or
 * -ENOENT if there is no repository or it cannot be read.
 */
int git_read(int fd, struct git *g);
/* Checks data from a less privileged process: returns false if git_read() cannot produce @g. */
bool git_is_valid(const struct git *g);

#endif
