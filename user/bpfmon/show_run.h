/* SPDX-License-Identifier: BSD-2-Clause */
/* What bpfmon show prints of a run. */
#ifndef BPFMON_SHOW_RUN_H
#define BPFMON_SHOW_RUN_H

#include "options/common_options.h"
#include "options/option_values.h"
#include "store/source.h"

struct show_options {
	struct common_options common; /* its word: the run */
	struct store_options store;
	enum { BY_NOTHING, BY_PHASE, BY_SPAN } by;
	bool each;
	enum print_format as;
	const char *template; /* NULL: it is not that */
	enum run_state state; /* of the run, filled in when it has been read */
};

/* Prints @s, the run that the options name, to stdout. 0, or a negative errno: see source_why(). */
int run_show(struct source *s, struct show_options *o);

#endif
