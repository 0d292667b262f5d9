/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of list. */
#ifndef BPFMON_CMD_LIST_H
#define BPFMON_CMD_LIST_H

#include "options/common_options.h"
#include "options/options.h"
#include "store/stores.h"
#include "study/values.h"

/* What list says of many runs together, in place of their table. */

enum many_what { MANY_NOTHING, MANY_HIST, MANY_SCATTER, MANY_UNUSUAL, MANY_TREND };

struct many_options {
	enum many_what what;         /* MANY_NOTHING: the table */
	struct many_metrics metrics; /* nr of 0: the usual ones of --unusual */
	double threshold;            /* 0: the usual one */
};

extern const struct option_row many_rows[];

/* Of rows: the metrics of --hist, --scatter, --unusual and --trend, for a struct many_options;
 * NULL: the usual ones. The last of these options holds. -EINVAL. */
int many_hist_parse(void *options, const char *text);
int many_scatter_parse(void *options, const char *text);
int many_unusual_parse(void *options, const char *text);
int many_trend_parse(void *options, const char *text);
/* The name that is spelt most like the first of a list of metrics that is none; NULL. */
const char *many_metrics_guess(const char *list);
/* Parses such a list. -EINVAL. */
int many_metrics_set(struct many_metrics *m, const char *text);
/* The values of the metrics, from the list and, where need be, the summaries; to be released in
 * any case. A negative errno after one line to the user. */
int many_read(struct many_values *v, const struct many_metrics *m, const struct stores *s,
	      const struct stored_runs *all);

#endif
