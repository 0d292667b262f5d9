/* SPDX-License-Identifier: BSD-2-Clause */
/* The public JSON Lines, one line of each kind: file format and wire format. */
#ifndef RUN_WRITER_H
#define RUN_WRITER_H

#include "base/json.h"
#include "run/process.h"
#include "run/process_sample.h"
#include "run/run.h"
#include "run/sample.h"
#include "run/span.h"
#include "run/summary.h"
#include "run/line_protocol.h"

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
/* Nothing has been done since @begun_ns after the start; or it has been until now, and goes on. */
void write_stall(struct jsonw *j, const struct run *run, uint64_t elapsed_ns, bool is_stalled,
		 uint64_t begun_ns);
/* The same of one that is stalled, with @nr of its processes. */
void write_stalled(struct jsonw *j, const struct run *run, uint64_t elapsed_ns, uint64_t begun_ns,
		   const int32_t *pids, size_t nr);
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

#endif
