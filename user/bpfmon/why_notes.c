// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/why_notes.h"

#include "base/procstat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_GENERATIONS 64

/* By the beginning of the name of what a process executes. */
static const struct {
	const char *runtime, *tool, *command;
} stack_tools[] = {
	{ "python", "py-spy", "py-spy dump --pid" },
	{ "node", "node", "node inspect -p" },
	{ "java", "jstack", "jstack" },
	{ "ruby", "rbspy", "rbspy dump --pid" },
};

static bool tool_is_in_path(const char *tool)
{
	const char *at = getenv("PATH");
	char path[4096];

	while (at && *at) {
		size_t n = strcspn(at, ":");

		snprintf(path, sizeof(path), "%.*s/%s", (int)(n < 4000 ? n : 0), at, tool);
		if (n && n < 4000 && !access(path, X_OK))
			return true;
		at += n + (at[n] == ':');
	}
	return false;
}

static bool stack_note_of(struct stack_note *n, const struct wait *wait)
{
	char path[64], exe[4096];
	const char *name = wait->comm;
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%d/exe", wait->pid);
	length = readlink(path, exe, sizeof(exe) - 1);
	if (length > 0) {
		exe[length] = '\0';
		name = strrchr(exe, '/') ? strrchr(exe, '/') + 1 : exe;
	}
	for (size_t i = 0; i < sizeof(stack_tools) / sizeof(*stack_tools); i++) {
		if (strncmp(name, stack_tools[i].runtime, strlen(stack_tools[i].runtime)) != 0)
			continue;
		n->pid = wait->pid;
		n->tool = stack_tools[i].tool;
		snprintf(n->command, sizeof(n->command), "%s %d", stack_tools[i].command,
			 wait->pid);
		n->is_installed = tool_is_in_path(n->tool);
		return true;
	}
	return false;
}

void stack_note_find(struct stack_note *n, const struct waits *w, const struct wait_reason *r)
{
	memset(n, 0, sizeof(*n));
	for (size_t i = 0; r->is_found && i < r->links; i++) {
		const struct wait *wait = waits_get(w, r->link[i]);

		if (wait->kind > WAIT_HIDDEN && wait->kind != WAIT_ZOMBIE && stack_note_of(n, wait))
			return;
	}
}

static bool process_is_given(const struct waits *w, pid_t pid)
{
	for (size_t i = 0; i < waits_given(w); i++)
		if (waits_get(w, i)->pid == pid)
			return true;
	return false;
}

/* Whether it, or what it descends from, is asked about. */
static bool process_is_inside(const struct waits *w, pid_t pid)
{
	char state;

	for (int i = 0; i < MOST_GENERATIONS && pid > 0; i++)
		if (process_is_given(w, pid) || pid == getpid())
			return true;
		else if (procstat_read(pid, &state, &pid))
			return false;
	return false;
}

/* Whether both are processes of one program, as those of bpfmon are. */
static bool peer_is_sibling(const struct wait *wait, const struct wait_peer *peer)
{
	pid_t parent;
	char state;

	return !strcmp(wait->comm, peer->comm) && wait->parent > 1 &&
	       !procstat_read(peer->pid, &state, &parent) && parent == wait->parent;
}

static bool wait_ends_outside(const struct waits *w, const struct wait *wait)
{
	/* a server has clients outside, too, but is not held up by any of them */
	if (!wait->is_socket || wait->is_fed || !wait->peers)
		return false;
	for (unsigned i = 0; i < wait->peers && i < WAIT_PEERS; i++)
		if (process_is_inside(w, wait->peer[i].pid) ||
		    peer_is_sibling(wait, &wait->peer[i]))
			return false;
	return true;
}

void outside_note_find(struct outside_note *n, const struct waits *w)
{
	memset(n, 0, sizeof(*n));
	for (size_t i = 0; i < waits_given(w); i++) {
		const struct wait *wait = waits_get(w, i);

		if (!wait_ends_outside(w, wait))
			continue;
		n->client = wait;
		n->pid = wait->peer[0].pid;
		n->comm = wait->peer[0].comm;
		return;
	}
}
