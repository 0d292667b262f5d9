/* SPDX-License-Identifier: BSD-2-Clause */
/* An upper bound of a tree's memory peak, and the holders of its exact peak. */
#ifndef MEASURE_PEAK_H
#define MEASURE_PEAK_H

#include "bpfmon/shared.h"
#include "measure/task_rows.h"
#include "measure/tracker.h"
#include "run/process.h"
#include "run/summary.h"

/* How long a process held memory, and an upper bound of how much. */
struct holding {
	uint64_t start_ns, end_ns; /* from its birth until its memory was freed */
	uint64_t pages;
	uint64_t serial; /* of the process */
	uint64_t mm;     /* its last address space; 0: none */
	bool shares;     /* born into that address space, and has used no other */
	bool has_record;
	/* carried over: freed after the last drain of the previous interval began */
	bool is_carried;
};

struct holdings {
	struct holding *all; /* owned */
	size_t nr, room;
};

/* The upper bound of a tree's peak is the largest bound of all intervals between drains. */
struct memory_bound {
	struct holdings held;    /* of the present interval */
	struct holdings carried; /* from it into the next one; used while it ends */
	size_t nr_before;    /* entries of @held whose record came before the last drain began */
	uint64_t since_ns;   /* CLOCK_BOOTTIME, begin of the interval */
	uint64_t before_ns;  /* begin of the previous interval */
	uint64_t last_pages; /* largest sum in the previous interval */
	uint64_t peak_pages;
	bool is_unknown; /* an allocation failed: no bound */
	bool mark_fell;  /* a high-water mark is too low: no bound */
};

/* Adds a process that has ended and been freed in this interval. */
void memory_bound_ended(struct memory_bound *b, const struct process_record *r);
/* A drain begins: all processes freed by now have been reported. */
void memory_bound_drain(struct memory_bound *b);
/*
 * Ends the interval. @rows are the processes of the tree at @drain, which began at @drain_ns
 * (CLOCK_BOOTTIME). Records that came during the drain must have been reported before.
 */
void memory_bound_interval(struct memory_bound *b, const struct drain_row *const *rows,
			   size_t nr_rows, const struct rows *drain, uint64_t drain_ns);
/* Sets the bound in @sum. @reads_rss: memory is tracked at all. */
void memory_bound_report(const struct memory_bound *b, bool reads_rss, struct summary *sum);
void memory_bound_done(struct memory_bound *b);

/* A process that may have held memory at the exact peak. */
struct share {
	struct holder holder; /* rss_bytes is valid for the peak number @epoch */
	uint64_t epoch;
	uint64_t serial;
	uint64_t mm; /* key of its address space if it is alive, else 0 */
};

struct exact_peak {
	/* The processes that held memory at the tree's exact peak (--exact-peak). */
	struct share *shares;
	size_t nr, room;
	uint64_t epoch; /* newest epoch in a record of an ended process */
};

/*
 * Adds an ended process, unless its share is of an older peak. Returns 0, or -ENOMEM: it is not
 * listed.
 */
int exact_peak_ended(struct exact_peak *x, const struct process_record *r, const struct process *p);
/*
 * Adds a process that is still in the map; @mm is 0 if it has no address space. Returns as above.
 */
int exact_peak_left(struct exact_peak *x, const struct process_record *r, const struct process *p,
		    uint64_t mm);
/* Sets the exact peak and its holders in @s. Call after tracker_freeze_peak(). */
void exact_peak_finish(struct exact_peak *x, const struct tracker *t, uint64_t start_ns,
		       struct summary *s);
void exact_peak_done(struct exact_peak *x);

#endif
