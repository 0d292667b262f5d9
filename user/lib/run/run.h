/* SPDX-License-Identifier: BSD-2-Clause */
/* What is known of a run before its first sample: user, command, machine, usable metrics. */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include "run/meta.h"
#include "run/metric.h"

#include <sys/types.h>

#define MAX_TAGS 64
#define RUN_WORD_BYTES 4096 /* size of its name, its job and a tag "key=value", with the NUL */

/* Names in Kubernetes; NULL: unknown, or none. */
struct pod_names {
	char *namespace, *pod, *container;
};

/* What a job may use: the smallest limits of its cgroup and those above. 0: none, or unknown. */
struct job_bounds {
	uint64_t memory_max_bytes, cpu_max_milli;
	uint64_t cpu_request_milli; /* of a pod or its container */
};

/* Identity of a job of a node, by the rules of its agent. The texts are not owned. */
struct job_label {
	const char *id;     /* unique on the node: "slurm/815" */
	const char *kind;   /* "slurm" */
	const char *name;   /* name to display: "815" */
	const char *cgroup; /* path of its own cgroup; NULL: none */
	int64_t uid;        /* user that owns the job; -1: none */
	const char *user;   /* name of that user */
	/* of a batch job; NULL or empty: unknown */
	const char *account, *partition, *sluid;
	struct job_bounds bounds;
	uint64_t cgroup_id; /* of @cgroup, unique until the next boot; 0: unknown */
	const char *within; /* run of the job around it; NULL: of the node itself, or unknown */
	const struct pod_names *in_pod; /* NULL: none */
	bool is_adopted;                /* older than its agent: previous usage is excluded */
	bool is_nested;                 /* another job of the node includes its use */
};

struct run {
	char id[37];                /* random UUID */
	const char *name, *job;     /* not owned; NULL: not given */
	const char *note;           /* not owned; NULL: not given */
	const char *tags[MAX_TAGS]; /* "key=value" with unique keys; not owned */
	size_t nr_tags;
	char *const *command; /* not owned; NULL-terminated; NULL: omitted (--no-args) */
	char cwd[4096];
	char user[64]; /* caller of bpfmon, before sudo */
	uid_t uid;
	char host[256];
	char kernel[256];
	unsigned cpus;
	uint64_t memory_bytes;
	uint64_t start_epoch_ns;
	uint64_t interval_ns;
	char live_socket[110];    /* "@NAME" of the socket for the user to listen; empty: none */
	struct metric_set wanted; /* requested */
	struct metric_set usable; /* requested and available on this kernel */
	const char *unusable[NR_METRICS]; /* reason for an unavailable one; not owned */
	const char *no_oom_kills;  /* why OOM kills are not reported; not owned; NULL: they are */
	const char *no_exact_peak; /* why there is no exact peak; not owned; NULL: none */
	bool is_from_proc;         /* measured without BPF */
	bool is_altered;           /* by options for tests: values may be wrong */
	bool is_lossy;             /* a text had bytes that are not UTF-8 */
	bool is_attached;          /* to running processes; no command was run */
	const pid_t *targets;      /* attached processes, not owned; unless @cgroup is set */
	size_t nr_targets;
	const char *cgroup; /* path of the attached cgroup, not owned; NULL: processes were named */
	const char *hierarchy; /* "unified", or a controller of version 1 */
	const char *container; /* id of the attached container, not owned; NULL: none */
	const char *engine;
	uint64_t seed_ns;              /* time taken to find all processes of the attachment */
	uint64_t seeded_tasks;         /* number of tasks found */
	uint64_t baseline[NR_METRICS]; /* usage before the attachment, which is excluded */
	struct metric_set baseline_have;
	const struct job_label *of_node; /* not owned; NULL: not a job of a node */
	const struct meta *meta;         /* not owned; NULL: nothing more is known */
};

/* Sets what depends on the caller of bpfmon: cwd, host. */
void run_describe(struct run *run);
/* Sets what the collector determines: a new id, kernel, cpus, memory. */
void run_describe_machine(struct run *run);

#endif
