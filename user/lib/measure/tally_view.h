/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tally that listeners see: its samples, stalls and summary are published as lines. A job of a
 * node that is made of cgroups is a view and no more; a run has one.
 */
#ifndef MEASURE_TALLY_VIEW_H
#define MEASURE_TALLY_VIEW_H

#include "measure/block_io.h"
#include "measure/books.h"
#include "measure/feed.h"
#include "measure/stall.h"
#include "measure/tally.h"
#include "run/sample.h"
#include "run/run.h"
#include "run/writer.h"

/* Losses and repairs of the machine, in no account, when the view began: they are not its own. */
struct view_base {
	uint64_t loss[NR_LOSSES];
	uint64_t repaired, unrepaired, unnamed, rows_lost, memory_failures, socket_misses,
		blocks_lost, peers_lost, sockets_lost;
	uint64_t drains, drain_ns_total;
};

/* Called with what is published beside the lines of the feeds. */
struct view_observer {
	void (*sample)(void *context, const struct sample *smp);
	void (*stall)(void *context, const struct stall_event *e);
	void (*summary)(void *context, const struct summary *sum);
};

struct tally_view {
	struct tally tally;
	struct run *run; /* not owned, nor is the next one */
	struct books *books;
	struct feeds feeds;
	const struct view_observer *observer; /* not owned; NULL: none */
	void *observer_context;
	struct jsonw json;           /* the line that is being written */
	uint64_t start_ns;           /* CLOCK_MONOTONIC */
	uint64_t epoch_less_boot_ns; /* CLOCK_REALTIME - CLOCK_BOOTTIME, at the start */
	struct view_base base;
	struct sample smp; /* the last one that was made */
	bool is_held;      /* its owner puts it later, when PSS has been read */
	struct cores cores;
	struct stall stall;
	struct block_io block_io;
	bool has_block_io; /* it has been read for the next sample */
	/* Whether the processes that do nothing have nothing to do; NULL: it cannot be known */
	bool (*is_idle)(const int32_t *pids, size_t nr);
	/*
	 * With @hides_others: path and arguments of processes of other users are left out, as /proc
	 * hides them from the user @shown_to.
	 */
	uid_t shown_to;
	bool hides_others;
};

/* Opens nothing: tally_view_done() is harmless after it. */
void tally_view_init(struct tally_view *v);
/* Makes @v a view of what @books have for @run. It begins with tally_view_begin(). */
void tally_view_open(struct tally_view *v, struct run *run, struct books *books);
/* Chooses the metrics of the run that @books have; from then on @v can make samples. */
void tally_view_choose_metrics(struct tally_view *v);
void tally_view_done(struct tally_view *v);
/* It begins at @start_ns: writes the meta line. */
void tally_view_begin(struct tally_view *v, uint64_t start_ns);

void tally_view_oom(struct tally_view *v, const struct oom_kill *k, uint64_t time_ns);

/* The drain is over: its totals are complete. */
void tally_view_drain_end(struct tally_view *v);
/* Makes v->smp the sample at @now_ns (CLOCK_MONOTONIC): totals and memory of the last drain. */
void tally_view_make_sample(struct tally_view *v, uint64_t now_ns);
/* Publishes v->smp, and counts it in the summary. */
void tally_view_put_sample(struct tally_view *v);
/* With the totals of the sample at @elapsed_ns: publishes that the run stalls, or goes on. */
void tally_view_note_stall(struct tally_view *v, uint64_t elapsed_ns);
/* Writes to @feed alone the last sample, if there is one, and the live processes if it wants them.
 */
void tally_view_put_latest(struct tally_view *v, struct feed *feed);

/* Sets in the summary what was lost since the view began, and what the drains have cost. */
void tally_view_note_losses(struct tally_view *v);
void tally_view_note_costs(struct tally_view *v);
/* Publishes the summary, which is complete then. */
void tally_view_put_summary(struct tally_view *v);
/* Writes to @feed alone what a summary would be now. */
void tally_view_report_so_far(struct tally_view *v, struct feed *feed);

/* The growth since the view began: what was before is another one's. */
static inline uint64_t growth_since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

#endif
