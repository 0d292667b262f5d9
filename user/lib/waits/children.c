// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the children that a task waits for in wait4(), waitid(), vfork() or by SIGCHLD, and the
 * command of a launcher.
 */
#include "base/cleanup.h"
#include "base/memory.h"
#include "waits/look.h"
#include "waits/syscalls.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Selects the children that a call waits for. */
struct child_choice {
	pid_t pid, group; /* 0: any */
	bool is_last;     /* only the child created last by the thread */
};

static void choice_of_waitid(struct child_choice *c, pid_t pid, const uint64_t *argument)
{
	char path[64], text[512], *at;

	if (argument[0] == P_PID)
		c->pid = (pid_t)argument[1];
	else if (argument[0] == P_PGID)
		c->group = (pid_t)argument[1];
	else if (argument[0] == P_PIDFD) {
		snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", pid, (int)argument[1]);
		at = proc_read(path, text, sizeof(text)) > 0 ? strstr(text, "\nPid:") : NULL;
		if (at)
			c->pid = atoi(at + 5);
	}
}

static struct child_choice child_choose(pid_t pid, const struct task_view *task)
{
	const struct call *call = call_of_task(task);
	pid_t which = (pid_t)task->argument[0];
	struct child_choice c = { 0 };
	struct task_stat stat;

	if (!call)
		return c;
	c.is_last = call->kind == CALL_FORK;
	if (!strcmp(call->name, "waitid"))
		choice_of_waitid(&c, pid, task->argument);
	else if (!strcmp(call->name, "wait4") && which > 0)
		c.pid = which;
	else if (!strcmp(call->name, "wait4") && which < -1 && which > INT32_MIN)
		c.group = -which;
	else if (!strcmp(call->name, "wait4") && !which && !task_stat_read(pid, 0, &stat))
		c.group = stat.group;
	return c;
}

static void children_of_thread(struct wait *wait, pid_t tid, const struct child_choice *c)
{
	char path[96], text[8192], *at = text, *end;
	struct task_stat stat;
	pid_t pid, last = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", wait->pid, tid);
	if (proc_read(path, text, sizeof(text)) < 0) {
		wait->unread |= WAIT_NO_OTHERS;
		return;
	}
	for (; (pid = (pid_t)strtol(at, &end, 10)) > 0; at = end) {
		last = pid;
		if (!c->is_last &&
		    (!c->group || (!task_stat_read(pid, 0, &stat) && stat.group == c->group)))
			wait_add_peer(wait, pid);
	}
	if (c->is_last && last)
		wait_add_peer(wait, last);
}

void children_look(struct wait *wait, const struct task_view *task)
{
	struct child_choice c = child_choose(wait->pid, task);
	__cleanup(closedirp) DIR *folder = NULL;
	struct dirent *entry;
	char path[64];

	wait->has_other_end = true;
	if (c.pid) {
		wait_add_peer(wait, c.pid);
		return;
	}
	if (c.is_last) {
		children_of_thread(wait, task->tid, &c);
		return;
	}
	snprintf(path, sizeof(path), "/proc/%d/task", wait->pid);
	folder = memory_opendir(path);
	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			children_of_thread(wait, atoi(entry->d_name), &c);
}

static bool status_has_child_signal(const char *status, const char *word)
{
	const char *at = strstr(status, word);
	unsigned long long signals = 0;

	return at && sscanf(at + strlen(word), "%llx", &signals) == 1 &&
	       signals & 1ull << (SIGCHLD - 1);
}

bool process_handles_children(pid_t pid)
{
	char path[64], text[4096];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return proc_read(path, text, sizeof(text)) > 0 &&
	       (status_has_child_signal(text, "\nSigCgt:") ||
		status_has_child_signal(text, "\nSigBlk:"));
}

/*
 * Returns whether the call is a pselect() with a signal mask and at most one descriptor, as make
 * waits for a job.
 */
static bool select_is_for_signals(const struct wait *wait, const struct task_view *task)
{
	uint64_t mask = 0;

	return !strcmp(wait->call, "pselect6") && wait->watched <= 1 && task->argument[5] &&
	       memory_peek(wait->pid, task->argument[5], &mask, sizeof(mask)) && mask;
}

void children_look_signalled(struct wait *wait, struct other_end *end, const struct task_view *task)
{
	struct wait found = { .pid = wait->pid };

	if (strcmp(wait->call, "rt_sigsuspend") != 0 && !select_is_for_signals(wait, task))
		return;
	if (!process_handles_children(wait->pid))
		return;
	children_look(&found, task);
	if (!found.peers)
		return;
	memset(end, 0, sizeof(*end));
	wait->kind = WAIT_CHILD;
	wait->fd = -1;
	wait->object[0] = '\0';
	wait_copy_peers(wait, &found);
}

void children_follow(struct wait *wait)
{
	static const struct task_view any;
	struct wait found = { .pid = wait->pid };

	if (!process_handles_children(wait->pid))
		return;
	children_look(&found, &any);
	for (unsigned i = 0; i < found.follows; i++)
		wait_follow(wait, found.follow[i]);
}

/* Reads the command line as far as it fits. Returns its length; 0 if unreadable. */
static ssize_t command_line_read(pid_t pid, char *text, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	n = proc_read(path, text, size);
	return n > 0 ? n : 0;
}

static bool process_is_bpfmon(pid_t pid)
{
	char path[64], exe[4096], *name;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = readlink(path, exe, sizeof(exe) - 1);
	if (n <= 0)
		return false;
	exe[n] = '\0';
	name = strrchr(exe, '/');
	/* an update may replace the file during a run */
	return name && (!strcmp(name, "/bpfmon") || !strcmp(name, "/bpfmon (deleted)"));
}

pid_t launcher_command(pid_t pid)
{
	char path[96], children[4096], own[2048], its[sizeof(own)], *at = children, *end;
	ssize_t n = command_line_read(pid, own, sizeof(own));
	pid_t child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	if (!n || !process_is_bpfmon(pid) || proc_read(path, children, sizeof(children)) <= 0)
		return 0;
	/* roles have the launcher's command line; the command has executed another */
	for (; (child = (pid_t)strtol(at, &end, 10)) > 0; at = end) {
		ssize_t m = command_line_read(child, its, sizeof(its));

		if (m && (m != n || memcmp(own, its, (size_t)n) != 0))
			return child;
	}
	return 0;
}

void launcher_look(struct wait *wait, struct other_end *end)
{
	struct wait found = { .pid = wait->pid };
	pid_t command = 0;

	if (wait->kind == WAIT_POLL && !strcmp(wait->comm, "bpfmon"))
		command = launcher_command(wait->pid);
	if (!command)
		return;
	wait_add_peer(&found, command);
	memset(end, 0, sizeof(*end));
	wait->kind = WAIT_CHILD;
	wait->fd = -1;
	wait->object[0] = '\0';
	wait_copy_peers(wait, &found);
}
