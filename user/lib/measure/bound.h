/* SPDX-License-Identifier: BSD-2-Clause */
/* The upper bound of a tree's peak: it cannot have held more memory. */
#ifndef MEASURE_BOUND_H
#define MEASURE_BOUND_H

#include "run/summary.h"
#include "measure/task_rows.h"

/* The time in which a process held memory, and an upper bound of how much. */
struct holding {
	uint64_t start_ns, end_ns; /* from its birth until its memory was freed */
	uint64_t pages;
	uint64_t serial; /* of the process */
	uint64_t mm;     /* the address space that it used last; 0: none */
	bool shares;     /* it was born into that one, and has had no other */
	bool is_told;    /* its record has come */
	bool is_carried; /* from the interval before: freed after that one's last drain began */
};

struct holdings {
	struct holding *all; /* owned */
	size_t nr, room;
};

/* The upper bound of a tree's peak: in no interval can it have held more than this. */
struct memory_bound {
	struct holdings held;    /* of the interval under way */
	struct holdings carried; /* from it into the next one; in use while it ends */
	size_t nr_before;        /* of those with a record that came before the last drain began */
	uint64_t since_ns;       /* CLOCK_BOOTTIME: when the interval began */
	uint64_t before_ns;      /* when the one before it did */
	uint64_t last_pages;     /* the largest sum in that */
	uint64_t peak_pages;
	bool is_unknown; /* an allocation failed: there is no bound */
	bool mark_fell;  /* the mark of a process was reset: there is no bound */
};

/* A process that has ended, and been freed, in this interval. */
void memory_bound_ended(struct memory_bound *b, const struct process_record *r);
/* A drain begins: the records of processes freed by now have been reported. */
void memory_bound_drain(struct memory_bound *b);
/*
 * Ends the interval: @rows are the processes at @drain, which began at @drain_ns (CLOCK_BOOTTIME).
 * The records that came during that drain must have been reported before this.
 */
void memory_bound_interval(struct memory_bound *b, const struct drain_row *const *rows,
			   size_t nr_rows, const struct rows *drain, uint64_t drain_ns);
/* Sets in @sum what is known of the peak; @reads_rss: memory is followed at all. */
void memory_bound_report(const struct memory_bound *b, bool reads_rss, struct summary *sum);
void memory_bound_done(struct memory_bound *b);

#endif
