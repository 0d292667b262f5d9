// SPDX-License-Identifier: BSD-2-Clause
#include "measure/proc_state.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memory.h"

#include <ctype.h>
#include <dirent.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHARE_OF_BUDGET 4 /* the part of the descriptors that may be used: 1/4 */
#define TAKEN_SUMS 3      /* interrupts, soft interrupts and steal, each in whole ticks */

struct task_list {
	pid_t *all; /* owned */
	size_t nr, most;
};

static void task_list_add(struct task_list *t, pid_t task)
{
	if (t->nr < t->most)
		t->all[t->nr++] = task;
}

static void task_list_add_of(struct task_list *t, const struct proc_member *m)
{
	__cleanup(closedirp) DIR *dir = NULL;
	const struct dirent *entry;
	char path[64];

	if (m->stat.threads == 1) {
		task_list_add(t, m->files.pid);
		return;
	}
	snprintf(path, sizeof(path), "/proc/%d/task", m->files.pid);
	dir = memory_opendir(path);
	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char)*entry->d_name))
			task_list_add(t, atoi(entry->d_name));
}

/* Users may not count in kernel mode, but this clock runs then all the same. */
static int task_clock_open(pid_t task)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(a),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return (int)syscall(SYS_perf_event_open, &a, task, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static uint64_t unit_ns(void)
{
	return NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
}

/*
 * Reads the time of interrupts and steal on all CPUs. Kernels that measure it exclude it from a
 * process's CPU time, but not from its task clock.
 */
static bool taken_read(uint64_t *taken_ns)
{
	__cleanup(fclosep) FILE *f = memory_fopen("/proc/stat", "re");
	unsigned long long irq, softirq, steal;

	if (!f || fscanf(f, "cpu %*u %*u %*u %*u %*u %llu %llu %llu", &irq, &softirq, &steal) != 3)
		return false;
	*taken_ns = (irq + softirq + steal) * unit_ns();
	return true;
}

void proc_clock_open(struct proc_clock *c, const struct proc_members *members, uint64_t before_ns,
		     struct proc_budget *b)
{
	struct task_list t = { .most = b->most / SHARE_OF_BUDGET };

	c->is_tried = true;
	c->before_ns = before_ns;
	t.all = memory_calloc(t.most, sizeof(*t.all));
	c->fds = memory_calloc(t.most, sizeof(*c->fds));
	if (t.all && c->fds && taken_read(&c->taken_ns)) {
		/* each sum may grow by up to a tick more than its reading */
		c->taken_ns -= TAKEN_SUMS * unit_ns();
		/* list all first: children born later inherit the events */
		for (size_t i = 0; i < members->nr; i++)
			task_list_add_of(&t, members->all[i]);
		for (size_t i = 0; i < t.nr; i++) {
			c->fds[c->nr] = task_clock_open(t.all[i]);
			c->nr += c->fds[c->nr] >= 0;
		}
		b->nr_open += (unsigned)c->nr;
	}
	free(t.all);
}

uint64_t proc_clock_read(struct proc_clock *c)
{
	uint64_t used_ns = c->before_ns, one_ns, taken_ns;

	for (size_t i = 0; i < c->nr; i++)
		if (read(c->fds[i], &one_ns, sizeof(one_ns)) == sizeof(one_ns))
			used_ns += one_ns;
	/* after the clocks: they have nothing that is not in it */
	if (!c->nr || !taken_read(&taken_ns))
		return c->most_ns;
	taken_ns -= c->taken_ns;
	if (used_ns > taken_ns + c->most_ns)
		c->most_ns = used_ns - taken_ns;
	return c->most_ns;
}

void proc_clock_done(struct proc_clock *c)
{
	for (size_t i = 0; i < c->nr; i++)
		close(c->fds[i]);
	free(c->fds);
	*c = (struct proc_clock){ 0 };
}
