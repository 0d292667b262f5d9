// SPDX-License-Identifier: BSD-2-Clause
/* Why a process does not run: a frozen cgroup, a stop signal, or an exhausted CPU quota. */
#include "base/cgroup.h"
#include "base/memory.h"
#include "waits/look.h"
#include "waits/syscalls.h"
#include "waits/task.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

struct freezer {
	const char *controller;     /* NULL for version 2 */
	const char *state, *frozen; /* file, and its content in a frozen cgroup */
	const char *own;            /* file with 1 if frozen itself, not by an ancestor */
};

static const struct freezer freezers[] = {
	{ "freezer", "freezer.state", "FROZEN", "freezer.self_freezing" },
	{ NULL, "cgroup.events", "frozen 1", "cgroup.freeze" },
};

static bool file_read(const char *folder, const char *name, char *text, size_t size)
{
	char path[4300];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return proc_read(path, text, size) > 0;
}

static bool file_has(const char *folder, const char *name, const char *word)
{
	char text[512];

	return file_read(folder, name, text, sizeof(text)) && strstr(text, word);
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
	if (length > mount) /* else the frozen one is above the root of this namespace */
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

	/* the kernel shows the signal for the process only, not for a thread */
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

/*
 * Processes that are ready to run, but held up by the CPU quota of a cgroup. The kernel shows them
 * as running; a cgroup that is throttled within the next two periods identifies them.
 */

#define MAX_LEVELS 16         /* cgroups from that of the process upwards */
#define MAX_PERIOD_US 1000000 /* the kernel's limit */

struct quota {
	uint64_t quota_us, period_us; /* 0: no quota */
	uint64_t periods, throttled;  /* counts so far */
};

struct quotas {
	struct wait *wait;
	char folder[4096]; /* of the cgroup */
	size_t mount;      /* length of the mount point */
	bool is_v2;
	struct quota level[MAX_LEVELS];
};

static void quota_read(const char *folder, bool is_v2, struct quota *q)
{
	char text[1024];
	const char *at;

	*q = (struct quota){ 0 };
	if (is_v2) { /* "max 100000": no quota */
		if (!file_read(folder, "cpu.max", text, sizeof(text)) ||
		    sscanf(text, "%" SCNu64 " %" SCNu64, &q->quota_us, &q->period_us) != 2)
			return;
	} else { /* -1: no quota */
		if (!file_read(folder, "cpu.cfs_quota_us", text, sizeof(text)) || *text == '-' ||
		    sscanf(text, "%" SCNu64, &q->quota_us) != 1 ||
		    !file_read(folder, "cpu.cfs_period_us", text, sizeof(text)) ||
		    sscanf(text, "%" SCNu64, &q->period_us) != 1)
			return;
	}
	if (!file_read(folder, "cpu.stat", text, sizeof(text)) ||
	    !(at = strstr(text, "nr_periods ")) ||
	    sscanf(at, "nr_periods %" SCNu64 " nr_throttled %" SCNu64, &q->periods,
		   &q->throttled) != 2)
		q->period_us = 0;
}

/* Reads the quotas of the process's cgroup and its ancestors. Returns false if there are none. */
static bool quotas_read(struct quotas *all)
{
	size_t length = strlen(all->folder);
	char folder[sizeof(all->folder)];
	bool has_any = false;

	memcpy(folder, all->folder, length + 1);
	for (size_t i = 0; i < MAX_LEVELS && length >= all->mount; i++) {
		quota_read(folder, all->is_v2, &all->level[i]);
		has_any = has_any || all->level[i].period_us;
		while (length && folder[--length] != '/')
			;
		folder[length] = '\0';
	}
	return has_any;
}

static bool quotas_begin(struct quotas *all, struct wait *wait)
{
	char proc[32], path[4096];
	int id;

	*all = (struct quotas){ .wait = wait };
	snprintf(proc, sizeof(proc), "/proc/%d", wait->pid);
	if (cgroup_of_process(proc, "cpu", path, &all->is_v2, &id) ||
	    cgroup_find_folder("/proc/self", all->is_v2 ? NULL : "cpu", path, all->folder,
			       &all->mount))
		return false;
	return quotas_read(all);
}

static uint64_t longest_period(const struct quotas *all)
{
	uint64_t longest = 0;

	for (size_t i = 0; i < MAX_LEVELS; i++)
		if (all->level[i].period_us > longest)
			longest = all->level[i].period_us;
	return longest < MAX_PERIOD_US ? longest : MAX_PERIOD_US;
}

/* Sets the object to the cgroup @levels above that of the process. */
static void throttle_set_object(const struct quotas *all, size_t levels)
{
	size_t length = strlen(all->folder);
	char path[sizeof(all->folder)];

	memcpy(path, all->folder, length + 1);
	while (levels--)
		while (length && path[--length] != '/')
			;
	path[length] = '\0';
	path_copy_inert(all->wait->object, sizeof(all->wait->object),
			length > all->mount ? path + all->mount : "/");
}

/* Reports the nearest cgroup that was throttled since quotas_begin(). */
static void quotas_end(struct quotas *all)
{
	struct quota before[MAX_LEVELS];
	struct wait *wait = all->wait;

	memcpy(before, all->level, sizeof(before));
	quotas_read(all);
	for (size_t i = 0; i < MAX_LEVELS; i++) {
		const struct quota *now = &all->level[i];

		if (!now->period_us || !before[i].period_us ||
		    now->throttled <= before[i].throttled)
			continue;
		wait->kind = WAIT_THROTTLED;
		wait->quota_milli = (unsigned)(now->quota_us * 1000 / now->period_us);
		wait->cgroup_is_v2 = all->is_v2;
		throttle_set_object(all, i);
		return;
	}
}

void throttles_look(struct wait **waits, size_t nr)
{
	struct quotas *all = nr ? memory_calloc(nr, sizeof(*all)) : NULL;
	uint64_t wait_us = 0;
	size_t limited = 0;

	for (size_t i = 0; all && i < nr; i++)
		if (quotas_begin(&all[limited], waits[i])) {
			uint64_t period_us = longest_period(&all[limited++]);

			wait_us = 2 * period_us > wait_us ? 2 * period_us : wait_us;
		}
	if (limited)
		usleep((useconds_t)wait_us);
	for (size_t i = 0; i < limited; i++)
		quotas_end(&all[i]);
	free(all);
}
