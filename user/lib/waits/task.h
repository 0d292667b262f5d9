/* SPDX-License-Identifier: BSD-2-Clause */
/* One task in /proc: state, wait channel, system call with arguments, and open descriptors. */
#ifndef WAITS_TASK_H
#define WAITS_TASK_H

#include "waits/waits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct task_stat {
	char comm[WAIT_NAME]; /* without control characters ("inert") */
	char state;
	pid_t parent, group;
	unsigned threads;
	uint64_t start_ticks; /* since boot, in 1/sysconf(_SC_CLK_TCK) s */
	unsigned terminal;    /* device of its session; 0 if none */
	pid_t foreground;     /* process group in that terminal's foreground; -1 if none */
	int stop_signal;      /* that stopped it; 0: none, not shown or not readable */
};

struct task_view {
	pid_t tid;
	struct task_stat stat;
	char channel[WAIT_NAME]; /* inert; "" if unreadable or not sleeping */
	bool has_call;           /* the members below are set */
	long call;               /* -1 if in no call, as in a page fault */
	uint64_t argument[6];
};

/*
 * Reads a small file of /proc into @text and terminates it. Returns its length or a negative errno.
 */
ssize_t proc_read(const char *path, char *text, size_t size);
/* Parses /proc/PID/stat. Returns 0 or -EBADMSG. */
int task_stat_parse(const char *text, struct task_stat *stat);
/*
 * Parses /proc/PID/syscall. Returns false if the task runs, or is a 32-bit task, whose calls have
 * other numbers.
 */
bool task_call_parse(const char *text, struct task_view *task);
/*
 * Reads the stat of the thread @tid, or of the process if @tid is 0. Returns 0 or a negative errno.
 */
int task_stat_read(pid_t pid, pid_t tid, struct task_stat *stat);
/* Reads stat and wchan; the call counts as unreadable. Returns as task_read(). */
int task_read_channel(pid_t pid, pid_t tid, struct task_view *task);
/* Reads syscall. */
void task_read_call(pid_t pid, pid_t tid, struct task_view *task);
/* Reads stat, wchan and syscall; unreadable ones stay empty. Returns 0 or a negative errno. */
int task_read(pid_t pid, pid_t tid, struct task_view *task);
/* Copies @text without control characters; a text that is too long ends in "...". */
void text_copy_inert(char *out, size_t size, const char *text);
/* As text_copy_inert(), but cuts at the beginning: the end of a path matters most. */
void path_copy_inert(char *out, size_t size, const char *path);

/*
 * Reads the link of /proc/PID/fd: "pipe:[4711]", or a path. Returns false if it is unreadable or
 * longer than @size.
 */
bool descriptor_link(pid_t pid, int fd, char *link, size_t size);
bool link_is_terminal(const char *link);
/* Returns the inode of the socket that the link names; 0 if it names no socket. */
uint64_t link_socket(const char *link);
/* Reads the fdinfo of a descriptor, which may be cut. Returns its length or a negative errno. */
ssize_t fdinfo_read(pid_t pid, int fd, char *text, size_t size);
/* Finds the number after "KEY:" at the beginning of a line. Returns false if there is none. */
bool fdinfo_number(const char *text, const char *key, uint64_t *number);

#endif
