/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run as top has it: made of the lines of a file or feed, one after the other, and kept with its
 * history, so that any past moment can be shown again. What it keeps is bounded: the
 * older, the coarser, and processes that ended long ago are only in sums.
 */
#ifndef TOP_MODEL_H
#define TOP_MODEL_H

#include "run/metric.h"
#include "run/reader.h"

#include <jansson.h>
#include <sys/types.h>

/* The metrics of a process that the columns of top need. */
enum measure {
	/* counters, which a parent's sum keeps when the process has ended */
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
	/* gauges, of live ones only */
	MEASURE_RSS,
	MEASURE_SWAP,
	MEASURE_THREADS,
	NR_MEASURES
};

#define MEASURE_FIRST_GAUGE MEASURE_RSS

struct usage {
	uint64_t value[NR_MEASURES];
	uint32_t have; /* a bit for each; without it the value is 0 */
};

static inline bool usage_has(const struct usage *u, enum measure m)
{
	return u->have >> m & 1;
}

enum metric_id measure_metric(enum measure m);
/* Sets the measures that are among the metrics. */
void usage_take(struct usage *u, const uint64_t *value, const struct metric_set *have);
/* Adds counters and gauges, or counters only. */
void usage_add(struct usage *to, const struct usage *u);
void usage_add_counters(struct usage *to, const struct usage *u);
/* Adds by how much the counters of @later are above those of @earlier, if they are. */
void usage_add_growth(struct usage *to, const struct usage *later, const struct usage *earlier);

#define MODEL_NEVER INT64_MAX
#define MODEL_TEXT_BYTES 256
#define MAX_NOTES 64 /* events; the last ones stay */

/* What a process had at a sample. */
struct point {
	int64_t at_ns;
	struct usage used;
};

struct task {
	int32_t pid, ppid;
	uint32_t uid;
	bool has_uid;
	bool has_ended;      /* it has a record, or was not there at two samples of all */
	bool has_record;     /* what @last has is exact */
	bool is_sampled_all; /* its samples are of a feed that has all live processes */
	char comm[COMM_TEXT_BYTES];
	uint32_t program;         /* of the table of programs */
	uint32_t parent;          /* index + 1; 0: not known, or outside of the run */
	uint32_t next;            /* the next of the same hash, index + 1 */
	int64_t start_ns, end_ns; /* since the run's start; MODEL_NEVER: it has not ended */
	int exit_code, signal;
	uint64_t start_epoch_ns, span, rss_peak_bytes;
	uint32_t threads_total, execs;
	char *args;           /* owned, with blanks between them; NULL: not known */
	struct usage last;    /* of its record, else of its last sample */
	struct usage folded;  /* of descendants that are not kept any more */
	struct point *points; /* owned */
	uint32_t nr_points, room_points;
};

/* A program by its path; of processes that are not kept any more, what they used. */
struct program_name {
	char *name; /* owned */
	struct usage folded;
	uint64_t nr_folded;
};

struct moment {
	int64_t at_ns;
	struct usage total;
	uint64_t processes, cores; /* thousandths */
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
	uint64_t start_epoch_ns, interval_ns;
	char name[MODEL_TEXT_BYTES], command[MODEL_TEXT_BYTES], host[MODEL_TEXT_BYTES];
	char user[64], uuid[40], live_socket[110];
	uint64_t cpus, memory_bytes, cpu_limit, memory_limit_bytes; /* cpu_limit: thousandths */
	struct task *tasks;
	size_t nr_tasks, room_tasks;
	uint32_t *hash; /* owned; of pid */
	size_t hash_size;
	size_t nr_points;
	struct program_name *programs;
	size_t nr_programs, room_programs;
	struct moment *moments; /* by time */
	size_t nr_moments, room_moments;
	struct model_span *spans;
	size_t nr_spans, room_spans;
	struct note notes[MAX_NOTES];
	size_t nr_notes;     /* ever */
	struct usage folded; /* of processes that had no parent here */
	int64_t from_ns;     /* before it some that lived then are not kept */
	int64_t now_ns;      /* of the last line */
	int exit_code, signal;
	bool has_status, is_complete;
	char ended_by[LIMIT_TEXT]; /* the limit for which the run was ended; "": none */
	uint64_t unreadable;
	size_t most_tasks, most_points; /* bounds; tests have smaller ones */
	uint64_t version;               /* grows with each line that changed something */
};

void model_init(struct model *m);
void model_done(struct model *m);
/* Adds a line to the model. Returns 0, -ENOMEM, or -EBADMSG or -EPROTONOSUPPORT if the line should
 * be the meta line of this schema. */
int model_take(struct model *m, struct line *l);
/* Returns the index of the process with this start; -1 if there is none. Times have whole
 * microseconds. */
ssize_t model_find(const struct model *m, int32_t pid, uint64_t start_epoch_ns);
/* Sets the parents of tasks that have become known. */
void model_link(struct model *m);
/* Returns the last moment at or before @at_ns; SIZE_MAX if there is none. */
size_t model_moment_at(const struct model *m, int64_t at_ns);
/* Returns the last point of the task at or before @at_ns; NULL if there is none. */
const struct point *task_point_at(const struct task *t, int64_t at_ns);
/* Returns since when the CPU time of the task has not grown, up to @at_ns; MODEL_NEVER if not
 * known. */
int64_t task_idle_since(const struct task *t, int64_t at_ns);
bool task_lives_at(const struct task *t, int64_t at_ns);

/* Of tasks.c: adds a task, whose index is *@index; adds a point to one. Returns 0 or -ENOMEM. */
int tasks_add(struct model *m, int32_t pid, uint64_t start_epoch_ns, size_t *index);
int task_add_point(struct model *m, struct task *t, int64_t at_ns, const struct usage *used);
/* Sets *@index to that of the program with this name. Returns 0 or -ENOMEM. */
int programs_find(struct model *m, const char *name, uint32_t *index);

#endif
