/* SPDX-License-Identifier: BSD-2-Clause */
/* What lines of several kinds have in common, for those that write them. */
#ifndef WIRE_PARTS_H
#define WIRE_PARTS_H

#include "base/json.h"
#include "model/meta.h"
#include "model/run.h"
#include "model/summary.h"

/* Epochs are published in microseconds. */
void put_epoch(struct json *j, const char *key, uint64_t ns);
void put_metric(struct json *j, enum metric_id id, uint64_t value);
void put_metrics(struct json *j, const uint64_t *value, const struct metric_set *have);
void put_oom(struct json *j, const struct oom_kill *k);
/* The further keys of the system; and limits, container, variables, revision, where there are any.
 */
void put_system(struct json *j, const struct system_info *s);
void put_meta(struct json *j, const struct meta *m);
/* The beginning of a line of kind event. */
void put_event(struct json *j, const struct run *run, uint64_t elapsed_ns, const char *event);
/* Ends the line. */
void put_end(struct json *j);

#endif
