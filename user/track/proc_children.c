// SPDX-License-Identifier: BSD-2-Clause
#include "track/proc_children.h"

void proc_children_add(struct proc_children *c, const struct proc_stat *s, const struct proc_io *io)
{
	c->cpu_ns += s->user_ns + s->system_ns + s->children_user_ns + s->children_system_ns;
	proc_io_add(&c->io, io);
}

static uint64_t part_subtract(uint64_t all, uint64_t part)
{
	return all > part ? all - part : 0;
}

uint64_t proc_children_unseen_ns(const struct proc_children *c, const struct proc_stat *s)
{
	return part_subtract(s->children_user_ns + s->children_system_ns, c->cpu_ns);
}

struct proc_io proc_children_without(const struct proc_children *c, const struct proc_io *io)
{
	return (struct proc_io){
		.rchar = part_subtract(io->rchar, c->io.rchar),
		.wchar = part_subtract(io->wchar, c->io.wchar),
		.syscr = part_subtract(io->syscr, c->io.syscr),
		.syscw = part_subtract(io->syscw, c->io.syscw),
		.read_bytes = part_subtract(io->read_bytes, c->io.read_bytes),
		.write_bytes = part_subtract(io->write_bytes, c->io.write_bytes),
		.cancelled_write_bytes =
			part_subtract(io->cancelled_write_bytes, c->io.cancelled_write_bytes),
	};
}
