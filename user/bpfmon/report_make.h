/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of `bpfmon report`: one run as a page or a picture. */
#ifndef BPFMON_REPORT_MAKE_H
#define BPFMON_REPORT_MAKE_H

#include "options/common_options.h"
#include "bpfmon/report_many.h"
#include "page/figure.h"

#include <stdio.h>

struct report_options;

struct report_format {
	const char *name; /* as it is typed, and as its files end */
	bool is_picture;
	int (*write)(FILE *f, struct report_run *r, const struct report_options *o,
		     const char *label);
};

struct report_options {
	struct common_options common; /* its word: the run */
	bool force, quiet;
	const char *path, *format; /* NULL: not given */
	const char *panel;         /* the name of a chart; NULL: all */
	struct figure_layout layout;
	struct store_options store;
	struct report_many_options many;
};

/* For a row of options. -EINVAL: there is no such format. */
int report_format_parse(void *name, const char *text);
/*
 * The one that is named; else the one by which the path ends; else the page, or of a part of it the
 * picture. NULL after one line to the user.
 */
const struct report_format *report_choose_format(const struct report_options *o);
/* Reads the run, and writes the report to its file. A negative errno, reported to the user. */
int report_make(const struct report_options *o, const struct report_format *format);

#endif
