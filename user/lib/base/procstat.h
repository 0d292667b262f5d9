/* SPDX-License-Identifier: BSD-2-Clause */
/* Usage, memory and children of a process from /proc. Files of another user may be unreadable. */
#ifndef BASE_PROCSTAT_H
#define BASE_PROCSTAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * /proc/PID/stat. Times are in ns with the resolution of a kernel tick. children_* are those of
 * waited-for children and, recursively, of theirs.
 */
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

/* /proc/PID/io: the process and the children that it has waited for. */
struct proc_io {
	uint64_t rchar, wchar, syscr, syscw, read_bytes, write_bytes, cancelled_write_bytes;
};

/* /proc/PID/status. has_memory is false without an address space. */
struct proc_status {
	bool is_read, has_memory;
	uint64_t peak_bytes, anon_bytes, file_bytes, shmem_bytes;
	uint64_t swap_bytes, hugetlb_bytes, tables_bytes;
	uint64_t nvcsw, nivcsw; /* of the first thread alone */
	uint32_t uid;
	pid_t ns_pid; /* PID in its innermost namespace */
	/* SIGCHLD is ignored: the kernel reaps its children, which are in no total */
	bool ignores_children;
};

/* These return 0, -ESRCH if the process is gone, -EBADMSG, or another negative errno. */
int proc_stat_read(pid_t pid, struct proc_stat *s);
int proc_io_read(pid_t pid, struct proc_io *io);
int proc_status_read(pid_t pid, struct proc_status *s);
void proc_io_add(struct proc_io *sum, const struct proc_io *io);
/* Parse texts, which proc_stat_parse() changes. */
int proc_stat_parse(char *text, struct proc_stat *s);
int proc_io_parse(const char *text, struct proc_io *io);
int proc_status_parse(const char *text, struct proc_status *s);
/*
 * Calls @fn for each child of the @threads threads of @pid that can be read. Children that are born
 * or end meanwhile may be skipped. Returns 0, -ENOENT if the kernel has no lists of children, or
 * another negative errno.
 */
int proc_each_child(pid_t pid, unsigned threads, void (*fn)(void *context, pid_t child),
		    void *context);

/* Returns true if @pid is @ancestor (not 1) or a descendant of it. */
bool process_descends_from(pid_t pid, pid_t ancestor);
/*
 * Reads the state letter and the parent. Returns a negative errno if the process is gone or
 * unreadable.
 */
int procstat_read(pid_t pid, char *state, pid_t *parent);

/* Returns true if /proc is that of the caller's PID namespace. */
bool procstat_is_own_namespace(void);

/* Reads the process of the task @pid. Returns a negative errno if it is gone. */
int procstat_read_leader(pid_t pid, pid_t *leader);

/*
 * Files of a process in /proc that are read repeatedly: an open descriptor saves two of three
 * system calls, and refers to this process even after its PID is reused.
 */

enum proc_file { PROC_SCHED, PROC_STAT, PROC_STATUS, PROC_IO, PROC_CHILDREN, NR_PROC_FILES };

#define PROC_TEXT_BYTES 4096 /* more than the part of any file that is read */

struct proc_files {
	pid_t pid;
	int fd[NR_PROC_FILES]; /* owned; -1 if not open */
};

void proc_files_init(struct proc_files *f, pid_t pid);
/* @nr_open counts the open files of all processes. */
void proc_files_done(struct proc_files *f, unsigned *nr_open);
/*
 * Reads a file and adds a NUL. Keeps it open while *@nr_open <= @most. Returns the length, -ESRCH
 * if the process is gone, or another negative errno.
 */
ssize_t proc_files_read(struct proc_files *f, enum proc_file file, unsigned *nr_open, unsigned most,
			char *text, size_t size);
/* Calls @fn for each child of the first thread; the list may have any length. Errors as above. */
int proc_files_children(struct proc_files *f, unsigned *nr_open, unsigned most,
			void (*fn)(void *context, pid_t child), void *context);

/* PSS and USS of an address space from /proc/PID/smaps_rollup. */

struct smaps {
	uint64_t pss_bytes; /* each page divided by the number of its address spaces */
	uint64_t uss_bytes; /* pages of no other address space */
};

/*
 * Returns 0, -ESRCH or -ENOENT if the process is gone, or -EACCES if it is another user's and
 * CAP_SYS_PTRACE is missing.
 */
int smaps_read(pid_t pid, struct smaps *out);

/*
 * Returns true if the kernel keeps delays for tasks that begin from now on (kernel.task_delayacct).
 */
bool task_delays_are_kept(void);

#endif
