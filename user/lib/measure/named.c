// SPDX-License-Identifier: BSD-2-Clause
#include "measure/named.h"

#include "base/clock.h"
#include "base/procstat.h"

#include <errno.h>
#include <stdio.h>

struct named {
	const struct job_spec *options;
	bool is_found[MAX_TARGETS];
	pid_t impostor; /* a PID that was another process's when it was named; or 0 */
};

static void note_named(void *context, const struct process_record *r)
{
	struct named *n = context;
	const struct job_spec *o = n->options;

	for (size_t i = 0; i < o->nr_targets; i++) {
		if (o->targets[i] != (pid_t)r->pid)
			continue;
		n->is_found[i] = true;
		if (is_earlier(o->named_boot_ns, r->start_boot_ns))
			n->impostor = o->targets[i];
	}
}

/* @has_any: tasks were found. One that has ended since is in the ring buffer: not an error. */
static int say_missing(pid_t pid, bool has_any, char *why, size_t size)
{
	pid_t parent;
	char state;

	if (procstat_read(pid, &state, &parent)) {
		if (has_any)
			return 0;
		snprintf(why, size, "process %d has just ended; there is nothing to attach to",
			 pid);
	} else {
		snprintf(why, size,
			 "process %d exists, but not among the tasks that the kernel shows bpfmon: "
			 "%s",
			 pid,
			 procstat_is_own_namespace()
				 ? "it hides it from BPF programs"
				 : "start bpfmon in the PID namespace that /proc is of (unshare "
				   "--pid needs --fork)");
	}
	return -ESRCH;
}

int named_check(struct tracker *t, const struct job_spec *o, char *why, size_t size)
{
	struct named n = { .options = o };
	int err = 0;

	tracker_each_process(t, note_named, &n);
	if (n.impostor) {
		snprintf(why, size, "process %d has ended, and another has its PID by now",
			 n.impostor);
		return -ESRCH;
	}
	for (size_t i = 0; !err && i < o->nr_targets; i++)
		if (!n.is_found[i])
			err = say_missing(o->targets[i], tracker_has_found(t), why, size);
	return err;
}
