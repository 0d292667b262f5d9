/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the public JSON Lines, one line of each kind: file format and wire format. */
#ifndef RUN_WRITER_H
#define RUN_WRITER_H

#include "base/json.h"
#include "run/line_protocol.h"
#include "run/meta.h"
#include "run/process.h"
#include "run/run.h"
#include "run/sample.h"
#include "run/span.h"
#include "run/summary.h"

/* A run stalls or resumes. */
struct stall_event {
	uint64_t elapsed_ns; /* time of the event, since the start of the run */
	bool is_stalled;     /* true: nothing was done since @begun_ns; false: work has resumed */
	uint64_t begun_ns;   /* since the start of the run */
	const int32_t *pids; /* some of its processes; NULL: not reported */
	size_t nr_pids;
};

/* Each function appends one line to @j. */
void write_meta(struct jsonw *j, const struct run *run);
void write_sample(struct jsonw *j, const struct run *run, const struct sample *s);
/* Writes a sample when only the start of the run is known. */
void write_sample_since(struct jsonw *j, uint64_t start_epoch_ns, const struct sample *s);
void write_process(struct jsonw *j, const struct process *p);
void write_process_sample(struct jsonw *j, uint64_t start_epoch_ns, const struct process_sample *p);
/* Writes an event that has only a name, a time and a count. */
void write_event(struct jsonw *j, const struct run *run, uint64_t elapsed_ns, const char *event,
		 uint64_t count);
void write_stall(struct jsonw *j, const struct run *run, const struct stall_event *e);
/* Writes an event of the tracked cgroup. */
void write_cgroup_event(struct jsonw *j, const struct run *run, uint64_t elapsed_ns,
			const char *event, const char *path);
/* Writes an event: the kernel's CPU time of the cgroup differs from that of bpfmon at @smp. */
void write_cgroup_difference(struct jsonw *j, const struct run *run, const struct sample *smp,
			     const char *path);
/* Writes an event of one process. */
void write_process_event(struct jsonw *j, const struct run *run, uint64_t elapsed_ns,
			 const char *event, int32_t pid, const char *reason);
void write_summary(struct jsonw *j, const struct summary *s);
void write_span(struct jsonw *j, const struct span *s);

/* Write lines with the id of the run as "run", for a stream with lines of several runs. */
void write_node_sample(struct jsonw *j, const struct run *run, const struct sample *s);
void write_node_stall(struct jsonw *j, const struct run *run, const struct stall_event *e);
void write_node_summary(struct jsonw *j, const struct run *run, const struct summary *s);

/* Write an event about an exceeded limit, and one about an OOM kill. */
void write_limit(struct jsonw *j, const struct run *run, const struct limit_hit *hit);
void write_oom(struct jsonw *j, const struct run *run, uint64_t elapsed_ns,
	       const struct oom_kill *k);

/* Writes a mark that a program pushed: the beginning of the phase @text of @length bytes. */
void write_mark(struct jsonw *j, const struct run *run, uint64_t elapsed_ns, int32_t pid,
		const char *text, size_t length);
/* Writes a metric that a program pushed at @elapsed_ns. @pid is 0 if the process is unknown. */
void write_point(struct jsonw *j, const struct run *run, uint64_t elapsed_ns, int32_t pid,
		 const struct point *p);

/* Parts that lines of several kinds have in common. */

/* Writes a time, published in microseconds. */
void epoch_write(struct jsonw *j, const char *key, uint64_t ns);
void metric_write(struct jsonw *j, enum metric_id id, uint64_t value);
void metrics_write(struct jsonw *j, const uint64_t *value, const struct metric_set *have);
/* Writes the arguments of a process, if it has any, as a list. */
void args_write(struct jsonw *j, const char *key, const struct process *p);
/* Writes "lossy" if a text was altered, and ends the line. */
void line_end(struct jsonw *j);

#endif
