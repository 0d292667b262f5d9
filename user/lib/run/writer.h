/* SPDX-License-Identifier: BSD-2-Clause */
/* The public JSON Lines, one line of each kind: file format and wire format. */
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

/* A run stalls, or goes on. */
struct stall_event {
	uint64_t elapsed_ns; /* when, since the start of the run */
	bool is_stalled;     /* nothing has been done since @begun_ns; false: work goes on now */
	uint64_t begun_ns;   /* since the start of the run */
	const int32_t *pids; /* of some of its processes; NULL: they are not said */
	size_t nr_pids;
};

/* Each appends one line to @j. */
void write_meta(struct jsonw *j, const struct run *run);
void write_sample(struct jsonw *j, const struct run *run, const struct sample *s);
/* The same where no more is known of the run than when it began. */
void write_sample_since(struct jsonw *j, uint64_t start_epoch_ns, const struct sample *s);
void write_process(struct jsonw *j, const struct process *p);
void write_process_sample(struct jsonw *j, uint64_t start_epoch_ns, const struct process_sample *p);
/* An event that has nothing to say but its name, when, and how many. */
void write_event(struct jsonw *j, const struct run *run, uint64_t elapsed_ns, const char *event,
		 uint64_t count);
void write_stall(struct jsonw *j, const struct run *run, const struct stall_event *e);
/* An event that befell the cgroup that is followed. */
void write_cgroup_event(struct jsonw *j, const struct run *run, uint64_t elapsed_ns,
			const char *event, const char *path);
/* The CPU time of the cgroup itself is another than ours, at @smp. */
void write_cgroup_difference(struct jsonw *j, const struct run *run, const struct sample *smp,
			     const char *path);
/* An event that befell one process. */
void write_process_event(struct jsonw *j, const struct run *run, uint64_t elapsed_ns,
			 const char *event, int32_t pid, const char *reason);
void write_summary(struct jsonw *j, const struct summary *s);
void write_span(struct jsonw *j, const struct span *s);

/* The same with the id of the run as "run", for a stream of the lines of several runs. */
void write_node_sample(struct jsonw *j, const struct run *run, const struct sample *s);
void write_node_stall(struct jsonw *j, const struct run *run, const struct stall_event *e);
void write_node_summary(struct jsonw *j, const struct run *run, const struct summary *s);

/* An event of its own kind: a process that the kernel killed for lack of memory. */
void write_limit(struct jsonw *j, const struct run *run, const struct limit_hit *hit);
void write_oom(struct jsonw *j, const struct run *run, uint64_t elapsed_ns,
	       const struct oom_kill *k);

/* What programs push: the beginning of a phase, named by @text of @length bytes; */
void write_mark(struct jsonw *j, const struct run *run, uint64_t elapsed_ns, int32_t pid,
		const char *text, size_t length);
/* and a metric of their own, come when @elapsed_ns had passed. @pid 0: the process is not known. */
void write_point(struct jsonw *j, const struct run *run, uint64_t elapsed_ns, int32_t pid,
		 const struct point *p);

/* What lines of several kinds have in common, for those that write them. */

/* Epochs are published in microseconds. */
void epoch_write(struct jsonw *j, const char *key, uint64_t ns);
void metric_write(struct jsonw *j, enum metric_id id, uint64_t value);
void metrics_write(struct jsonw *j, const uint64_t *value, const struct metric_set *have);
/* The arguments of a process that has any, as a list. */
void args_write(struct jsonw *j, const char *key, const struct process *p);
/* Ends the line. */
void line_end(struct jsonw *j);

#endif
