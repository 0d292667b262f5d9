// SPDX-License-Identifier: BSD-2-Clause
#include "study/distribution.h"

#include "text/compared_number.h"
#include "study/stats.h"

#include <errno.h>
#include <stdlib.h>

int distribution_make(struct distribution *d, const struct many_values *v, size_t metric,
		      size_t most)
{
	const struct compare_key key = compare_key(v->metrics.key[metric]);
	double *sorted = calloc(v->nr + 1, sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	*d = (struct distribution){ .key = key.name, .unit = key.unit };
	d->nr = many_values_known(v, metric, sorted);
	d->nr_absent = v->nr - d->nr;
	stats_sort(sorted, d->nr);
	if (d->nr) {
		d->least = sorted[0];
		d->q1 = stats_quantile(sorted, d->nr, 0.25);
		d->median = stats_quantile(sorted, d->nr, 0.5);
		d->q3 = stats_quantile(sorted, d->nr, 0.75);
		d->p95 = stats_quantile(sorted, d->nr, 0.95);
		d->most = sorted[d->nr - 1];
	}
	bins_make(&d->bins, sorted, d->nr, d->unit, most);
	free(sorted);
	return 0;
}

static void distribution_put(struct jsonw *j, const struct distribution *d, const char *key,
			     double v)
{
	if (d->nr)
		jsonw_double(j, key, number_as_measured(d->unit, v));
	else
		jsonw_null(j, key);
}

void distribution_json_bins(struct jsonw *j, const struct distribution *d)
{
	jsonw_string(j, "scale", d->bins.is_log ? "log" : "linear");
	jsonw_array(j, "bins");
	for (size_t i = 0; i < d->bins.nr; i++) {
		jsonw_object(j, NULL);
		jsonw_double(j, "from", d->bins.list[i].from);
		jsonw_double(j, "to", d->bins.list[i].to);
		jsonw_uint(j, "count", d->bins.list[i].count);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
}

void distribution_json(struct jsonw *j, const struct distribution *d)
{
	jsonw_object(j, NULL);
	jsonw_schema(j, "list-hist");
	jsonw_string(j, "metric", d->key);
	jsonw_uint(j, "count", d->nr);
	jsonw_uint(j, "absent", d->nr_absent);
	distribution_put(j, d, "min", d->least);
	distribution_put(j, d, "q1", d->q1);
	distribution_put(j, d, "median", d->median);
	distribution_put(j, d, "q3", d->q3);
	distribution_put(j, d, "p95", d->p95);
	distribution_put(j, d, "max", d->most);
	distribution_json_bins(j, d);
	jsonw_object_end(j);
	jsonw_newline(j);
}
