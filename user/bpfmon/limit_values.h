/* SPDX-License-Identifier: BSD-2-Clause */
/* Limits as they are written: [process.|span.]KEY<VALUE, as in rss<2GiB, process.cpu<1h. */
#ifndef BPFMON_LIMIT_VALUES_H
#define BPFMON_LIMIT_VALUES_H

#include "run/limit.h"

struct limit_texts {
	const char *text[MAX_LIMITS]; /* not owned */
	bool is_soft[MAX_LIMITS];
	unsigned nr;
};

/* Of options: struct limit_texts. -E2BIG: there are too many. */
int limit_hard_parse(void *texts, const char *text);
int limit_soft_parse(void *texts, const char *text);
/*
 * Reads all of them into @limits (MAX_LIMITS); @has are the metrics that the run records. -EINVAL
 * after one line to the user.
 */
int limits_resolve(struct limit *limits, const struct limit_texts *texts,
		   const struct metric_set *has);

#endif
