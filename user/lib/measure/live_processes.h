/* SPDX-License-Identifier: BSD-2-Clause */
/* The live processes of a view, as lines: those that hold the most memory, or all. */
#ifndef MEASURE_LIVE_PROCESSES_H
#define MEASURE_LIVE_PROCESSES_H

#include "measure/tally_view.h"
#include "run/process.h"

struct heaviest {
	const struct drain_row **rows; /* owned, what they point to is not; the heaviest first */
	size_t nr, room;
};

/*
 * Sets @h->rows to the @most heaviest of @rows, which are sorted by address space; of equals the
 * lower PID comes first. Processes that have ended, or have no address space, are left out. A
 * shared address space counts once, for its oldest process. -ENOMEM: @h->rows is empty.
 */
int heaviest_find(struct heaviest *h, const struct drain_row *const *rows, size_t nr_rows,
		  size_t most);
/* Writes to @lines, emptied first, the @most that held the most at the sample of @v; 0: none. */
void heaviest_write(struct heaviest *h, struct tally_view *v, size_t most, struct jsonw *lines);
void heaviest_done(struct heaviest *h);

/*
 * Whether path and arguments of that process may be shown. If others are hidden, those are which
 * /proc shows to the calling user: of processes that are that user's since their exec.
 */
bool tally_view_shows(const struct tally_view *v, const struct process_record *r);
/* Sets what the process of @row holds, at the sample of @elapsed_ns. */
void process_sample_take(struct process_sample *p, const struct tally_view *v,
			 const struct drain_row *row, uint64_t elapsed_ns);
/* Appends all live processes of the last drain to @lines. Returns their number. */
uint64_t live_processes_write(struct tally_view *v, bool shows_all, struct jsonw *lines);
/* Writes them to each feed that wants them, for the sample of @v. */
void live_processes_publish(struct tally_view *v);

#endif
