/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of `bpfmon compare`. */
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

#endif
