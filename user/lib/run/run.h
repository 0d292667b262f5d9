/* SPDX-License-Identifier: BSD-2-Clause */
/* What is known of a run before its first sample: user, command, machine, and usable metrics.
 */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include "run/meta.h"
#include "run/metric.h"

#include <sys/types.h>

#define MAX_TAGS 64
#define RUN_WORD_BYTES 4096 /* of its name, its job, and a tag "key=value", with the NUL */

/* What a job of a node is, by the rules of its agent. The texts are not owned. */
struct job_label {
	const char *id;     /* unique on the node: "slurm/815" */
	const char *kind;   /* "slurm" */
	const char *name;   /* for people: "815" */
	const char *cgroup; /* its path; NULL: it has none of its own */
	int64_t uid;        /* of the user that it is of; -1: none */
	const char *user;   /* the name of that */
	bool is_adopted;    /* it was there before its agent: what it used before does not count */
};

struct run {
	char id[37];                /* a random UUID */
	const char *name, *job;     /* not owned; NULL: none was given */
	const char *note;           /* the same */
	const char *tags[MAX_TAGS]; /* "key=value", the keys are unique; not owned */
	size_t nr_tags;
	char *const *command; /* not owned; NULL-terminated; NULL: left out (--no-args) */
	char cwd[4096];
	char user[64]; /* that called bpfmon, before sudo */
	uid_t uid;
	char host[256];
	char kernel[256];
	unsigned cpus;
	uint64_t memory_bytes;
	uint64_t start_epoch_ns;
	uint64_t interval_ns;
	char live_socket[110];    /* "@NAME": where its user can listen to it; empty: nowhere */
	struct metric_set wanted; /* asked for */
	struct metric_set usable; /* asked for, and this kernel has it */
	const char *unusable[NR_METRICS]; /* why not; not owned */
	const char *no_oom_kills;         /* why they are not reported, not owned; NULL: they are */
	const char *no_exact_peak;        /* the same, if it was asked for */
	bool is_from_proc;                /* without BPF */
	bool is_altered;                  /* by options for tests: its values may be wrong */
	bool is_lossy;                    /* a text of it had bytes that are not UTF-8 */
	bool is_attached;                 /* to running processes; no command was run */
	const pid_t *targets;             /* processes, not owned; or: */
	size_t nr_targets;
	const char *cgroup;    /* its path, not owned; NULL: processes were named */
	const char *hierarchy; /* "unified", or a controller of version 1 */
	const char *container; /* its id, not owned; NULL: none was named */
	const char *engine;
	uint64_t seed_ns;              /* how long it took to find all their processes */
	uint64_t seeded_tasks;         /* how many these were */
	uint64_t baseline[NR_METRICS]; /* what they had used before, which does not count */
	struct metric_set baseline_have;
	const struct job_label *of_node; /* not owned; NULL: it is no job of a node */
	const struct meta *meta;         /* not owned; NULL: nothing more is known */
};

/* Sets where the caller of bpfmon is: cwd, host. */
void run_describe(struct run *run);
/* Sets what the collector finds out by itself: a new id, kernel, cpus, memory. */
void run_describe_machine(struct run *run);

#endif
