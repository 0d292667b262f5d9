/* SPDX-License-Identifier: BSD-2-Clause */
/* What each phase of a run used, for a report. */
#ifndef REPORT_PHASES_H
#define REPORT_PHASES_H

#include "base/json.h"
#include "model/phase.h"

#define PHASES_SHOWN 1000 /* the first ones */

/* Adds the metrics that are shown of a phase to @set: no others need be read. */
void phases_add_metrics(struct metric_set *set);
/*
 * "phases":{"total":...,"left_out":...,"fields":[...],"rows":[[...]]}, the values of a row in the
 * order of the fields; nothing if the command set no mark.
 */
void phases_write(const struct phases *p, struct jsonw *j);

#endif
