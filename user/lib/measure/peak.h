/* SPDX-License-Identifier: BSD-2-Clause */
/* The upper bound of a tree's peak: it cannot have held more memory. */
#ifndef MEASURE_PEAK_H
#define MEASURE_PEAK_H

#include "bpfmon/shared.h"
#include "measure/task_rows.h"
#include "measure/tracker.h"
#include "run/process.h"
#include "run/summary.h"

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

/* Collects how much each process held at the tree's exact peak. */

/* A process that may have held something at the peak. */
struct share {
	struct holder holder; /* rss_bytes: at peak number epoch */
	uint64_t epoch;
	uint64_t serial;
	uint64_t mm; /* key of its address space, if it is alive */
};

struct exact_peak {
	struct share *shares; /* owned */
	size_t nr, room;
	uint64_t epoch; /* the newest in the record of an ended process */
};

/*
 * Adds the record of an ended process. What it held at an older peak than the newest is ignored.
 * -ENOMEM: it will not be listed.
 */
int exact_peak_ended(struct exact_peak *x, const struct process_record *r, const struct process *p);
/* Adds a process that is still in the map; @mm 0: it has none any more. -ENOMEM as above. */
int exact_peak_left(struct exact_peak *x, const struct process_record *r, const struct process *p,
		    uint64_t mm);
/* After tracker_freeze_peak(): sets the exact peak of @s, and the processes that held it. */
void exact_peak_finish(struct exact_peak *x, const struct tracker *t, uint64_t start_ns,
		       struct summary *s);
void exact_peak_done(struct exact_peak *x);

#endif
