/* SPDX-License-Identifier: BSD-2-Clause */
/* What /proc has of one process: usage, memory, children. Files of another user may be unreadable.
 */
#ifndef BASE_PROCSTAT_H
#define BASE_PROCSTAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Of /proc/PID/stat. Times are in ns, exact to a tick of the kernel; those of waited-for children
 * include theirs. */
struct proc_stat {
	char comm[16 + 1];
	char state;
	pid_t parent;
	uint64_t minflt, majflt, user_ns, system_ns;
	uint64_t children_minflt, children_majflt, children_user_ns, children_system_ns;
	uint64_t start_ns; /* CLOCK_BOOTTIME */
	unsigned threads;
	uint64_t vms_bytes;
};

/* Of /proc/PID/io: of the process and of the children that it has waited for. */
struct proc_io {
	uint64_t rchar, wchar, syscr, syscw, read_bytes, write_bytes, cancelled_write_bytes;
};

/* Of /proc/PID/status. A process without an address space has no memory. */
struct proc_status {
	bool is_read, has_memory;
	uint64_t peak_bytes, anon_bytes, file_bytes, shmem_bytes;
	uint64_t swap_bytes, hugetlb_bytes, tables_bytes;
	uint64_t nvcsw, nivcsw; /* of its first thread alone */
	uint32_t uid;
	pid_t ns_pid;          /* in its innermost PID namespace */
	bool ignores_children; /* SIGCHLD is ignored: the kernel reaps its children, in no total */
};

/* Each: 0; -ESRCH: the process is gone; -EBADMSG; or another negative errno. */
int proc_stat_read(pid_t pid, struct proc_stat *s);
int proc_io_read(pid_t pid, struct proc_io *io);
int proc_status_read(pid_t pid, struct proc_status *s);
/* Adds @io to @sum, field by field. */
void proc_io_add(struct proc_io *sum, const struct proc_io *io);
/* The same of texts, which are changed. */
int proc_stat_parse(char *text, struct proc_stat *s);
int proc_io_parse(const char *text, struct proc_io *io);
int proc_status_parse(const char *text, struct proc_status *s);
/*
 * Calls @fn for each child of each of the @threads threads of @pid, as far as they can be read. A
 * child that is born or ends meanwhile may be left out. -ENOENT: the kernel has no list of
 * children.
 */
int proc_each_child(pid_t pid, unsigned threads, void (*fn)(void *context, pid_t child),
		    void *context);

/* True if @pid is @ancestor, which is not 1, or was started by it or a descendant of it. */
bool process_descends_from(pid_t pid, pid_t ancestor);
/* The state letter and the parent. A negative errno: the process is gone, or cannot be read. */
int procstat_read(pid_t pid, char *state, pid_t *parent);

/* Whether /proc is that of the caller's own PID namespace. */
bool procstat_is_own_namespace(void);

/* The process that the task @pid belongs to. A negative errno: it is gone. */
int procstat_read_leader(pid_t pid, pid_t *leader);

/*
 * The files in /proc of one process, read again and again: a descriptor that is kept saves two of
 * three system calls, and is of this process even when another has its PID.
 */

enum proc_file { PROC_SCHED, PROC_STAT, PROC_STATUS, PROC_IO, PROC_CHILDREN, NR_PROC_FILES };

#define PROC_TEXT_BYTES 4096 /* more than any of them has up to what is read of it */

struct proc_files {
	pid_t pid;
	int fd[NR_PROC_FILES]; /* owned; -1: not open */
};

void proc_files_init(struct proc_files *f, pid_t pid);
/* @nr_open: how many of all processes are open. */
void proc_files_done(struct proc_files *f, unsigned *nr_open);
/*
 * Reads a file and ends it with NUL; it stays open as long as *@nr_open is less than @most. The
 * length; -ESRCH: the process is gone; or another negative errno.
 */
ssize_t proc_files_read(struct proc_files *f, enum proc_file file, unsigned *nr_open, unsigned most,
			char *text, size_t size);
/* Calls @fn for each child of the first thread, whose list may be longer than any text. As above.
 */
int proc_files_children(struct proc_files *f, unsigned *nr_open, unsigned most,
			void (*fn)(void *context, pid_t child), void *context);

/* Reads PSS and USS of an address space from /proc/PID/smaps_rollup. */

struct smaps {
	uint64_t pss_bytes; /* each page divided by the number of address spaces that map it */
	uint64_t uss_bytes; /* pages that no other address space maps */
};

/* -ESRCH or -ENOENT: the process is gone; -EACCES: it is another user's, and CAP_SYS_PTRACE is
 * missing. */
int smaps_read(pid_t pid, struct smaps *out);

/* Whether the kernel keeps for each task how long it waited for what. */

/* As the sysctl kernel.task_delayacct says: for the tasks that begin from now on. */
bool task_delays_are_kept(void);

#endif
