/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What live processes wait for (which lock, pipe, socket or child) and which process holds it, from
 * /proc with the rights of the caller. What could not be read is absent, and flagged in the member
 * unread.
 */
#ifndef WAITS_WAITS_H
#define WAITS_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WAIT_NAME 64
#define WAIT_OBJECT 128
#define WAIT_PEERS 4     /* named peers */
#define WAIT_FOLLOWED 64 /* followed peers */
#define WAIT_TEXT 512    /* longest text, with its NUL */

enum wait_kind {
	WAIT_ENDED,     /* no such process, or its pid was reused */
	WAIT_HIDDEN,    /* alive, but hidden by /proc (hidepid) */
	WAIT_UNREAD,    /* waits, but the caller may not read for what */
	WAIT_OTHER,     /* waits in a system call or channel without a kind here */
	WAIT_RUNS,      /* or is ready to run */
	WAIT_THROTTLED, /* ready to run, but the CPU quota of a cgroup is used up */
	WAIT_IDLE,      /* an idle kernel thread */
	WAIT_STOPPED,
	WAIT_TRACED,
	WAIT_FROZEN,
	WAIT_ZOMBIE,
	WAIT_DISK,   /* uninterruptible, for any reason but the next */
	WAIT_SERVER, /* a file system served by a process or another machine */
	WAIT_LOCK,
	WAIT_MUTEX, /* a futex with a known holder */
	WAIT_JOIN,  /* the exit of one of its threads */
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
	WAIT_FILE, /* a file other than a pipe, socket or terminal */
	WAIT_IPC,  /* queues and semaphores of System V or POSIX */
	WAIT_URING,
	WAIT_POLL,
	WAIT_SLEEP,
	WAIT_SIGNAL,
	NR_WAIT_KINDS
};

/* What could not be read. */
enum wait_unread {
	WAIT_NO_CHANNEL = 1 << 0,
	WAIT_NO_CALL = 1 << 1,
	WAIT_NO_FILES = 1 << 2,   /* descriptors of the process itself */
	WAIT_NO_OTHERS = 1 << 3,  /* descriptors of another process: a holder may be missing */
	WAIT_NO_THREADS = 1 << 4, /* more threads than are examined */
};

/* A process that holds what another waits for. */
struct wait_peer {
	pid_t pid;
	char comm[WAIT_NAME]; /* inert; "" if unreadable */
	char state;           /* as in /proc/PID/stat; 0 if unreadable */
};

/* Whether a process can continue without the processes that it waits for. */
enum way_out {
	WAY_NONE,
	WAY_UNKNOWN, /* possibly: not everything could be read */
	WAY_ITSELF,  /* by a timeout or a signal */
	WAY_OUTSIDE, /* by a terminal, a client, a device or another machine */
};

struct wait {
	pid_t pid, parent;
	uint64_t start_epoch_ns; /* of the process; 0 if unknown */
	char comm[WAIT_NAME];    /* without control characters ("inert") */
	char state;              /* of the thread @tid; 0 if unknown */
	enum wait_kind kind;
	pid_t tid;                /* the most significant thread */
	unsigned threads;         /* of the process; 0 if unknown */
	unsigned alike;           /* examined threads with the same kind of wait */
	char call[WAIT_NAME];     /* system call; "" if none or unreadable */
	char channel[WAIT_NAME];  /* kernel function it sleeps in, inert; "" likewise */
	int fd;                   /* descriptor it waits for; -1 if none */
	char object[WAIT_OBJECT]; /* file or address, inert; "" if unknown */
	char lock[8];             /* WAIT_LOCK: FLOCK, POSIX, OFDLCK, LEASE as in /proc/locks */
	uint64_t lock_first, lock_last; /* bytes of the file; last UINT64_MAX: to its end */
	char mount[WAIT_OBJECT];        /* WAIT_SERVER: mount point, inert; "" if unknown */
	char mount_type[32];            /* with @mount: "fuse.sshfs", "nfs4"; inert */
	char mount_source[WAIT_OBJECT]; /* "nas:/home", inert */
	bool writes;                    /* WAIT_PIPE_OPEN: opens the FIFO for writing */
	unsigned quota_milli;           /* WAIT_THROTTLED: quota of @object, in 1/1000 CPU */
	bool cgroup_is_v2;              /* WAIT_THROTTLED, WAIT_FROZEN: version of the hierarchy */
	int stop_signal;                /* WAIT_STOPPED; 0 if unknown */
	unsigned watched;               /* descriptors of a poll; 0 if unknown */
	bool is_process;                /* waits for the exit of the process in @peer */
	bool is_nameless;           /* waits for an anonymous inode: eventfd, inotify, pidfd, ... */
	bool object_is_own;         /* the address is of its own socket, not of the sender */
	bool is_unix;               /* the socket is a Unix socket */
	bool queue_is_full;         /* WAIT_CONNECT: the queue of the listening peer */
	pid_t holder_tid;           /* WAIT_MUTEX and WAIT_JOIN: the thread */
	enum wait_kind holder_kind; /* of that thread, if in the same process */
	bool is_deadlock;           /* its threads wait for each other */
	bool has_other_end;         /* other processes may have what it waits for */
	unsigned peers;             /* holders found; @peer has the first */
	struct wait_peer peer[WAIT_PEERS];
	unsigned unread; /* bits of enum wait_unread */
	/* The rest is for waits_reason(). */
	bool has_timeout; /* of the thread @tid */
	bool is_fed;      /* likewise: its poll has descriptors from outside */
	bool is_remote;   /* waits for a connection with another machine */
	bool is_socket;   /* waits for a socket */
	uint64_t futex;   /* in shared memory: equal for all its waiters; 0 if none */
	unsigned follows; /* number of @peers in @follow */
	pid_t follow[WAIT_FOLLOWED];
	enum way_out out; /* best way out of any of its threads */
	pid_t out_tid;
	enum wait_kind out_kind;
	unsigned ways; /* without a way out: all processes that its threads wait for */
	pid_t way[WAIT_FOLLOWED];
};

struct waits;

/*
 * Allocates a set of processes to examine together; NULL if out of memory. Freed by waits_free().
 */
struct waits *waits_new(void);
void waits_free(struct waits *w);
/*
 * Empties the set. Reusing one set for reads each second is cheaper than new sets: an end that no
 * process in it has is searched in the whole machine only every 10 s.
 */
void waits_clear(struct waits *w);
/*
 * Adds a process. @start_epoch_ns is its start time as in records, so that a reused pid is not
 * mistaken for it; 0 for the process that lives now. Returns its index, which is unchanged if it
 * was added before, or -ENOMEM.
 */
int waits_add(struct waits *w, pid_t pid, uint64_t start_epoch_ns);
/*
 * Reads what the processes in the set wait for; may be called again, and then reads anew. Returns 0
 * or -ENOMEM; an unreadable process is no error.
 *
 * With @follow, which waits_reason() needs, processes that are waited for are added, recursively,
 * and holders are searched in all processes of the machine, once; if any process is ready to run
 * below a CPU quota this takes two quota periods. Without @follow, as for the rows of a screen, one
 * holder among the added processes and their parents suffices.
 */
int waits_read(struct waits *w, bool follow);
/* Return the number of processes including followed ones, and the number added by waits_add(). */
size_t waits_number(const struct waits *w);
size_t waits_given(const struct waits *w);
/* Returns the process at the index @at of waits_add(); valid until the next of the calls above. */
const struct wait *waits_get(const struct waits *w, size_t at);
/* Returns the process that the bpfmon launcher @pid has started; 0 if @pid is no launcher. */
pid_t launcher_command(pid_t pid);

/*
 * Writes one line about @wait, such as "waits for its child 4712 sleep"; @out is always terminated.
 */
void wait_text(const struct wait *wait, char *out, size_t size);
/* Returns the name of a kind, as in JSON: "pipe-read". */
const char *wait_kind_name(enum wait_kind kind);

/* Why nothing proceeds: the process at the end of the chain of waits. */
struct wait_reason {
	bool is_found;    /* false if none of the processes lives */
	bool runs;        /* @cause runs */
	bool is_deadlock; /* a cycle with no way out that contains @cause */
	bool is_idle;     /* @cause waits for a time, event, input or client: nothing blocks it */
	size_t cause;     /* index of the process at the end */
	size_t links;     /* length of the chain, with @cause */
	size_t link[8];   /* the chain, from @cause on */
	size_t behind;    /* number of given processes that wait, directly or not, for @cause */
};

/* Finds the reason, after waits_read() with @follow. */
void waits_reason(const struct waits *w, struct wait_reason *reason);
/* Writes the reason as one sentence without a full stop. */
void waits_reason_text(const struct waits *w, const struct wait_reason *reason, char *out,
		       size_t size);
/*
 * Returns false if nothing waits, or the caller may not read for what: the holder of a lock need
 * not be readable.
 */
bool waits_cause_is_known(const struct waits *w, const struct wait_reason *reason);
/* Writes it in a few words about the past: "flock waited for a lock held by 2148 sleep". */
void waits_cause_text(const struct waits *w, const struct wait_reason *reason, char *out,
		      size_t size);

/*
 * Returns whether the processes @pids of one run or job have nothing to do: at least one is a
 * server that waits for connections or datagrams, or reads a terminal; the others wait for their
 * children, or belong to that server and wait for work. A thread that waits for a lock, a disk or a
 * full pipe is not idle, nor is an unreadable process. Reads /proc only.
 */
bool processes_are_idle(const int32_t *pids, size_t nr);

/* The device files of GPUs that a process has open, from /proc with the rights of the caller. */

#define GPU_FILES 16 /* further ones are left out */
#define GPU_FILE_BYTES 32
#define GPU_FILES_TEXT (GPU_FILES * (GPU_FILE_BYTES + 2) + 16)

struct gpu_files {
	char name[GPU_FILES][GPU_FILE_BYTES]; /* each once */
	size_t nr;
};

/* Reads the links in the folder @path, as /proc/PID/fd. None if it cannot be read. */
void gpu_files_read(struct gpu_files *g, const char *path);
/* Writes "holds /dev/nvidia0 and /dev/nvidia1 open"; "" if there is none. */
void gpu_files_text(const struct gpu_files *g, char out[GPU_FILES_TEXT]);

#endif
