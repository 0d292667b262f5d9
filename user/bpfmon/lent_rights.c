// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/lent_rights.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/user.h"
#include "base/fd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Buckets of the kernel's maps are memory that no limit of a user's processes counts: 4 MiB. */
#define MAX_TASKS_LENT (1U << 17)

/* What an option asks for, and no user but root may have; NULL: all of it may be had. */
static const char *recording_find_refused(const struct recording_options *r)
{
	if (r->exact_peak)
		return "--exact-peak needs root, as it slows down all processes of the machine; "
		       "use sudo, or leave it out: then the peak is a range";
	if (r->max_tasks > MAX_TASKS_LENT)
		return "--max-tasks above 131072 needs root, as it takes memory of the kernel; use "
		       "sudo, or a smaller number";
	if (r->record_as_root)
		return "--record-as root needs root, as it writes files as root; use sudo, or "
		       "leave it out: then they are yours";
	return NULL;
}

static int lent_rights_refuse(const char *what)
{
	if (what)
		log_error("%s", what);
	return what ? -EPERM : 0;
}

int lent_rights_check_run(const struct run_options *o)
{
	if (!user_borrows_rights())
		return 0;
	if (o->switch_user)
		return lent_rights_refuse("--user needs root, as it changes the command's user; "
					  "use sudo, or leave it out: then the command is yours");
	return lent_rights_refuse(recording_find_refused(&o->recording));
}

/*
 * What the collector follows is the process that is checked here: it takes none that was born after
 * the names were read, as one with a reused number is.
 */
static int lent_rights_check_process(pid_t pid)
{
	__cleanup(closep) int fd = pidfd_make(pid);
	char why[512];
	int err = fd < 0 ? fd : process_check_owner(fd, getuid(), getgid(), why, sizeof(why));

	if (fd < 0)
		log_error("cannot open process %d: %s", pid, strerror(-fd));
	else if (err == -ESRCH)
		log_error("process %d has just ended; there is nothing to attach to", pid);
	else if (err)
		log_error("without root bpfmon attaches to your own processes only, and %s; use "
			  "sudo for others",
			  why);
	return err ? -EPERM : 0;
}

int lent_rights_check_attach(const struct attach_options *o)
{
	const char *what = o->cgroup ? "--cgroup" : o->container ? "--container" : NULL;

	if (!user_borrows_rights())
		return 0;
	if (!what)
		return lent_rights_refuse(recording_find_refused(&o->recording));
	log_error("%s needs root, as processes of other users may be there; use sudo, or attach to "
		  "your own processes by --pid",
		  what);
	return -EPERM;
}

int lent_rights_check_processes(const struct attach_options *o)
{
	int err = 0;

	for (size_t i = 0; !err && user_borrows_rights() && i < o->nr_pids; i++)
		err = lent_rights_check_process(o->pids[i]);
	return err;
}
