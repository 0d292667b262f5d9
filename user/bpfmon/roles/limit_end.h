/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ends a run that has gone beyond a limit: sends SIGTERM to each of its processes and, after a
 * grace period, SIGKILL, until none is left. The collector reports the living processes repeatedly.
 * As a PID may be reused at any time, each process is opened first, and gets its signal only when a
 * drain begun after that has found the same process again. From the first SIGKILL on no process of
 * the run can fork: the collector has the kernel prevent it, the cgroup's keeper kills the whole
 * cgroup at once, and without BPF all processes are stopped first (sweep_run()).
 */
#ifndef ROLES_LIMIT_END_H
#define ROLES_LIMIT_END_H

#include "base/cgroup.h"
#include "base/message.h"
#include "run/limit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/signalfd.h>
#include <sys/types.h>

/* The options file that sets a limit. */
struct limit_origin {
	const char *path; /* NULL: none */
	unsigned line;
};

struct limit_target {
	pid_t pid;
	uint64_t serial;    /* from the collector, unique for each process */
	int fd;             /* pidfd */
	uint64_t opened_ns; /* CLOCK_BOOTTIME */
	bool is_named;      /* reported in this round */
	bool has_sigterm;   /* SIGTERM was sent */
	bool is_refused;    /* belongs to another user */
};

struct limit_end {
	uint64_t grace_ns;
	const struct limit *limits;         /* MAX_LIMITS of them, not owned */
	const struct limit_origin *origins; /* origin of each limit; NULL if no file sets any */
	pid_t command; /* its PID cannot be reused while this child is not reaped */
	const struct own_children *spared; /* children of the launcher to spare; NULL with BPF */
	int collector_fd;                  /* receives CONTROL_KILL at the first SIGKILL */
	int keeper_fd;                     /* of the command's own cgroup; -1: none */
	struct limit_target *targets;      /* owned */
	size_t nr, room;
	uint64_t since_ns;  /* when the end began, CLOCK_MONOTONIC; 0: not yet */
	uint64_t killed_ns; /* first SIGKILL, CLOCK_MONOTONIC; 0: none yet */
	uint64_t nr_ended;  /* processes that have ended since then, counted by the collector */
	bool is_urgent;     /* the grace was cut short */
	bool is_over;       /* no process is left, or it was given up; reported */
	bool has_sent_kill; /* CONTROL_KILL was sent */
	bool was_refused;   /* the caller may not signal some process; reported once */
	bool has_refused, may_end_more; /* a process named in this round is, or is not refused */
	bool has_given_up;              /* SIGKILL did not end all in time, or is not permitted */
};

/* Handles a message of the collector; ignores unrelated ones. */
void limit_end_handle_message(struct limit_end *e, const struct control *c);
bool limit_end_has_begun(const struct limit_end *e);
/*
 * Kills, after the grace, what no collector has to report: all processes in a run without BPF, or
 * the command if the collector is gone. Call it between messages.
 */
void limit_end_advance(struct limit_end *e, bool has_collector);
/* Returns the time until the next limit_end_advance(), no more than @wait_ms (-1: no limit). */
int limit_end_wait(const struct limit_end *e, int wait_ms);
/*
 * Handles another request of the user to end: SIGKILL without delay. Returns false if no end is in
 * progress.
 */
bool limit_end_skip_grace(struct limit_end *e);
/*
 * Completes the end of the run, and reports once how many processes were ended, how long it took,
 * and what is left.
 */
void limit_end_finish(struct limit_end *e);
void limit_end_done(struct limit_end *e);

/* Signals that request the end of bpfmon itself: the first two are orderly, the third is not. */
#define REQUESTS_THAT_END 3

struct end_requests {
	unsigned nr;
	int signal;
	pid_t by; /* its sender; 0: the kernel */
	uint64_t at_ns;
};

/*
 * Returns true if @si is SIGINT, SIGTERM, SIGHUP or SIGQUIT, and not one that this process was
 * started to ignore: SIGHUP by nohup(1), SIGINT and SIGQUIT of the terminal by a shell for a
 * background job.
 */
bool end_request_matches(const struct signalfd_siginfo *si);
/* Counts the request. Returns false, without counting, if it echoes the last one. */
bool end_request_count(struct end_requests *r, const struct signalfd_siginfo *si);
/*
 * Reads @signal_fd up to the first request to end and drops what it reads. Returns that signal, or
 * 0 if there is none.
 */
int end_request_read(int signal_fd);

#endif
