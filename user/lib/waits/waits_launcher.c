// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon's own process that has started a command: it waits for that. */
#include "waits/look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As far as it fits: how one was started. Its length; 0: it is not readable. */
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
	/* an installation replaces it below a run */
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
	/* its roles are copies of it; what it has started has executed something */
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
	wait_take_peers(wait, &found);
}
