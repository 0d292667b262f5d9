/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What live processes wait for, from /proc with the caller's own rights: which lock, pipe, socket,
 * child, and which process holds it. What cannot be read is absent, and is said.
 */
#ifndef WAITS_WAITS_H
#define WAITS_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WAIT_NAME 64
#define WAIT_OBJECT 128
#define WAIT_PEERS 4     /* that are named */
#define WAIT_FOLLOWED 64 /* that are followed */
#define WAIT_TEXT 512    /* the longest text, with its NUL */

enum wait_kind {
	WAIT_ENDED,     /* no such process, or another one has its number now */
	WAIT_HIDDEN,    /* it lives, but /proc does not show it (hidepid) */
	WAIT_UNREAD,    /* it waits, and the caller may not read for what */
	WAIT_OTHER,     /* it waits in a system call or channel that has no kind here */
	WAIT_RUNS,      /* or is ready to run */
	WAIT_THROTTLED, /* ready to run, and the CPU quota of a cgroup is used up */
	WAIT_IDLE,      /* a thread of the kernel that has nothing to do */
	WAIT_STOPPED,
	WAIT_TRACED,
	WAIT_FROZEN,
	WAIT_ZOMBIE,
	WAIT_DISK,   /* uninterruptible, of any reason but the next */
	WAIT_SERVER, /* a file system that a process or another machine serves */
	WAIT_LOCK,
	WAIT_MUTEX, /* a futex whose holder is known */
	WAIT_JOIN,  /* the end of a thread of its own */
	WAIT_FUTEX,
	WAIT_PIPE_OPEN,
	WAIT_PIPE_READ,
	WAIT_PIPE_WRITE,
	WAIT_RECEIVE,
	WAIT_SEND,
	WAIT_CONNECT,
	WAIT_ACCEPT,
	WAIT_CHILD,
	WAIT_TERMINAL,
	WAIT_FILE, /* a file that is neither pipe, socket nor terminal */
	WAIT_IPC,  /* queues and semaphores of System V or POSIX */
	WAIT_URING,
	WAIT_POLL,
	WAIT_SLEEP,
	WAIT_SIGNAL,
	NR_WAIT_KINDS
};

/* What was not readable. */
enum wait_unread {
	WAIT_NO_CHANNEL = 1 << 0,
	WAIT_NO_CALL = 1 << 1,
	WAIT_NO_FILES = 1 << 2, /* descriptors of the process itself */
	WAIT_NO_OTHERS =
		1 << 3, /* descriptors of some other process, so that a holder may be missing */
	WAIT_NO_THREADS = 1 << 4, /* it has more threads than are looked at */
};

/* A process that holds what is waited for. */
struct wait_peer {
	pid_t pid;
	char comm[WAIT_NAME]; /* inert; "": it could not be read */
	char state;           /* as in /proc/PID/stat; 0: it could not be read */
};

/* Whether a process goes on without those that it waits for. */
enum way_out {
	WAY_NONE,
	WAY_UNKNOWN, /* perhaps: not all of it could be read */
	WAY_ITSELF,  /* at a time, or by a signal */
	WAY_OUTSIDE, /* by a terminal, a client, a device, another machine */
};

struct wait {
	pid_t pid, parent;
	uint64_t start_epoch_ns; /* of the process; 0: not known */
	char comm[WAIT_NAME];    /* inert */
	char state;              /* of the thread that is named; 0: not known */
	enum wait_kind kind;
	pid_t tid;                /* of the most telling thread */
	unsigned threads;         /* of the process; 0: not known */
	unsigned alike;           /* of those looked at, how many wait for the same kind of thing */
	char call[WAIT_NAME];     /* the system call; "": none, or not readable */
	char channel[WAIT_NAME];  /* the kernel function it sleeps in, inert; "": as above */
	int fd;                   /* the descriptor it waits for; -1: none */
	char object[WAIT_OBJECT]; /* file or address: inert; "": not known */
	char lock[8];             /* WAIT_LOCK: FLOCK, POSIX, OFDLCK, LEASE as in /proc/locks */
	uint64_t lock_first, lock_last; /* bytes of the file; last UINT64_MAX: to its end */
	char mount[WAIT_OBJECT]; /* WAIT_SERVER: where it is mounted, inert; "": not known; then: */
	char mount_type[32];     /* "fuse.sshfs", "nfs4"; inert */
	char mount_source[WAIT_OBJECT]; /* "nas:/home", inert */
	bool writes;                    /* WAIT_PIPE_OPEN: it opens the FIFO to write */
	unsigned quota_milli;           /* WAIT_THROTTLED: of @object, thousandths of a CPU */
	bool cgroup_is_v2;  /* WAIT_THROTTLED, WAIT_FROZEN: the version of its hierarchy */
	int stop_signal;    /* WAIT_STOPPED; 0: not known */
	unsigned watched;   /* descriptors of a poll; 0: not known */
	bool is_process;    /* what it waits for is the end of the process that is its peer */
	bool is_nameless;   /* it waits for an anonymous inode: eventfd, inotify, pidfd, ... */
	bool object_is_own; /* the address is that of its own socket, not of what sends */
	bool is_unix;       /* and the socket one of Unix */
	bool queue_is_full; /* WAIT_CONNECT: of the peer, which listens */
	pid_t holder_tid;   /* WAIT_MUTEX and WAIT_JOIN: the thread */
	enum wait_kind holder_kind; /* of that thread, if it is one of the same process */
	bool is_deadlock;           /* its threads wait for each other */
	bool has_other_end;         /* others may have what it waits for: */
	unsigned peers;             /* how many were found, of which the first are in @peer */
	struct wait_peer peer[WAIT_PEERS];
	unsigned unread; /* bits of enum wait_unread */
	/* for waits_reason(): */
	bool has_timeout; /* of the thread that is named */
	bool is_fed;      /* so is it: its poll has descriptors from outside */
	bool is_remote;   /* it waits for a connection with another machine */
	bool is_socket;   /* what it waits for is a socket */
	uint64_t futex;   /* of shared memory: the same in all that wait for it; 0: none */
	unsigned follows; /* of @peers, how many are in */
	pid_t follow[WAIT_FOLLOWED];
	enum way_out out; /* the best of any of its threads: */
	pid_t out_tid;
	enum wait_kind out_kind;
	unsigned ways; /* without a way out: all processes that any of its threads waits for */
	pid_t way[WAIT_FOLLOWED];
};

struct waits;

/* A set of processes to be asked about together; NULL: out of memory. Freed by waits_free(). */
struct waits *waits_new(void);
void waits_free(struct waits *w);
/*
 * Takes all processes out, for other ones. One set that is kept and read each second costs less
 * than new ones: what no process has is looked for in the whole machine only every 10 s.
 */
void waits_clear(struct waits *w);
/*
 * Adds a process. @start_epoch_ns: when it started (as in records), so that another one with its
 * number is not taken for it; 0: the one that lives now. Its index, or -ENOMEM; one that is there
 * already keeps its index.
 */
int waits_add(struct waits *w, pid_t pid, uint64_t start_epoch_ns);
/*
 * Reads what those added wait for. @follow: those that are waited for are added too, and so on, for
 * waits_reason(), and holders are looked for in all processes of the machine, once for all; with
 * any of them ready to run below a CPU quota it takes two periods of that. Without it, as for the
 * rows of a screen, one holder among those added and their parents will do. 0 or -ENOMEM; a process
 * that cannot be read is no error. May be called again, and reads anew.
 */
int waits_read(struct waits *w, bool follow);
/* How many there are, those that were followed included; how many were added by waits_add(). */
size_t waits_number(const struct waits *w);
size_t waits_given(const struct waits *w);
/* The one at the index @at, of waits_add(); valid until the next of the calls above. */
const struct wait *waits_get(const struct waits *w, size_t at);
/* The process that the launcher of bpfmon @pid has started; 0: it is none. */
pid_t launcher_command(pid_t pid);

/* One line about @wait, "waits for its child 4712 sleep", into @out, which is always ended. */
void wait_text(const struct wait *wait, char *out, size_t size);
/* The word for a kind, as in JSON: "pipe-read". */
const char *wait_kind_name(enum wait_kind kind);

/* Why nothing goes on: the process at the end of the chain of waits. */
struct wait_reason {
	bool is_found;    /* false: none of the processes lives */
	bool runs;        /* one runs: it is @cause */
	bool is_deadlock; /* a cycle with no way out: @cause is one of it */
	bool is_idle; /* @cause waits for a time, an event, input, a client: nothing holds it up */
	size_t cause; /* the index of the process at the end */
	size_t links; /* how many are in the chain, @cause included */
	size_t link[8]; /* the chain, the cause first */
	size_t behind;  /* how many processes of those asked wait, directly or not, for the cause */
};

/* Finds the reason, after waits_read() with @follow. */
void waits_reason(const struct waits *w, struct wait_reason *reason);
/* Writes the reason as one sentence without a full stop. */
void waits_reason_text(const struct waits *w, const struct wait_reason *reason, char *out,
		       size_t size);

/*
 * Returns whether the processes @pids of one run or job have nothing to do: at least one is a
 * server that waits for connections or datagrams, or reads a terminal; the others wait for their
 * children, or belong to that server and wait for work. A thread that waits for a lock, a disk or a
 * full pipe is not idle, nor is a process that may not be read. Reads /proc only.
 */
bool processes_are_idle(const int32_t *pids, size_t nr);

#endif
