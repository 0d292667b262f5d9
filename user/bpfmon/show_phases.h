/* SPDX-License-Identifier: BSD-2-Clause */
/* bpfmon show --by phase. */
#ifndef BPFMON_SHOW_PHASES_H
#define BPFMON_SHOW_PHASES_H

#include "base/json.h"
#include "run/phase.h"
#include "store/source_phases.h"

/* The phases as a list in JSON, with the keys of metrics. */
void phases_json(struct jsonw *j, const struct phases *p);
/* What those of each name used together, and what cannot be told apart. -ENOMEM. */
int phase_sums_json(struct jsonw *j, const struct phases *p);

#endif
