// SPDX-License-Identifier: BSD-2-Clause
/* Why a process does not run at all: a frozen cgroup, or a signal, as of its terminal. */
#include "waits/syscalls.h"
#include "waits/fdinfo.h"
#include "waits/look.h"

#include "base/cgroup.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

struct freezer {
	const char *controller;     /* NULL: of version 2 */
	const char *state, *frozen; /* a file, and what is in it of a frozen cgroup */
	const char *own; /* a file that begins with 1 if it was frozen, not one above it */
};

static const struct freezer freezers[] = {
	{ "freezer", "freezer.state", "FROZEN", "freezer.self_freezing" },
	{ NULL, "cgroup.events", "frozen 1", "cgroup.freeze" },
};

static bool file_has(const char *folder, const char *name, const char *word)
{
	char path[4300], text[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return proc_read(path, text, sizeof(text)) > 0 && strstr(text, word);
}

static bool freezer_holds(const struct freezer *f, struct wait *wait)
{
	char proc[32], path[4096], folder[4096];
	size_t mount, length;
	bool is_v2;
	int id;

	snprintf(proc, sizeof(proc), "/proc/%d", wait->pid);
	if (cgroup_of_process(proc, f->controller, path, &is_v2, &id) || is_v2 != !f->controller ||
	    cgroup_find_folder("/proc/self", f->controller, path, folder, &mount) ||
	    !file_has(folder, f->state, f->frozen))
		return false;
	length = strlen(folder);
	while (length > mount && !file_has(folder, f->own, "1")) {
		while (length && folder[--length] != '/')
			;
		folder[length] = '\0';
	}
	if (length > mount) /* or it was one above the root of this namespace */
		path_copy_inert(wait->object, sizeof(wait->object), folder + mount);
	wait->cgroup_is_v2 = is_v2;
	wait->kind = WAIT_FROZEN;
	return true;
}

void freezer_look(struct wait *wait)
{
	for (size_t i = 0; i < sizeof(freezers) / sizeof(*freezers); i++)
		if (freezer_holds(&freezers[i], wait))
			return;
}

static void terminal_name(char *out, size_t size, unsigned device)
{
	unsigned major = major(device), minor = minor(device);

	if (major >= 136 && major < 144)
		snprintf(out, size, "/dev/pts/%u", (major - 136) * 256 + minor);
	else if (major == 4 && minor < 64)
		snprintf(out, size, "/dev/tty%u", minor);
	else if (major == 4)
		snprintf(out, size, "/dev/ttyS%u", minor - 64);
}

void stop_look(struct wait *wait, const struct task_view *task)
{
	const struct call *call = call_of_task(task);
	struct task_stat stat;
	char link[64];

	/* of a thread the kernel does not say it */
	if (task_stat_read(wait->pid, 0, &stat))
		return;
	wait->stop_signal = stat.stop_signal;
	if (!stat.terminal || stat.foreground == stat.group)
		return;
	if (stat.stop_signal == SIGTTIN || stat.stop_signal == SIGTTOU ||
	    (!stat.stop_signal && call && call->fd_at >= 0 &&
	     descriptor_link(wait->pid, (int)task->argument[call->fd_at], link, sizeof(link)) &&
	     link_is_terminal(link)))
		terminal_name(wait->object, sizeof(wait->object), stat.terminal);
}
