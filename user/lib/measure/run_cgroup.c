// SPDX-License-Identifier: BSD-2-Clause
#include "measure/run_cgroup.h"

#include "base/cgroup_mount.h"
#include "base/cleanup.h"
#include "base/procstat.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONTROLLER "memory"

void run_cgroup_init(struct run_cgroup *g)
{
	cgroup_stat_init(&g->stat);
	g->target.cg.path[0] = '\0';
}

static int pids_order(const void *a, const void *b)
{
	const pid_t p = *(const pid_t *)a, q = *(const pid_t *)b;

	return (p > q) - (p < q);
}

/* The launcher and what it has started, and those that wait for it. */
static bool is_around_launcher(const struct run_cgroup *g, pid_t pid)
{
	return g->launcher && (process_descends_from(pid, g->launcher) || pid == 1 ||
			       process_descends_from(g->launcher, pid));
}

/* @pids are sorted. */
static bool holds_only(const struct run_cgroup *g, const pid_t *pids, size_t nr)
{
	char path[sizeof(g->target.cg.path) + 16];
	__cleanup(fclosep) FILE *f = NULL;
	struct stat st;
	pid_t pid;

	/* one with cgroups below it may hold others in these */
	if (stat(g->target.cg.path, &st) || st.st_nlink > 2)
		return false;
	snprintf(path, sizeof(path), "%s/cgroup.procs", g->target.cg.path);
	f = fopen(path, "re");
	while (f && fscanf(f, "%d", &pid) == 1)
		if (!bsearch(&pid, pids, nr, sizeof(*pids), pids_order) &&
		    !is_around_launcher(g, pid))
			return false;
	return f;
}

static bool holds_only_rows(const struct run_cgroup *g, const struct row_list *rows)
{
	__cleanup(freep) pid_t *pids = calloc(rows->nr + 1, sizeof(*pids));

	if (!pids)
		return false;
	for (size_t i = 0; i < rows->nr; i++)
		pids[i] = (pid_t)rows->all[i]->pid;
	qsort(pids, rows->nr, sizeof(*pids), pids_order);
	return holds_only(g, pids, rows->nr);
}

/* All but what the kernel can drop. */
static bool undroppable_read(struct run_cgroup *g, uint64_t *bytes)
{
	struct metric_set wanted = { 0 };
	struct sample smp = { 0 };
	uint64_t kept;

	metric_put(&wanted, M_cgroup_anon);
	metric_put(&wanted, M_cgroup_shmem);
	metric_put(&wanted, M_cgroup_kernel);
	metric_put(&wanted, M_cgroup_reclaimable);
	cgroup_stat_read(&g->stat, &wanted, &smp);
	kept = smp.value[M_cgroup_kernel] > smp.value[M_cgroup_reclaimable]
		       ? smp.value[M_cgroup_kernel] - smp.value[M_cgroup_reclaimable]
		       : 0;
	*bytes = smp.value[M_cgroup_anon] + smp.value[M_cgroup_shmem] + kept;
	return sample_has(&smp, M_cgroup_anon) && sample_has(&smp, M_cgroup_shmem);
}

static int memory_cgroup_find(pid_t pid, struct cgroup_target *t)
{
	char proc[32], path[4096], folder[4096], why[256];
	size_t mount;
	bool is_v2;
	int id, err;

	snprintf(proc, sizeof(proc), "/proc/%d", pid);
	err = cgroup_of_process(proc, CONTROLLER, path, &is_v2, &id);
	if (!err)
		err = cgroup_find_folder("/proc/self", is_v2 ? NULL : CONTROLLER, path, folder,
					 &mount);
	return err ? err : cgroup_target_find("/proc/self", folder, t, why, sizeof(why));
}

void run_cgroup_open(struct run_cgroup *g, const struct cgroup_target *own, pid_t pid,
		     bool is_command)
{
	struct proc_stat s;

	if (own) {
		g->target = *own;
	} else if (memory_cgroup_find(pid, &g->target)) {
		g->target.cg.path[0] = '\0';
		return;
	}
	g->may_have_others = !own;
	if (is_command && !own && !proc_stat_read(pid, &s))
		g->launcher = s.parent;
	if (!own && !holds_only(g, &pid, 1)) {
		g->target.cg.path[0] = '\0';
		return;
	}
	cgroup_stat_open_memory(&g->stat, &g->target);
	if (own)
		return;
	if (!cgroup_stat_peak(&g->stat, &g->base_most_bytes))
		g->base_most_bytes = 0;
	if (is_command && !undroppable_read(g, &g->base_bytes))
		g->base_bytes = 0;
}

bool run_cgroup_read(struct run_cgroup *g, const struct row_list *rows, uint64_t *bytes)
{
	if (!*g->target.cg.path || !undroppable_read(g, bytes))
		return false;
	*bytes -= *bytes < g->base_bytes ? *bytes : g->base_bytes;
	if (!g->may_have_others || *bytes <= g->checked_bytes)
		return true;
	if (!holds_only_rows(g, rows))
		return false;
	g->checked_bytes = *bytes;
	return true;
}

bool run_cgroup_most(const struct run_cgroup *g, uint64_t *bytes)
{
	if (!*g->target.cg.path || !cgroup_stat_peak(&g->stat, bytes) ||
	    *bytes <= g->base_most_bytes)
		return false;
	*bytes -= *bytes < g->base_bytes ? *bytes : g->base_bytes;
	return true;
}

bool run_cgroup_glance(struct run_cgroup *g, const struct cgroup *cg, uint64_t known_bytes,
		       uint64_t *bytes, uint64_t *most_bytes)
{
	uint64_t all = 0;
	bool is_known;

	g->target.cg = *cg;
	snprintf(g->target.controller, sizeof(g->target.controller), "%s",
		 cg->is_v2 ? "" : CONTROLLER);
	*bytes = 0;
	is_known = cgroup_stat_watch(&g->stat, &g->target) && cgroup_stat_usage(&g->stat, &all);
	if (is_known)
		cgroup_stat_open_memory(&g->stat, &g->target);
	if (all > known_bytes)
		is_known = undroppable_read(g, bytes);
	if (!cgroup_stat_peak(&g->stat, most_bytes))
		*most_bytes = 0;
	cgroup_stat_done(&g->stat);
	return is_known;
}

void run_cgroup_done(struct run_cgroup *g)
{
	cgroup_stat_done(&g->stat);
}
