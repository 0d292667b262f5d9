/* SPDX-License-Identifier: BSD-2-Clause */
/* bpfmon report --many: all runs that pass filters, as one page. */
#ifndef BPFMON_REPORT_MANY_H
#define BPFMON_REPORT_MANY_H

#include "options/common_options.h"
#include "store/stores.h"
#include "study/values.h"

struct report_many_options {
	bool is_given;
	struct many_metrics metrics;
	struct filter_options filter;
};

extern const struct option_row report_many_rows[];

/* Of a row: the metrics, for a struct report_many_options; NULL: the usual ones. -EINVAL. */
int report_many_parse(void *options, const char *text);
/* Takes the words after the options as what is searched for. -EINVAL after one line to the user. */
int report_many_take_words(struct report_many_options *o, char **words);
/* Makes the page, in memory: *@text, to be freed in any case. A negative errno after one line to
 * the user. */
int report_many_make(const struct report_many_options *o, const struct store_options *store,
		     char **text, size_t *length);

#endif
