// SPDX-License-Identifier: BSD-2-Clause
#include "base/own_children.h"

#include "base/procstat.h"

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
