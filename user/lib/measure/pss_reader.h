/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads PSS and USS of processes from /proc in a thread of its own: a read waits as long as the
 * target holds its mmap lock, and the event loop is not to wait for that.
 */
#ifndef MEASURE_PSS_READER_H
#define MEASURE_PSS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct smaps;

struct pss_reading {
	uint64_t pss_bytes, uss_bytes;
	uint64_t took_ns; /* also if the read failed */
};

/* An address space that is to be read. */
struct pss_item {
	uint64_t mm, serial, image;
	uint64_t pages; /* that a read walks over */
	pid_t pid;
	int64_t expected_ns;
	bool is_saved_for;
	/* Set when it is done: */
	bool is_read; /* else the budget did not suffice */
	int err;      /* of the read: 0, or a negative errno as of smaps_read() */
	struct pss_reading r;
};

/* What is to be read, in this order, within a budget of time. */
struct pss_list {
	struct pss_item *items; /* owned */
	size_t nr, nr_taken;
	int64_t budget_ns; /* what is left of it */
	int64_t saved_ns;  /* the part of it for the item that is saved for */
};

void pss_list_done(struct pss_list *l);
/* True if the budget suffices for @item. */
bool pss_list_affords(const struct pss_list *l, const struct pss_item *item);
/* What the read of @item costs: budget that was saved up but not needed would come upon the next
 * reads in a burst. */
int64_t pss_item_charge(const struct pss_item *item);
/* Takes the cost of @item, which has been read, from the budget. */
void pss_list_charge(struct pss_list *l, const struct pss_item *item);

struct pss_reader;

/* One without a thread yet. @read is smaps_read(); each call is made @delay_ns late, for tests. 0
 * or a negative errno. */
int pss_reader_make(struct pss_reader **reader, int (*read)(pid_t pid, struct smaps *out),
		    uint64_t delay_ns);
/* Starts its thread, which has the rights that the caller has now, unless it has one. 0 or a
 * negative errno. */
int pss_reader_start(struct pss_reader *r);
/* A descriptor that is readable when all of the list is done; owned by @r. */
int pss_reader_fd(const struct pss_reader *r);
/* Begins to read @l, which is the reader's from then on. All of the last list is done. */
void pss_reader_hand(struct pss_reader *r, const struct pss_list *l);
/*
 * The list, of which the first *@nr_done items are done and may be looked at, and @nr_taken is the
 * caller's. Until the next pss_reader_hand().
 */
struct pss_list *pss_reader_look(struct pss_reader *r, size_t *nr_done);
/* For how long the read that is under way has taken by now, in ns; 0: there is none. */
uint64_t pss_reader_busy_ns(struct pss_reader *r);
/*
 * Ends the thread: at once if it is idle; else when the read that is under way has ended, for which
 * the caller does not wait. Its descriptor ends with it. NULL is allowed.
 */
void pss_reader_leave(struct pss_reader *r);

#endif
