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

bool own_children_has_born(const struct own_children *own, pid_t pid, uint64_t start_ns)
{
	for (size_t i = 0; i < own->nr; i++)
		if (own->all[i].pid == pid && own->all[i].start_ns == start_ns)
			return true;
	return false;
}

bool own_children_has(const struct own_children *own, pid_t pid)
{
	struct proc_stat s;

	for (size_t i = 0; i < own->nr; i++)
		if (own->all[i].pid == pid)
			return !proc_stat_read(pid, &s) &&
			       own_children_has_born(own, pid, s.start_ns);
	return false;
}
