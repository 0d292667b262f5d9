/* SPDX-License-Identifier: BSD-2-Clause */
/* One task in /proc: state, wait channel, system call with its arguments. */
#ifndef WAITS_TASK_H
#define WAITS_TASK_H

#include "waits/waits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct task_stat {
	char comm[WAIT_NAME]; /* inert */
	char state;
	pid_t parent, group;
	unsigned threads;
	uint64_t start_ticks; /* since boot, in units of sysconf(_SC_CLK_TCK) */
	unsigned terminal;    /* device of its session; 0: none */
	pid_t foreground;     /* process group of that terminal; -1: none */
	int stop_signal;      /* which has stopped it; 0: none, not shown, or not readable */
};

struct task_view {
	pid_t tid;
	struct task_stat stat;
	char channel[WAIT_NAME]; /* inert; "": not readable, or it does not sleep */
	bool has_call;           /* then: */
	long call;               /* -1: it is in none, as at a page fault */
	uint64_t argument[6];
};

/* The text of a small file of /proc, ended by a NUL. Its length, or a negative errno. */
ssize_t proc_read(const char *path, char *text, size_t size);
/* Parses /proc/PID/stat. -EBADMSG. */
int task_stat_parse(const char *text, struct task_stat *stat);
/* Parses /proc/PID/syscall; false: the task runs, or is of 32 bits, whose numbers are others. */
bool task_call_parse(const char *text, struct task_view *task);
/* @tid 0: the process as a whole. 0 or a negative errno. */
int task_stat_read(pid_t pid, pid_t tid, struct task_stat *stat);
/* All of it; what may not be read stays empty. 0 or a negative errno. */
int task_read(pid_t pid, pid_t tid, struct task_view *task);
/* Copies @text without what could steer a terminal; one that is too long ends in "...". */
void text_copy_inert(char *out, size_t size, const char *text);
/* The same, but the beginning is what is left out: of a path the end matters most. */
void path_copy_inert(char *out, size_t size, const char *path);

/* What the kernel says about an open descriptor of a process: /proc/PID/fd and fdinfo. */

/* What it is open for: "pipe:[4711]", or a path, whole or not at all. False: it may not be read. */
bool descriptor_link(pid_t pid, int fd, char *link, size_t size);
bool link_is_terminal(const char *link);
/* The inode of the socket that the link is of; 0: it is of none. */
uint64_t link_socket(const char *link);
/* Its fdinfo. The length of the text, which is ended and may be cut, or a negative errno. */
ssize_t fdinfo_read(pid_t pid, int fd, char *text, size_t size);
/* The number after "KEY:" at the beginning of a line. False: there is none. */
bool fdinfo_number(const char *text, const char *key, uint64_t *number);

#endif
