/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of `bpfmon list`. */
#ifndef BPFMON_CMD_LIST_H
#define BPFMON_CMD_LIST_H

#include "options/common_options.h"
#include "options/options.h"
#include "store/stores.h"
#include "study/values.h"

/* What `list` prints about all runs together, in place of the table. */

enum many_what { MANY_NOTHING, MANY_HIST, MANY_SCATTER, MANY_UNUSUAL, MANY_TREND };

struct many_options {
	enum many_what what;         /* MANY_NOTHING: the table */
	struct many_metrics metrics; /* nr == 0: the default metrics of --unusual */
	double threshold;            /* 0: the default */
};

extern const struct option_row many_rows[];

/*
 * Parsers of the metrics of --hist, --scatter, --unusual and --trend; @options is a struct
 * many_options. A NULL @text selects the default metrics. The last of these options wins. Return 0
 * or -EINVAL.
 */
int many_hist_parse(void *options, const char *text);
int many_scatter_parse(void *options, const char *text);
int many_unusual_parse(void *options, const char *text);
int many_trend_parse(void *options, const char *text);
/* Parses the order of --sort; @options is a struct list_options. Returns 0 or -EINVAL. */
int list_order_parse(void *options, const char *text);
/* Parses a list of metrics. Returns 0 or -EINVAL. */
int many_metrics_set(struct many_metrics *m, const char *text);
/*
 * Reads the values of the metrics from the list of runs and, where needed, from the summaries. The
 * caller releases @v in any case. Returns 0, or a negative errno after a message to the user.
 */
int many_read(struct many_values *v, const struct many_metrics *m, const struct stores *s,
	      const struct stored_runs *all);

#endif
