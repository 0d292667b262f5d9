/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads PSS and USS from /proc in a thread, because a read blocks while the target holds its mmap
 * lock.
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
	uint64_t took_ns; /* also of a failed read */
};

struct pss_item {
	uint64_t mm, serial, image;
	uint64_t pages; /* its size */
	pid_t pid;
	int64_t expected_ns;
	bool is_saved_for;
	/* Results: */
	bool is_read; /* false: the budget did not suffice */
	int err;      /* 0, or a negative errno of smaps_read() */
	struct pss_reading r;
};

/* Address spaces to read in order within a time budget. */
struct pss_list {
	struct pss_item *items; /* owned */
	size_t nr, nr_taken;
	int64_t budget_ns; /* remaining */
	int64_t saved_ns;  /* the part reserved for the item with is_saved_for */
};

void pss_list_done(struct pss_list *l);
bool pss_list_affords(const struct pss_list *l, const struct pss_item *item);
/*
 * Returns the cost of the read of @item: the time it took. If budget was saved up for it, at least
 * the expected time, or later reads would spend the rest in a burst.
 */
int64_t pss_item_charge(const struct pss_item *item);
void pss_list_charge(struct pss_list *l, const struct pss_item *item);

struct pss_reader;

/*
 * Creates a reader without thread. @read is smaps_read(). Each call is delayed by @delay_ns, for
 * tests. Returns 0 or a negative errno.
 */
int pss_reader_make(struct pss_reader **reader, int (*read)(pid_t pid, struct smaps *out),
		    uint64_t delay_ns);
/*
 * Starts its thread with the caller's present rights, unless it runs. Returns 0 or a negative
 * errno.
 */
int pss_reader_start(struct pss_reader *r);
/* Returns a descriptor that is readable when the list is done; owned by @r. */
int pss_reader_fd(const struct pss_reader *r);
/* Starts reading @l and takes ownership. The previous list must be done. */
void pss_reader_submit(struct pss_reader *r, const struct pss_list *l);
/*
 * Returns the list, valid until pss_reader_submit(). The caller may read the first *@nr_done items,
 * and owns nr_taken.
 */
struct pss_list *pss_reader_results(struct pss_reader *r, size_t *nr_done);
/* Returns how long the present read has taken in ns, or 0 without a read. */
uint64_t pss_reader_busy_ns(struct pss_reader *r);
/*
 * Ends the thread and frees the reader, at once if idle. A pending read is not waited for: the
 * thread frees the reader after it. @r may be NULL.
 */
void pss_reader_leave(struct pss_reader *r);

#endif
