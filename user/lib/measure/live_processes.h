/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines about the live processes of a view: the heaviest, or all. */
#ifndef MEASURE_LIVE_PROCESSES_H
#define MEASURE_LIVE_PROCESSES_H

#include "measure/tally_view.h"
#include "run/process.h"

struct heaviest {
	const struct drain_row **rows; /* owned array; heaviest first */
	size_t nr, room;
};

/*
 * Sets @h->rows to the @most heaviest of @rows, which must be sorted by address space; equals are
 * sorted by PID. Ended processes and those without address space are left out. A shared address
 * space counts once, for its oldest process. Returns 0, or -ENOMEM with @h->rows empty.
 */
int heaviest_find(struct heaviest *h, const struct drain_row *const *rows, size_t nr_rows,
		  size_t most);
/* Replaces @lines with the @most heaviest processes at the sample of @v; 0: none. */
void heaviest_write(struct heaviest *h, struct tally_view *v, size_t most, struct jsonw *lines);
void heaviest_done(struct heaviest *h);

/*
 * Returns true if path and arguments of the process may be shown: always, unless others are hidden;
 * then only if the process has been the user's since its exec, as in /proc.
 */
bool tally_view_shows(const struct tally_view *v, const struct process_record *r);
/* Fills @p with the memory of the process of @row, and with its use of GPUs. */
void process_sample_take(struct process_sample *p, const struct tally_view *v,
			 const struct drain_row *row, uint64_t elapsed_ns);
/* Appends all live processes of the last drain to @lines. Returns their number. */
uint64_t live_processes_write(struct tally_view *v, bool shows_all, struct jsonw *lines);
/* Writes all live processes to each feed that wants them. */
void live_processes_publish(struct tally_view *v);

#endif
