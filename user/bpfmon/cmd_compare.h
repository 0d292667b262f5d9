/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of compare. */
#ifndef BPFMON_CMD_COMPARE_H
#define BPFMON_CMD_COMPARE_H

#include "options/common_options.h"
#include "study/step.h"

#define MAX_FAIL_IF 32

struct compare_options {
	struct common_options common; /* its words: runs */
	bool force;
	struct filter_options filter;
	struct store_options store;
	const char *by, *baseline, *html; /* NULL: not given */
	const char *fail_if[MAX_FAIL_IF];
	size_t nr_fail_if;
	bool by_step, significant, all;
	enum step_kind steps; /* with by_step */
	enum print_format as;
};

/* Parsers of --fail-if and --by, of struct compare_options. */
int fail_if_parse(void *options, const char *text);
int compare_by_parse(void *options, const char *text);

/*
 * Read the runs to compare: those that are named, else those of the store that pass the filters;
 * with only a tag to group by, all of them. With --by span read their steps, too. A negative errno
 * after one line to the user.
 */
int compare_runs_read(struct sides *all, struct steps *steps, const struct compare_options *o);

#endif
