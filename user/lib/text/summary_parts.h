/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the summary's text have in common. */
#ifndef TEXT_SUMMARY_PARTS_H
#define TEXT_SUMMARY_PARTS_H

#include "run/summary.h"

/* Whether the total of the metric was read. */
static inline bool summary_has_total(const struct summary *s, enum metric_id id)
{
	return sample_has(&s->total, id);
}

#endif
