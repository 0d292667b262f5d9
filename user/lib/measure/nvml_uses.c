// SPDX-License-Identifier: BSD-2-Clause
/*
 * Processes that use GPUs of NVIDIA. The driver has no counter of a process's work: it is estimated
 * from percentages, of the device if one process uses it, else of its processes.
 */
#include "measure/nvml_state.h"

#include <stdlib.h>
#include <string.h>

#define GRAPHICS_NS NSEC_PER_SEC /* from one look at an empty list of graphics to the next */

/* Processes that are joined with those of the last pass. */
struct uses_pass {
	struct nvml *n;
	struct gpu_use *next;
	size_t nr_next;
	size_t old; /* index in n->uses of the first that is not joined */
	uint64_t now_ns;
};

static int process_compare(const void *a, const void *b)
{
	const struct nvml_process *p = a, *q = b;

	return p->pid < q->pid ? -1 : p->pid > q->pid;
}

/* Returns whether a process of a list uses this instance, if it is one. */
static bool process_is_of(const struct nvml_device *d, const struct nvml_process *p)
{
	if (d->parent < 0 || d->gpu_instance == NVML_NO_INSTANCE)
		return true;
	if (p->gpu_instance == NVML_NO_INSTANCE)
		return !d->lists_by_parent;
	return p->gpu_instance == d->gpu_instance &&
	       (p->compute_instance == d->compute_instance ||
		p->compute_instance == NVML_NO_INSTANCE || d->compute_instance == NVML_NO_INSTANCE);
}

/*
 * Sorts by PID, with each process once: in both lists it has all of its memory, and lists of some
 * drivers repeat entries. Returns how many there are.
 */
static size_t processes_unite(const struct nvml_device *d, struct nvml_process *all, size_t nr)
{
	size_t kept = 0;

	qsort(all, nr, sizeof(*all), process_compare);
	for (size_t i = 0; i < nr; i++) {
		struct nvml_process *last = kept ? &all[kept - 1] : NULL;

		if (!process_is_of(d, &all[i]))
			continue;
		if (!last || last->pid != all[i].pid)
			all[kept++] = all[i];
		else if (last->memory_bytes == NVML_NO_VALUE ||
			 (all[i].memory_bytes != NVML_NO_VALUE &&
			  all[i].memory_bytes > last->memory_bytes))
			last->memory_bytes = all[i].memory_bytes;
	}
	return kept;
}

/* Reads both lists, that of graphics less often if it was empty. Returns the first one's result. */
static unsigned int lists_read(struct nvml *n, struct nvml_device *d, void *handle, size_t *nr,
			       uint64_t now_ns)
{
	unsigned int result;

	*nr = 0;
	result = nvml_read_processes(&n->lib, handle, NVML_COMPUTE, n->found, nr);
	if (result || (!d->nr_graphics && d->graphics_ns && now_ns >= d->graphics_ns &&
		       now_ns - d->graphics_ns < GRAPHICS_NS))
		return result;
	d->graphics_ns = now_ns;
	d->nr_graphics = *nr;
	nvml_read_processes(&n->lib, handle, NVML_GRAPHICS, n->found, nr);
	d->nr_graphics = *nr - d->nr_graphics;
	return result;
}

/* Returns whether the processes are known: those of n->found, of which there are @nr. */
static bool device_list_processes(struct nvml *n, struct nvml_device *d, size_t *nr,
				  uint64_t now_ns)
{
	unsigned int result;

	*nr = 0;
	d->is_forbidden = false;
	if (d->lost || d->has_instances)
		return false;
	result = lists_read(n, d, d->lists_by_parent ? n->devices[d->parent].handle : d->handle, nr,
			    now_ns);
	if (result == NVML_UNSUPPORTED && d->parent >= 0)
		d->lists_by_parent = true; /* from the next pass on */
	d->is_forbidden = result == NVML_FORBIDDEN;
	if (!nvml_device_took(n, d, result, now_ns))
		return false;
	*nr = processes_unite(d, n->found, *nr);
	return true;
}

static void uses_pass_add(struct uses_pass *u, const struct gpu_use *use)
{
	if (u->nr_next < MAX_GPU_USES)
		u->next[u->nr_next++] = *use;
	else
		u->n->uses_dropped++;
}

/* Joins those of the last pass that have a lower PID: they are gone, or kept for later. */
static void uses_skip(struct uses_pass *u, size_t device, uint32_t pid, bool keeps)
{
	struct nvml *n = u->n;

	for (; u->old < n->nr_uses; u->old++) {
		const struct gpu_use *old = &n->uses[u->old];

		if (old->device != device || old->pid >= pid)
			break;
		if (keeps)
			uses_pass_add(u, old);
		else
			nvml_account_gone(&n->devices[device], old->pid);
	}
}

static void process_join(struct uses_pass *u, size_t device, const struct nvml_process *p)
{
	const struct nvml *n = u->n;
	struct gpu_use use = { .pid = p->pid, .device = (uint32_t)device, .seen_ns = u->now_ns };

	uses_skip(u, device, p->pid, false);
	if (u->old < n->nr_uses && n->uses[u->old].device == device &&
	    n->uses[u->old].pid == p->pid)
		use = n->uses[u->old++];
	use.has = 0;
	if (p->memory_bytes != NVML_NO_VALUE) {
		use.memory_bytes = p->memory_bytes;
		use.has = GPU_MEMORY;
	}
	uses_pass_add(u, &use);
}

static void use_work(struct gpu_use *use, uint64_t busy_ns, uint64_t memory_busy_ns,
		     uint64_t now_ns)
{
	use->busy_ns += busy_ns;
	use->memory_busy_ns += memory_busy_ns;
	if (busy_ns || memory_busy_ns)
		use->busy_at_ns = now_ns;
}

/* The part of the time since @since_ns, in which the process was there. */
static uint64_t use_time(const struct gpu_use *use, uint64_t since_ns, uint64_t now_ns)
{
	const uint64_t from_ns = use->seen_ns > since_ns ? use->seen_ns : since_ns;

	return now_ns > from_ns ? now_ns - from_ns : 0;
}

/*
 * Gives the device's work since the last pass to the only process that uses it. Of several, the
 * driver is asked, which takes long: by nvml_step(), and not while the device has nothing to do.
 */
static void device_share_work(struct nvml_device *d, struct gpu_use *uses, uint64_t now_ns)
{
	const struct gpu_device *v = &d->values;
	const bool is_known = v->has & GPU_BUSY;
	uint64_t ns;

	if (!d->given_ns || d->given_ns > now_ns || !d->nr_uses)
		d->given_ns = now_ns;
	if (d->nr_uses == 1 && is_known) {
		ns = d->pass_ns > d->given_ns ? d->pass_ns : d->given_ns;
		ns = use_time(&uses[0], ns, now_ns);
		use_work(&uses[0], ns * v->busy_milli / 1000, ns * v->memory_busy_milli / 1000,
			 now_ns);
		d->given_ns = now_ns;
		d->was_busy = false;
	} else {
		d->was_busy |= !is_known || v->busy_milli;
		if (!d->was_busy)
			d->given_ns = now_ns;
	}
	for (size_t i = 0; i < d->nr_uses; i++) {
		if (d->parent >= 0 || (d->has_no_samples && (d->nr_uses > 1 || !is_known)))
			continue;
		uses[i].has |= GPU_BUSY | GPU_MEMORY_BUSY;
		uses[i].is_estimated = 1;
	}
	d->pass_ns = now_ns;
}

static void device_uses_read(struct uses_pass *u, size_t device)
{
	struct nvml *n = u->n;
	struct nvml_device *d = &n->devices[device];
	size_t nr;
	const bool is_known = device_list_processes(n, d, &nr, u->now_ns);

	d->first_use = u->nr_next;
	for (size_t i = 0; i < nr; i++)
		process_join(u, device, &n->found[i]);
	uses_skip(u, device, UINT32_MAX, !is_known && !d->has_instances);
	d->nr_uses = u->nr_next - d->first_use;
	if (!is_known) {
		d->given_ns = d->pass_ns = 0;
		d->was_busy = false;
		return;
	}
	d->values.has |= GPU_USES;
	device_share_work(d, &u->next[d->first_use], u->now_ns);
}

void nvml_uses_read(struct nvml *n, uint64_t now_ns)
{
	struct uses_pass u = { .n = n, .now_ns = now_ns };

	u.next = n->uses == n->lists[0] ? n->lists[1] : n->lists[0];
	n->uses_dropped = 0;
	for (size_t i = 0; i < n->nr_devices; i++)
		device_uses_read(&u, i);
	n->uses = u.next;
	n->nr_uses = u.nr_next;
}

static int sample_compare(const void *a, const void *b)
{
	const struct nvml_sample *s = a, *t = b;

	return s->pid < t->pid ? -1 : s->pid > t->pid;
}

/* Adds the samples of each process. Those of processes that are not listed are left out. */
static void shares_sum(struct nvml *n, const struct nvml_device *d,
		       const struct nvml_sample *samples, size_t nr)
{
	size_t at = 0;

	for (size_t i = 0; i < d->nr_uses; i++) {
		const uint32_t pid = n->uses[d->first_use + i].pid;
		struct nvml_share *share = &n->shares[i];

		*share = (struct nvml_share){ 0 };
		while (at < nr && samples[at].pid < pid)
			at++;
		for (; at < nr && samples[at].pid == pid; at++) {
			/* some drivers have had huge ones for processes that were idle */
			if (samples[at].busy > 100 || samples[at].memory_busy > 100)
				continue;
			share->busy += samples[at].busy;
			share->memory_busy += samples[at].memory_busy;
			share->nr++;
		}
	}
}

void nvml_uses_share(struct nvml *n, struct nvml_device *d, struct nvml_sample *samples, size_t nr,
		     uint64_t now_ns)
{
	uint64_t busy = 0, memory_busy = 0;

	if (nr)
		qsort(samples, nr, sizeof(*samples), sample_compare);
	shares_sum(n, d, samples, nr);
	for (size_t i = 0; i < d->nr_uses; i++) {
		struct nvml_share *share = &n->shares[i];

		if (!share->nr)
			continue;
		share->busy /= share->nr;
		share->memory_busy /= share->nr;
		busy += share->busy;
		memory_busy += share->memory_busy;
	}
	/*
	 * Processes work at once on parts of a device, and samples are of different times: sums
	 * above 100 % are possible, but the device has no more time than there is.
	 */
	busy = busy > 100 ? busy : 100;
	memory_busy = memory_busy > 100 ? memory_busy : 100;
	for (size_t i = 0; i < d->nr_uses; i++) {
		struct gpu_use *use = &n->uses[d->first_use + i];
		const uint64_t ns = use_time(use, d->given_ns, now_ns);

		use_work(use, ns * n->shares[i].busy / busy,
			 ns * n->shares[i].memory_busy / memory_busy, now_ns);
	}
	d->given_ns = now_ns;
	d->was_busy = false;
}

void nvml_uses_forget(struct nvml *n, struct nvml_device *d)
{
	const size_t device = (size_t)(d - n->devices);
	size_t kept = 0;

	for (size_t i = 0; i < n->nr_uses; i++)
		if (n->uses[i].device != device)
			n->uses[kept++] = n->uses[i];
	n->nr_uses = kept;
	/* their places have moved: samples are shared again after the next pass */
	for (size_t i = 0; i < n->nr_devices; i++)
		n->devices[i].nr_uses = 0;
}
