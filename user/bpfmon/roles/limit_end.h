/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ends a run that has gone beyond a limit: SIGTERM to each of its processes, and after a grace
 * SIGKILL, until there is none. The collector says which there are, again and again. A number may
 * be given to another process at any time; so each is opened, and gets its signal only when a drain
 * that has begun after that has found it again as the same process. From the first SIGKILL on
 * nothing of the run makes a process any more: the collector has the kernel see to that, the
 * cgroup's keeper ends all in it at once, and without BPF all are stopped first (sweep_run()).
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

/* The file of options that a limit is of. */
struct limit_origin {
	const char *path; /* NULL: of none */
	unsigned line;
};

struct limit_target {
	pid_t pid;
	uint64_t serial;    /* the collector's, never the same for another process */
	int fd;             /* a pidfd */
	uint64_t opened_ns; /* CLOCK_BOOTTIME */
	bool is_named;      /* in this round */
	bool is_asked;      /* it has got SIGTERM */
	bool is_refused;    /* it is of another user */
};

struct limit_end {
	uint64_t grace_ns;
	const struct limit *limits;         /* MAX_LIMITS, not owned, as: */
	const struct limit_origin *origins; /* of them; NULL: no file sets any */
	pid_t command;                     /* a child that is not waited for yet keeps its number */
	const struct own_children *spared; /* without BPF: of the launcher's children; else NULL */
	int collector_fd;                  /* it is sent there that SIGKILL has begun */
	int keeper_fd;                     /* of the command's own cgroup; -1: it has none */
	struct limit_target *targets;      /* owned */
	size_t nr, room;
	uint64_t since_ns;  /* CLOCK_MONOTONIC; 0: it has not begun */
	uint64_t killed_ns; /* the same, of the first SIGKILL; 0: there was none */
	uint64_t nr_ended;  /* processes, since then; as the collector has counted them */
	bool is_urgent;     /* the grace was cut short */
	bool is_over;       /* no process of it is left, or it was given up, which was said */
	bool has_told;      /* the collector, that SIGKILL has begun */
	bool was_refused;   /* a process may not be ended by the caller: said once */
	bool has_refused, may_end_more; /* in this round one was named that is, or is not refused */
	bool has_given_up;              /* SIGKILL did not end all in time, or may not */
};

/* Acts on a message of the collector; others are ignored. */
void limit_end_take(struct limit_end *e, const struct control *c);
bool limit_end_has_begun(const struct limit_end *e);
/* To be called in between: what needs no collector to name processes, which may be gone. */
void limit_end_advance(struct limit_end *e, bool has_collector);
/* The longest wait until then, no more than @wait_ms (-1: no limit). */
int limit_end_wait(const struct limit_end *e, int wait_ms);
/* The user asks again for the end: SIGKILL without waiting. False: it does not go on. */
bool limit_end_hurry(struct limit_end *e);
/* The run is over: makes sure of it, and reports once how many processes were ended, in what time,
 * and what is left. */
void limit_end_finish(struct limit_end *e);
void limit_end_done(struct limit_end *e);

/* Signals that request the end of bpfmon itself: the first two are orderly, the third is not. */
#define REQUESTS_THAT_END 3

struct end_requests {
	unsigned nr;
	int signal; /* the last one */
	pid_t by;   /* its sender; 0: the kernel */
	uint64_t at_ns;
};

/*
 * Whether @si is SIGINT, SIGTERM, SIGHUP or SIGQUIT, and not one that this process was started to
 * ignore: SIGHUP as nohup(1) does, SIGINT and SIGQUIT of the terminal as a shell does for a job in
 * the background.
 */
bool end_request_is_one(const struct signalfd_siginfo *si);
/* Counts it. False: it is the echo of the last one, and is not counted. */
bool end_request_count(struct end_requests *r, const struct signalfd_siginfo *si);
/* Reads what is in @signal_fd until there is one. Its signal, or 0; what is read is dropped. */
int end_request_read(int signal_fd);

#endif
