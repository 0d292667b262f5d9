/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tally with listeners: publishes its samples, stalls and summary as lines. A run has one; a job
 * of a node made of cgroups is only this.
 */
#ifndef MEASURE_TALLY_VIEW_H
#define MEASURE_TALLY_VIEW_H

#include "measure/block_io.h"
#include "measure/books.h"
#include "measure/energy_part.h"
#include "measure/feed.h"
#include "measure/stall.h"
#include "measure/tally.h"
#include "run/sample.h"
#include "run/run.h"
#include "run/writer.h"

/* Losses and repairs of the machine before the view began, which are not its own. */
struct view_base {
	uint64_t loss[NR_LOSSES];
	uint64_t repaired, unrepaired, unnamed, rows_lost, memory_failures, socket_misses,
		blocks_lost, peers_lost, sockets_lost, gpus_dropped;
	uint64_t drains, drain_ns_total;
};

/* Called with what is published, in addition to the feeds. */
struct view_observer {
	void (*sample)(void *context, const struct sample *smp);
	void (*stall)(void *context, const struct stall_event *e);
	void (*summary)(void *context, const struct summary *sum);
};

struct tally_view {
	struct tally tally;
	struct run *run; /* not owned, as is @books */
	struct books *books;
	struct feeds feeds;
	const struct view_observer *observer; /* not owned; may be NULL */
	void *observer_context;
	struct jsonw json;           /* the line being written */
	uint64_t start_ns;           /* CLOCK_MONOTONIC */
	uint64_t epoch_less_boot_ns; /* CLOCK_REALTIME - CLOCK_BOOTTIME, at the start */
	struct view_base base;
	struct sample smp; /* the last one made */
	bool is_held;      /* it is published later, when its PSS is read */
	struct cores cores;
	struct energy_part energy;
	struct stall stall;
	struct block_io block_io;
	bool has_block_io; /* read for the next sample */
	/*
	 * Returns true if idle processes have no work, false if they hang. NULL: cannot be known.
	 */
	bool (*is_idle)(const int32_t *pids, size_t nr);
	/*
	 * With @hides_others: omit path and arguments of processes that /proc hides from @shown_to.
	 */
	uid_t shown_to;
	bool hides_others;
};

/* Opens nothing. tally_view_done() may follow. */
void tally_view_init(struct tally_view *v);
/* Initializes @v for @run with accounts of @books. Publishes nothing before tally_view_begin(). */
void tally_view_open(struct tally_view *v, struct run *run, struct books *books);
/* Chooses the run's wanted metrics that @books have. Samples can be made afterwards. */
void tally_view_choose_metrics(struct tally_view *v);
void tally_view_done(struct tally_view *v);
/* Begins at @start_ns: writes the meta line. */
void tally_view_begin(struct tally_view *v, uint64_t start_ns);

void tally_view_oom(struct tally_view *v, const struct oom_kill *k, uint64_t time_ns);

/* Completes the totals after a drain. */
void tally_view_drain_end(struct tally_view *v);
/* Makes v->smp from totals and memory of the last drain. @now_ns is CLOCK_MONOTONIC. */
void tally_view_make_sample(struct tally_view *v, uint64_t now_ns);
/* Publishes v->smp and adds it to the summary. */
void tally_view_put_sample(struct tally_view *v);
/* Publishes a stall, or its end, according to the totals of the sample at @elapsed_ns. */
void tally_view_note_stall(struct tally_view *v, uint64_t elapsed_ns);
/* Writes the last sample, if any, and live processes if wanted, to @feed only. */
void tally_view_put_latest(struct tally_view *v, struct feed *feed);

/* Add to the summary the losses since the view began, and the cost of drains. */
void tally_view_note_losses(struct tally_view *v);
void tally_view_note_costs(struct tally_view *v);
/* Completes and publishes the summary. */
void tally_view_put_summary(struct tally_view *v);
/* Writes a summary of the run so far to @feed only. */
void tally_view_report_so_far(struct tally_view *v, struct feed *feed);

/* Returns the growth since the view began, at least 0. */
static inline uint64_t growth_since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

#endif
