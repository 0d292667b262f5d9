/* SPDX-License-Identifier: BSD-2-Clause */
/* What threads wait for while they do not run: an enum value for each WAIT_METRIC. */
#ifndef RUN_WAITED_H
#define RUN_WAITED_H

#include "run/sample.h"

enum waited {
#define WAIT_METRIC(base, ...) W_##base,
#include "bpfmon/metrics.def"
	NR_WAITED
};

/* Returns the metric of the time spent waiting for @w. */
static inline enum metric_id waited_metric(enum waited w)
{
	return (enum metric_id)(M_wait_child + (int)w);
}

/* Returns "child" etc. */
const char *waited_word(enum waited w);

struct waited_share {
	enum waited what;
	unsigned share;
	uint64_t ns;
};

/*
 * Divides @whole in proportion to the times in @total, rounded to the same sum. Stores the reasons
 * with a share in @list, the largest first and W_wait_unseen last. Returns their number.
 */
size_t waited_divide(const struct sample *total, unsigned whole,
		     struct waited_share list[NR_WAITED]);

#endif
