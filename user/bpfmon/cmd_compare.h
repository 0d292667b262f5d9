/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of `bpfmon compare`, and how it reads runs. */
#ifndef BPFMON_CMD_COMPARE_H
#define BPFMON_CMD_COMPARE_H

#include "bpfmon/gates.h"
#include "options/common_options.h"
#include "study/step.h"

struct compare_options {
	struct common_options common; /* common.words: the runs */
	bool force;
	struct filter_options filter;
	struct store_options store;
	const char *by, *baseline, *html; /* NULL if not given */
	struct fail_if fail_if;
	bool by_step, significant, all;
	enum step_kind steps; /* if by_step */
	enum print_format as;
};

/* Parser of --by; @options is a struct compare_options. */
int compare_by_parse(void *options, const char *text);

/*
 * Reads the runs to compare: the named ones, else those of the store that match the filters, or all
 * runs if only a tag to group by is given. With --by span also reads their steps. *@has_history is
 * set if they are all runs of a name, the last of which is to be judged. Returns 0, or a negative
 * errno after a message to the user.
 */
int compare_runs_read(struct sides *all, struct steps *steps, const struct compare_options *o,
		      bool *has_history);

#endif
