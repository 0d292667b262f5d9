/* SPDX-License-Identifier: BSD-2-Clause */
/* What lines of several kinds have in common, for those that write them. */
#ifndef RUN_WRITER_PARTS_H
#define RUN_WRITER_PARTS_H

#include "base/json.h"
#include "run/meta.h"
#include "run/process.h"
#include "run/run.h"
#include "run/summary.h"

/* Epochs are published in microseconds. */
void epoch_write(struct jsonw *j, const char *key, uint64_t ns);
void metric_write(struct jsonw *j, enum metric_id id, uint64_t value);
void metrics_write(struct jsonw *j, const uint64_t *value, const struct metric_set *have);
/* Under the key "by"; nothing where there are none. */
void instances_write(struct jsonw *j, const struct sample *s);
/* The arguments of a process that has any, as a list. */
void args_write(struct jsonw *j, const char *key, const struct process *p);
void oom_write(struct jsonw *j, const struct oom_kill *k);
/* The further keys of the system; and limits, container, variables, revision, where there are any.
 */
void system_write(struct jsonw *j, const struct system_info *s);
void meta_write_all(struct jsonw *j, const struct meta *m);
/* The beginning of a line of the kind @kind; @run: the id of its run, in a stream of several; or
 * NULL.
 */
void kind_begin(struct jsonw *j, const char *kind, const char *run);
/* The beginning of a line of kind event. */
void event_begin(struct jsonw *j, const struct run *run, uint64_t elapsed_ns, const char *event);
/* Ends the line. */
void line_end(struct jsonw *j);

#endif
