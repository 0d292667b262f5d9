/* SPDX-License-Identifier: BSD-2-Clause */
/* The files that an export writes: all of them, or none. */
#ifndef BPFMON_EXPORT_OUTPUTS_H
#define BPFMON_EXPORT_OUTPUTS_H

#include "export/export.h"
#include "bpfmon/roles/output.h"

/* One for each document of the format. */
struct export_outputs {
	struct output out[EXPORT_DOCUMENTS];
	char *path[EXPORT_DOCUMENTS]; /* owned */
	size_t nr;
};

/*
 * Opens them at @path ("-": stdout); @force replaces what is there. A negative errno after one line
 * to the user; export_outputs_close() in any case.
 */
int export_outputs_open(struct export_outputs *all, const struct export_format *as,
			const char *path, bool force);
/* Appends the run of @e. -EINTR, without a line: a signal came. Other errors were reported if
 * e->is_refused; else it is the run that cannot be read. */
int export_outputs_write(struct exporter *e, struct export_outputs *all,
			 const struct export_format *as);
/* Gives them their names when everything is on disk. A negative errno after one line. */
int export_outputs_commit(struct export_outputs *all);
/* Removes what has not been committed. */
void export_outputs_close(struct export_outputs *all);

#endif
