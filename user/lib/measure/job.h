/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One run being accounted: turns what the books report of its accounts into samples, records and
 * the summary for all listeners. A job never blocks and opens no file named by its user; a thread
 * reads PSS from /proc for it.
 */
#ifndef MEASURE_JOB_H
#define MEASURE_JOB_H

#include "base/cgroup.h"
#include "measure/cgroup_stat.h"
#include "measure/inbox.h"
#include "measure/limit_watch.h"
#include "measure/live_processes.h"
#include "measure/needed_watch.h"
#include "measure/pressure.h"
#include "measure/pss.h"
#include "measure/pushed.h"
#include "measure/spans.h"
#include "measure/tally_view.h"
#include "measure/target.h"
#include "measure/tracker.h"
#include "measure/wait_times.h"
#include "run/limit.h"
#include "run/run.h"

/* What a job accounts and reports. */
struct job_spec {
	struct tracker_options tracker;
	struct run *run;      /* interval, wanted metrics, machine; described when it begins */
	pid_t command;        /* still waits for its exec; 0: attached to running processes */
	const pid_t *targets; /* processes attached to; not owned */
	size_t nr_targets;
	/* CLOCK_BOOTTIME when the PIDs were given; a younger process has reused one */
	uint64_t named_boot_ns;
	uint64_t duration_ns; /* of an attachment; 0: until all have ended */
	/*
	 * With @hides_others: omit path and arguments of processes that /proc hides from @shown_to.
	 */
	uid_t shown_to;
	bool hides_others;
	pid_t recorder;
	/* The command's own cgroup, or NULL. */
	const struct cgroup *cgroup;
	const struct intake *intake; /* sockets for pushed datagrams; not owned; may be NULL */
	int control_fd;              /* socket to the launcher */
	int stream_fd;               /* socket to the recorder */
	int span_fd;                 /* listening socket for spans, or -1 */
	unsigned process_samples;    /* heaviest live processes at each sample */
	unsigned net_peers;          /* heaviest peers at each sample */
	unsigned pss_ppm;            /* share of time for reading PSS in millionths; 0: off */
	bool span_samples;           /* values of each live span at each sample */
	const struct limit *limits;  /* not owned */
	unsigned nr_limits;
	/*
	 * Returns true if idle processes have no work, false if they hang. NULL: cannot be known.
	 */
	bool (*is_idle)(const int32_t *pids, size_t nr);
	count_sleepers_fn count_sleepers; /* NULL: no WAIT_METRIC */
	uint64_t stalled_below_ppm; /* CPU use that counts as no work, in millionths of a CPU */
	uint64_t stalled_after_ns;  /* time without work after which a run is stalled; 0: off */
	uint64_t pss_delay_ns;      /* added to each PSS read, for tests */
	bool wait_tree;             /* run until the last descendant has ended */
	bool wait_start;            /* begin with the first process of the cgroup */
};

/* JOB_LEAVES: closed, but the last lines are not yet written; listeners may be slow. */
enum job_state { JOB_OPEN, JOB_RUNS, JOB_LEAVES, JOB_ENDED };

/*
 * The last sample, held back until its PSS is read, the next drain begins, or it has waited for a
 * second.
 */
struct held_sample {
	struct jsonw heaviest; /* lines of --process-samples */
	bool has_spaces;       /* pss.spaces belong to this sample */
	bool wants_list;       /* plan its own reads when those of an earlier sample are done */
	uint64_t until_ns;     /* CLOCK_MONOTONIC, deadline for PSS */
};

struct job {
	struct tally_view view;
	const struct job_spec *spec; /* not owned */
	struct account_key account;  /* its own; for a whole node with a new tree */
	uint64_t heir;               /* tree that the processes came from, and return to */
	struct job *above;           /* run that this one began in; not owned; may be NULL */
	enum job_state state;
	/* Of the last drain: */
	uint64_t sockets[NR_TCP_STATES]; /* live sockets, indexed by the kernel's state number */
	uint64_t nr_unread;              /* processes whose memory was not read */
	uint64_t unread;                 /* sum of nr_unread over all samples */
	struct heaviest heaviest;        /* --process-samples */
	struct exact_peak exact;
	struct pss pss;
	struct pss_reader *pss_reader; /* owned; NULL: PSS is not read */
	struct needed_watch needed;
	struct wait_times waits;
	struct held_sample held;
	struct cgroup_stat cgroup;
	struct cgroup_target own_cgroup; /* --own-cgroup */
	struct target target;            /* if attached to a cgroup */
	struct pressure host_pressure;
	struct pushed pushed;
	struct spans spans;
	struct limit_watch limits;
	/* Called for each sample and again when its PSS is known. May be NULL. */
	void (*sampled)(struct job *job);
	uint64_t unrepaired, repaired; /* births not repaired; misses repaired; at the end */
	uint64_t seeded_roots;         /* attached processes */
	struct account baseline;       /* prior use of these, in the books of a node */
	/* owned; reports about a command that ended before job_start() */
	struct early_report *early;
	size_t nr_early;
	struct process_record *left; /* owned; processes not freed at the end */
	size_t nr_left, room_left, next_left;
};

static inline void job_was_sampled(struct job *job)
{
	if (job->sampled)
		job->sampled(job);
}

/* Opens nothing. job_done() may follow. */
void job_init(struct job *job);
/*
 * Begins to account what @spec names. @spec and @books must outlive the job. Returns 0, or a
 * negative errno with advice in @why.
 */
int job_open(struct job *job, const struct job_spec *spec, struct books *books, char *why,
	     size_t size);
/* Opens a job that another process began, without its accounts. */
void job_reopen(struct job *job, const struct job_spec *spec, struct books *books);
void job_done(struct job *job);
/*
 * Writes the meta line and the first sample, when the command has been executed or the attachment
 * begins.
 */
void job_start(struct job *job, uint64_t start_ns);

/* Returns true if the last drain was already published as a sample. */
bool job_has_sample(const struct job *job);

/* See struct books_ops. */
void job_drain_begin(struct job *job);
void job_drain_end(struct job *job);
/*
 * Implement struct books_ops for accounts that @job owns. They report to each enclosing run as
 * well.
 */
void report_total(void *job, const struct account_key *key, const struct account *total);
void report_slice(void *job, const struct slice *slice);
void report_socket(void *job, const struct socket_row *row);
void report_unread(void *job);
void report_process(void *job, const struct process_record *r);
void report_oom(void *job, const struct oom_event *e);
/* Writes what was reported before the first line of the run. */
void job_report_early(struct job *job);

/* Begins to count the block I/O of @target (may be NULL) if wanted and possible. */
void job_open_block_io(struct job *job, const struct cgroup_target *target);
/* Reads the block I/O for the next sample. */
void job_read_block_io(struct job *job);
/* Drops the metrics of waits if the job's processes may not be examined. */
void job_open_waits(struct job *job);
/* Examines what live processes of the last drain wait for, for the next sample. */
void job_look_waits(struct job *job);
void job_put_waits(struct job *job, struct sample *smp);

/* Ends an interval of the upper bound of the memory peak at the last drain. */
void job_bound_interval(struct job *job);
void job_sample(struct job *job);
/* Makes a sample of the last drain. Its line is written at once, or once its PSS is read. */
void job_publish(struct job *job);
void job_init_pss(struct job *job);
/*
 * Creates the PSS reader if it may be needed. With --pss starts its thread now, else at the first
 * read. Returns 0 or a negative errno.
 */
int job_start_pss(struct job *job);
/* Returns a descriptor that becomes readable when job_take_pss() is due, or -1. */
int job_pss_fd(const struct job *job);
/* Takes the finished reads and writes the sample that waits for them. */
void job_take_pss(struct job *job);
/* Takes the finished reads. Returns true if the reader is idle. */
bool job_take_reading(struct job *job);
/* Starts reading PSS within the budget. Returns false if there is nothing to read or no budget. */
bool job_begin_reading(struct job *job);
/*
 * Starts reading PSS of all rows of the last drain. Returns false if the last reads are not done,
 * if a process may not be read, or if the budget does not suffice and not @is_urgent.
 */
bool job_read_all_pss(struct job *job, bool is_urgent);
/* Holds the present sample while its PSS is read; writes it at once if there is nothing to read. */
void job_hold_sample(struct job *job);
/* Writes the held sample, if any, with the PSS known now, and checks limits. */
void job_release_held(struct job *job);
/* Returns the number of samples made, including one that is held. */
uint64_t job_samples_made(const struct job *job);
/* Releases the held sample if it has waited too long. */
void job_release_overdue(struct job *job);
/* Returns the time in ms until job_release_overdue() is due, at most @wait_ms (-1: no limit). */
int job_pss_wait(const struct job *job, int wait_ms);
struct pss_cost job_pss_cost(const struct job *job);
/*
 * Writes the record of a process. @row is its row of the last drain or NULL. @is_left is true if it
 * has not been freed.
 */
void job_emit(struct job *job, const struct process_record *r, const struct drain_row *row,
	      bool is_left);
/* Reads and returns the sum of the job's accounts. */
struct account job_totals(struct job *job);
/* Returns true if the account belongs to @job or to a run that began in it. */
bool job_has(const struct job *job, const struct account_key *key);
/*
 * For a whole node: moves the command's process, or the attached processes with their descendants,
 * to an account of this job. Processes of other runs stay there. Returns 0, or a negative errno;
 * @why may have advice.
 */
int job_join(struct job *job, char *why, size_t size);
/* A process, as its PID may be reused. */
struct known_pid {
	pid_t pid;
	uint64_t start_boot_ns;
};
/*
 * For a whole node with new books: moves those of the @nr processes that are alive, with their
 * descendants, to an account of this job. Returns 0 or a negative errno; that none is alive is no
 * error.
 */
int job_rejoin(struct job *job, const struct known_pid *pids, size_t nr);
/* Returns the processes to the accounts they came from; nothing is reported. */
void job_abandon(struct job *job);
/* Ends a job of a node: removes its accounts from the books and adds their totals to its tally. */
void job_leave_books(struct job *job);

/* Takes a mark or metrics that the process @pid sent to the span desk. Returns 0 or -ENOMEM. */
int job_push(struct job *job, const char *text, size_t length, pid_t pid);
/* Handles pushed datagrams: makes samples for marks, and writes lines. */
void job_take_pushed(struct job *job);
/* Returns the time in ms until job_take_pushed() is due, at most @wait_ms (-1: no limit). */
int job_pushed_wait(const struct job *job, int wait_ms);
/*
 * Handles the remaining datagrams at the end, when all processes are known. Returns false if the
 * feeds are full: call again.
 */
bool job_close_pushed(struct job *job);

/*
 * Another process will go on with the run: writes what has come so far, with a sample of the last
 * drain, and takes nothing more.
 */
void job_pause(struct job *job);
/* Ends the run: closes its accounts, which makes its totals final. The books go on. */
void job_close(struct job *job);
/*
 * Writes the last lines. Returns false if the last sample waits for PSS or the feeds are full: call
 * again.
 */
bool job_close_step(struct job *job);

#endif
