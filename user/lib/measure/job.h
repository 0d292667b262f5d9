/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One run that is followed: what the books report of its accounts becomes samples, records and the
 * summary, which go to all its listeners. A job never blocks, and opens no file that its user
 * named; a thread reads PSS from /proc for it.
 */
#ifndef MEASURE_JOB_H
#define MEASURE_JOB_H

#include "measure/cgroup_stat.h"
#include "measure/job_spec.h"
#include "measure/limit_watch.h"
#include "measure/live_processes.h"
#include "measure/needed_watch.h"
#include "measure/pressure.h"
#include "measure/pss.h"
#include "measure/pushed.h"
#include "measure/spans.h"
#include "measure/tally_view.h"
#include "measure/target.h"

/* The end is a state: the last lines are written as fast as the listeners take them. */
enum job_state { JOB_OPEN, JOB_RUNS, JOB_LEAVES, JOB_ENDED };

/*
 * The last sample, that of the view, while its PSS is read: its line is written when that is done,
 * or when the next drain begins, or when it has waited for long.
 */
struct held_sample {
	struct jsonw heaviest; /* the lines of --process-samples */
	bool has_spaces;       /* for which PSS is known, or not */
	bool wants_list;       /* its own, once what is being read for an earlier sample is done */
	uint64_t until_ns;     /* CLOCK_MONOTONIC */
};

struct job {
	struct tally_view view;
	const struct job_spec *spec; /* not owned */
	struct account_key account;  /* its own; of a whole node the tree is a new one */
	uint64_t heir;               /* the tree that its processes were in before */
	struct job *above;           /* the run that it began in, not owned; NULL: none */
	enum job_state state;
	/* Of the last drain: */
	uint64_t sockets[NR_TCP_STATES]; /* live ones, by the kernel's number of the state */
	uint64_t nr_unread;              /* processes without memory in it */
	uint64_t unread;                 /* the same, of all samples */
	struct heaviest heaviest;        /* --process-samples */
	struct exact_peak exact;
	struct pss pss;
	struct pss_reader *pss_reader; /* owned; NULL: none is read */
	struct needed_watch needed;
	struct held_sample held;
	struct cgroup_stat cgroup;
	struct cgroup_target own_cgroup; /* --own-cgroup */
	struct target target;            /* if a cgroup was attached to */
	struct pressure host_pressure;
	struct pushed pushed;
	struct spans spans;
	struct limit_watch limits;
	/* Called when a sample, or its PSS, is there; not before the job is open; NULL: not. */
	void (*sampled)(struct job *job);
	uint64_t unrepaired, repaired; /* at its end; losses of births, and what was made good */
	uint64_t seeded_roots;         /* processes that were attached to */
	struct account baseline;       /* what these had used before, in the books of a node */
	/* of a command that has ended before the run was said to begin; owned */
	struct early_report *early;
	size_t nr_early;
	/* Processes that have not been freed at the end: */
	struct process_record *left; /* owned */
	size_t nr_left, room_left, next_left;
};

static inline void job_was_sampled(struct job *job)
{
	if (job->sampled)
		job->sampled(job);
}

/* Opens nothing: job_done() is harmless after it. */
void job_init(struct job *job);
/*
 * Begins to follow what @spec names, in @books, which then report to this job. @spec and @books
 * outlive the job. 0; or a negative errno, and @why says what to do about it.
 */
int job_open(struct job *job, const struct job_spec *spec, struct books *books, char *why,
	     size_t size);
void job_done(struct job *job);
/* The command has just been executed: writes meta and the first sample. */
void job_start(struct job *job, uint64_t start_ns);

/* It has published a sample of the last drain: another one would have the same time. */
bool job_has_sample(const struct job *job);

/* A drain of the books begins and ends; see struct books_ops. */
void job_drain_begin(struct job *job);
void job_drain_end(struct job *job);
/*
 * What the books report of the accounts that @job owns, for struct books_ops. The run that it began
 * in, and that above, gets the same.
 */
void report_total(void *job, const struct account_key *key, const struct account *total);
void report_slice(void *job, const struct slice *slice);
void report_socket(void *job, const struct socket_row *row);
void report_unread(void *job);
void report_process(void *job, const struct process_record *r);
void report_oom(void *job, const struct oom_event *e);
/* Reports what came before the first line of the run, which is now written. */
void job_report_early(struct job *job);

/* Counts the block I/O of @target, or NULL, from now on, if that is asked for and can be. */
void job_open_block_io(struct job *job, const struct cgroup_target *target);
/* Reads it for the next sample. */
void job_read_block_io(struct job *job);

/* Ends an interval of the upper bound of its peak, with the last drain. */
void job_bound_interval(struct job *job);
/* Drains and writes a sample. */
void job_sample(struct job *job);
/* Makes the sample of the last drain; its line is written at once, or once its PSS has been read.
 */
void job_publish(struct job *job);
/* Sets how much time may be spent with reading PSS. */
void job_init_pss(struct job *job);
/* Makes what reads PSS, if that may be wanted; with --pss its thread is started now, else for the
 * first reading. 0 or a negative errno. */
int job_start_pss(struct job *job);
/* Readable when job_take_pss() is to be called; -1: never. */
int job_pss_fd(const struct job *job);
/* Takes what has been read, and writes the sample that waits for it. */
void job_take_pss(struct job *job);
/* Takes what has been read until now. Returns true if the reader is idle. */
bool job_take_reading(struct job *job);
/* Begins to read what the budget is for. Returns false if there is nothing to read, or no budget.
 */
bool job_begin_reading(struct job *job);
/* Begins to read PSS of all rows of the last drain. False: the budget does not suffice, unless
 * @is_urgent; or one cannot be read; or the last reading still goes on. */
bool job_read_all_pss(struct job *job, bool is_urgent);
/* Holds job->held, which the caller has filled in, while its PSS is read. */
void job_hold_sample(struct job *job);
/* Writes the sample that is held, if there is one, with the PSS that is known now and the limits
 * that it exceeds. */
void job_release_held(struct job *job);
/* Samples that have been made, the one that is held included. */
uint64_t job_samples_made(const struct job *job);
/* The same if it has waited for its PSS for long. */
void job_release_overdue(struct job *job);
/* The longest wait until the next job_release_overdue(), no more than @wait_ms (-1: no limit). */
int job_pss_wait(const struct job *job, int wait_ms);
/* What reading has cost, up to now. */
struct pss_cost job_pss_cost(const struct job *job);
/* Writes the record of a process; @row: its row of the last drain, or NULL. @is_left: it has not
 * been freed. */
void job_emit(struct job *job, const struct process_record *r, const struct drain_row *row,
	      bool is_left);
/* The sum of its accounts, read now. */
struct account job_totals(struct job *job);
/* True if that account is the job's, or of a run that began in it. */
bool job_has(const struct job *job, const struct account_key *key);
/*
 * In the books of a whole node: moves the command's process, or those that are attached to with
 * their descendants, to an account of the job's own. What is in another run stays there. 0; or a
 * negative errno, and @why may be what to do about it.
 */
int job_join(struct job *job, char *why, size_t size);
/* It is not to be reported: gives its processes back to the accounts that they came from. */
void job_abandon(struct job *job);
/* The same job is over: takes its accounts out of the books; they stay in its totals. */
void job_leave_books(struct job *job);

/* Takes the mark or metrics that the process @pid of the run has brought to the span desk. -ENOMEM.
 */
int job_push(struct job *job, const char *text, size_t length, pid_t pid);
/* Takes what programs have pushed, if that is asked for: makes samples for marks, and lines. */
void job_take_pushed(struct job *job);
/* The longest wait until the next job_take_pushed(), no more than @wait_ms (-1: no limit). */
int job_pushed_wait(const struct job *job, int wait_ms);
/* The same at the end, when all processes are known. False: the feeds are full, call it again. */
bool job_close_pushed(struct job *job);

/* Ends the run: its accounts are closed, its totals are final. The books go on. */
void job_close(struct job *job);
/* Writes the last lines. False: the last sample still waits for its PSS, or the feeds have no room
 * for all of them; to be called again. */
bool job_close_step(struct job *job);

#endif
