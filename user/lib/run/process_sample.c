// SPDX-License-Identifier: BSD-2-Clause
#include "run/process_sample.h"

void process_sample_metrics(struct metric_set *set)
{
	*set = (struct metric_set){ 0 };
	metric_put(set, M_cpu);
	metric_put(set, M_rss);
	metric_put(set, M_rss_anon);
	metric_put(set, M_swap);
}
