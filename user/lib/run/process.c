// SPDX-License-Identifier: BSD-2-Clause
#include "run/process.h"

void process_sample_metrics(struct metric_set *set)
{
	*set = (struct metric_set){ 0 };
	metric_put(set, M_cpu);
	metric_put(set, M_rss);
	metric_put(set, M_rss_anon);
	metric_put(set, M_swap);
}

void comm_read(char comm[COMM_TEXT_BYTES], const json_t *o)
{
	const char *text = json_string_value(json_object_get(o, "comm"));

	if (text)
		comm_copy(comm, text, SIZE_MAX);
}
