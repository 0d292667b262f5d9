// SPDX-License-Identifier: BSD-2-Clause
#include "base/reaped.h"

#include "base/clock.h"
#include "base/procstat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCK_BYTES 512 /* unit of ru_inblock, ru_oublock */

static uint64_t timeval_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * NSEC_PER_SEC + (uint64_t)t->tv_usec * 1000;
}

/*
 * A mark up to the launcher's may be that of the copied memory. A process that has waited for
 * another one has its faults, too.
 */
static void reaped_note_peak(struct reaped *r, const struct rusage *used,
			     const struct proc_stat *stat)
{
	const uint64_t bytes = (uint64_t)used->ru_maxrss * 1024;
	struct proc_status own;

	if (!r->launcher_peak_bytes && !proc_status_read(getpid(), &own))
		r->launcher_peak_bytes = own.peak_bytes;
	r->last_peak_bytes = 0;
	if (bytes <= r->launcher_peak_bytes)
		return;
	if (bytes > r->peak_bytes)
		r->peak_bytes = bytes;
	if (*stat->comm && !stat->children_minflt)
		r->last_peak_bytes = bytes;
}

/* wait4() includes the children that the process has waited for; each of these had page faults. */
static void reaped_note_own(struct reaped *r, const struct proc_stat *s, const struct rusage *used)
{
	const bool had_children = s->children_minflt > 0 || !s->state;

	r->last_user_ns = had_children ? s->user_ns : timeval_ns(&used->ru_utime);
	r->last_system_ns = had_children ? s->system_ns : timeval_ns(&used->ru_stime);
}

int reaped_wait(struct reaped *r, pid_t pid)
{
	struct proc_io io = { 0 };
	struct proc_stat stat = { 0 };
	bool has_io = !proc_io_read(pid, &io);
	struct rusage used;
	pid_t got;
	int status;

	if (proc_stat_read(pid, &stat))
		stat = (struct proc_stat){ 0 };
	do
		got = wait4(pid, &status, 0, &used);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	if (!has_io) { /* newer kernels refuse this to ordinary users */
		io.read_bytes = (uint64_t)used.ru_inblock * BLOCK_BYTES;
		io.write_bytes = (uint64_t)used.ru_oublock * BLOCK_BYTES;
	}
	reaped_note_peak(r, &used, &stat);
	r->last = pid;
	r->status = status;
	reaped_note_own(r, &stat, &used);
	r->last_children_user_ns = stat.children_user_ns;
	r->last_children_system_ns = stat.children_system_ns;
	r->user_ns += timeval_ns(&used.ru_utime);
	r->system_ns += timeval_ns(&used.ru_stime);
	r->minflt += (uint64_t)used.ru_minflt;
	r->majflt += (uint64_t)used.ru_majflt;
	r->nvcsw += (uint64_t)used.ru_nvcsw;
	r->nivcsw += (uint64_t)used.ru_nivcsw;
	proc_io_add(&r->io, &io);
	r->io_unread += !has_io;
	r->last_is_unread = !has_io;
	return 0;
}

void reaped_print(const struct reaped *r, char text[REAPED_BYTES])
{
	const unsigned char *bytes = (const void *)r;

	for (size_t i = 0; i < sizeof(*r); i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

bool reaped_scan(struct reaped *r, const char *text)
{
	unsigned char *bytes = (void *)r;
	char pair[3] = "";
	char *end;

	if (strlen(text) != 2 * sizeof(*r))
		return false;
	for (size_t i = 0; i < sizeof(*r); i++) {
		memcpy(pair, text + 2 * i, 2);
		bytes[i] = (unsigned char)strtoul(pair, &end, 16);
		if (*end)
			return false;
	}
	return true;
}

struct finding {
	struct own_children *own;
	pid_t command;
};

static void own_child_add(void *context, pid_t child)
{
	const struct finding *f = context;
	struct own_children *own = f->own;
	struct proc_stat s;

	if (child == f->command || own->nr == OWN_CHILDREN_MOST || proc_stat_read(child, &s))
		return;
	own->all[own->nr].pid = child;
	own->all[own->nr++].start_ns = s.start_ns;
}

int own_children_read(struct own_children *own, pid_t launcher, pid_t command)
{
	struct finding f = { own, command };

	own->nr = 0;
	return proc_each_child(launcher, 1, own_child_add, &f);
}

static size_t own_child_find(const struct own_children *own, pid_t pid)
{
	size_t i = 0;

	while (i < own->nr && own->all[i].pid != pid)
		i++;
	return i;
}

bool own_children_had(const struct own_children *own, pid_t pid)
{
	return own_child_find(own, pid) < own->nr;
}

bool own_children_has(const struct own_children *own, pid_t pid)
{
	const size_t i = own_child_find(own, pid);
	struct proc_stat s;

	return i < own->nr && !proc_stat_read(pid, &s) && s.start_ns == own->all[i].start_ns;
}
