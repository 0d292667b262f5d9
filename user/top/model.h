/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of a run in top, built from its lines in order, with its history, so that any past
 * moment can be shown. Memory is bounded: older points are coarser, and processes that ended long
 * ago are kept only in sums.
 */
#ifndef TOP_MODEL_H
#define TOP_MODEL_H

#include "run/metric.h"
#include "run/reader.h"
#include "run/stall_state.h"
#include "text/summary_lines.h"

#include <jansson.h>
#include <sys/types.h>

/* Metrics of a process that the columns of top need. */
enum measure {
	/* counters, which remain in the sums of the parent after an exit */
	MEASURE_CPU,
	MEASURE_USER,
	MEASURE_SYSTEM,
	MEASURE_RUNQUEUE,
	MEASURE_MINFLT,
	MEASURE_MAJFLT,
	MEASURE_NVCSW,
	MEASURE_NIVCSW,
	MEASURE_RCHAR,
	MEASURE_WCHAR,
	MEASURE_READ,
	MEASURE_WRITE,
	MEASURE_GPU,
	/* gauges, of live processes only */
	MEASURE_RSS,
	MEASURE_SWAP,
	MEASURE_THREADS,
	MEASURE_GPU_MEMORY,
	NR_MEASURES
};

#define MEASURE_FIRST_GAUGE MEASURE_RSS

struct usage {
	uint64_t value[NR_MEASURES];
	uint32_t have; /* bit set; values of absent measures are 0 */
};

static inline bool usage_has(const struct usage *u, enum measure m)
{
	return u->have >> m & 1;
}

enum metric_id measure_metric(enum measure m);
/* Sets @u to the measures that @have contains. */
void usage_from_metrics(struct usage *u, const uint64_t *value, const struct metric_set *have);
/* Add counters and gauges, or counters only. */
void usage_add(struct usage *to, const struct usage *u);
void usage_add_counters(struct usage *to, const struct usage *u);
/* Adds the growth of counters from @earlier to @later. */
void usage_add_growth(struct usage *to, const struct usage *later, const struct usage *earlier);

#define MODEL_NEVER INT64_MAX
#define MODEL_TEXT_BYTES 256
#define MAX_NOTES 64 /* the latest events */

/* Resources of a process at a sample. */
struct point {
	int64_t at_ns;
	struct usage used;
};

struct task {
	int32_t pid, ppid;
	uint32_t uid;
	bool has_uid;
	bool has_ended;      /* has a record, or was missing in a sample of all live processes */
	bool has_record;     /* @last is exact */
	bool is_sampled_all; /* from a feed that samples all live processes */
	char comm[COMM_TEXT_BYTES];
	uint32_t program; /* index in the table of programs */
	uint32_t parent;  /* index + 1; 0 if unknown or outside of the run */
	uint32_t next;    /* index + 1 of the next task of the same hash */
	int64_t start_ns,
		end_ns; /* since the start of the run; @end_ns is MODEL_NEVER before the exit */
	int exit_code, signal;
	uint64_t start_epoch_ns, span, rss_peak_bytes;
	uint32_t threads_total, execs;
	char *args;           /* owned, separated by blanks; may be NULL */
	struct usage last;    /* from the record, else from the latest sample */
	struct usage folded;  /* of descendants that were dropped */
	struct point *points; /* owned */
	uint32_t nr_points, room_points;
};

/* A program by its path, and what its dropped processes used. */
struct program_name {
	char *name; /* owned */
	struct usage folded;
	uint64_t nr_folded;
};

struct moment {
	int64_t at_ns;
	struct usage total;
	uint64_t processes, cores;                /* thousandths in use */
	uint64_t gpus_held, gpus_idle, gpus_used; /* the last one in thousandths */
	bool has_gpus_used;
	uint64_t gpu_power_mw; /* 0: unknown */
};

struct note {
	int64_t at_ns;
	char text[MODEL_TEXT_BYTES];
};

struct model_span {
	uint64_t id, parent;
	int32_t pid;
	bool in_place;
	char *name; /* owned */
	int64_t start_ns, end_ns;
	struct usage used;
};

struct model {
	bool has_meta, has_summary;
	bool has_gpus; /* some process has used a GPU */
	uint64_t start_epoch_ns, interval_ns;
	char name[MODEL_TEXT_BYTES], command[MODEL_TEXT_BYTES], host[MODEL_TEXT_BYTES];
	char user[64], uuid[40], live_socket[110];
	uint64_t cpus, memory_bytes, cpu_limit, memory_limit_bytes; /* @cpu_limit in thousandths */
	uint64_t cores_available;                                   /* thousandths; 0 if unknown */
	struct task *tasks;
	size_t nr_tasks, room_tasks;
	uint32_t *hash; /* owned; by pid */
	size_t hash_size;
	size_t nr_points;
	struct program_name *programs;
	size_t nr_programs, room_programs;
	struct moment *moments; /* in time order */
	size_t nr_moments, room_moments;
	struct model_span *spans;
	size_t nr_spans, room_spans;
	struct note notes[MAX_NOTES];
	size_t nr_notes;          /* events so far, including overwritten ones */
	struct stall_state stall; /* by the last event about it */
	int64_t stall_at_ns;      /* time of that event */
	struct usage folded;      /* of dropped processes without a parent in @tasks */
	int64_t from_ns;          /* before this time some processes that lived then are missing */
	int64_t now_ns;           /* time of the latest line */
	int exit_code, signal;
	bool has_status, is_complete;
	char ended_by[LIMIT_TEXT]; /* limit for which the run was ended, or "" */
	char ended[RUN_END_BYTES]; /* how else it ended, or "" */
	struct stalls stalls;
	char slowdown[2 * MODEL_TEXT_BYTES]; /* what slowed it down, once it has ended, or "" */
	uint64_t unreadable;
	size_t most_tasks, most_points; /* bounds; smaller in tests */
	uint64_t version;               /* incremented by each line that changed the model */
};

void model_init(struct model *m);
void model_done(struct model *m);
/*
 * Adds a line to the model. Returns 0, -ENOMEM, or -EBADMSG or -EPROTONOSUPPORT if the line should
 * be a meta line of this schema.
 */
int model_take(struct model *m, struct line *l);
/* Returns the index of the process, or -1. Start times have whole microseconds. */
ssize_t model_find(const struct model *m, int32_t pid, uint64_t start_epoch_ns);
/* Sets the parents of tasks that have become known. */
void model_link(struct model *m);
/* Returns the index of the last moment at or before @at_ns, or SIZE_MAX. */
size_t model_moment_at(const struct model *m, int64_t at_ns);
/* Returns the last point of the task at or before @at_ns, or NULL. */
const struct point *task_point_at(const struct task *t, int64_t at_ns);
/*
 * Returns the time since which the CPU time of the task has not grown up to @at_ns, or MODEL_NEVER
 * if unknown.
 */
int64_t task_idle_since(const struct task *t, int64_t at_ns);
bool task_lives_at(const struct task *t, int64_t at_ns);

/* In tasks.c: add a task and store its index; add a point to a task. Return 0 or -ENOMEM. */
int tasks_add(struct model *m, int32_t pid, uint64_t start_epoch_ns, size_t *index);
int task_add_point(struct model *m, struct task *t, int64_t at_ns, const struct usage *used);
/* Finds or adds the program @name and stores its index. Returns 0 or -ENOMEM. */
int programs_find(struct model *m, const char *name, uint32_t *index);

#endif
