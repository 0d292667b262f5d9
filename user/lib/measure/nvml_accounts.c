// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the driver's accounting says of processes that have ended, where root has switched it on
 * (nvidia-smi --accounting-mode=1).
 */
#include "base/memory.h"
#include "measure/nvml_state.h"

#include <stdlib.h>
#include <string.h>

#define ON_NS NSEC_PER_SEC         /* between reading lists of PIDs */
#define OFF_NS (10 * NSEC_PER_SEC) /* between looking whether accounting is on */
#define AT_ONCE 16                 /* accounts that are read in one step: 2 us each */
#define ROUNDS 64 /* in as many, accounts of ended processes are read again, as PIDs return */

static int account_pid_compare(const void *a, const void *b)
{
	const unsigned int *p = a, *q = b;

	return *p < *q ? -1 : *p > *q;
}

static struct nvml_account *nvml_account_find(struct nvml_accounts *a, uint32_t pid)
{
	size_t low = 0, high = a->nr;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (a->all[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < a->nr && a->all[low].pid == pid ? &a->all[low] : NULL;
}

/* Replaces the accounts by those of these PIDs, and keeps what is known. Returns false without
 * memory. */
static bool accounts_list(struct nvml_accounts *a, unsigned int *pids, size_t nr)
{
	struct nvml_account *all = memory_calloc(nr + 1, sizeof(*all));
	size_t kept = 0;

	if (!all)
		return false;
	if (nr)
		qsort(pids, nr, sizeof(*pids), account_pid_compare);
	for (size_t i = 0; i < nr; i++) {
		const struct nvml_account *known = nvml_account_find(a, pids[i]);

		if (!pids[i] || (i && pids[i] == pids[i - 1]))
			continue;
		all[kept++] = known ? *known : (struct nvml_account){ .pid = pids[i] };
	}
	free(a->all);
	a->all = all;
	a->nr = kept;
	a->next = 0;
	return true;
}

static uint64_t percent_of(uint64_t ns, unsigned int percent)
{
	return ns / 100 * percent + ns % 100 * percent / 100;
}

static void ended_store(struct nvml *n, size_t device, uint32_t pid, const struct nvml_stats *s)
{
	struct gpu_ended *e = &n->ended[n->nr_ended++ % MAX_GPU_ENDED];
	const uint64_t most_ms = UINT64_MAX / NSEC_PER_MSEC;

	*e = (struct gpu_ended){ .serial = n->nr_ended, .pid = pid, .device = (uint32_t)device };
	e->start_epoch_us = s->start_us;
	e->time_ns = (s->time_ms < most_ms ? s->time_ms : most_ms) * NSEC_PER_MSEC;
	if (s->busy <= 100) {
		e->busy_ns = percent_of(e->time_ns, s->busy);
		e->has |= GPU_BUSY;
	}
	if (s->memory_busy <= 100) {
		e->memory_busy_ns = percent_of(e->time_ns, s->memory_busy);
		e->has |= GPU_MEMORY_BUSY;
	}
	if (s->memory_peak != NVML_NO_VALUE) {
		e->memory_peak_bytes = s->memory_peak;
		e->has |= GPU_MEMORY;
	}
}

static bool stats_end_before(const struct nvml_stats *s, uint64_t epoch_us)
{
	return s->start_us < epoch_us && s->time_ms < (epoch_us - s->start_us) / 1000;
}

/* Reads the account of a process, and stores it once if it has ended, but not if that was before.
 */
static unsigned int account_read(struct nvml *n, struct nvml_device *d,
				 struct nvml_account *account, bool was_before)
{
	struct nvml_stats s = { 0 };
	unsigned int result = nvml_call(&n->lib, accounting_stats, d->handle, account->pid, &s);

	if (result || s.is_running || (account->is_ended && account->start_us == s.start_us))
		return result;
	account->is_ended = true;
	account->start_us = s.start_us;
	if (!was_before && !stats_end_before(&s, n->opened_us))
		ended_store(n, (size_t)(d - n->devices), account->pid, &s);
	return NVML_OK;
}

static bool result_is_final(unsigned int result)
{
	return result == NVML_NOT_INITIALIZED || result == NVML_NO_DRIVER ||
	       result == NVML_DEVICE_LOST || result == NVML_UNSUPPORTED ||
	       result == NVML_NO_FUNCTION || result == NVML_FORBIDDEN;
}

/* Reads some of the accounts that are not read yet. */
static unsigned int accounts_go_on(struct nvml *n, struct nvml_device *d)
{
	struct nvml_accounts *a = &d->accounts;
	unsigned int result;

	for (int nr = 0; a->next < a->nr && nr < AT_ONCE; a->next++) {
		struct nvml_account *account = &a->all[a->next];

		if (account->is_ended && (a->next + a->round) % ROUNDS)
			continue;
		result = account_read(n, d, account, !a->round);
		if (result_is_final(result))
			return result;
		nr++;
	}
	return NVML_OK;
}

/* Reads those of processes that have just left the list of those that use the device. */
static unsigned int accounts_read_gone(struct nvml *n, struct nvml_device *d)
{
	struct nvml_accounts *a = &d->accounts;
	unsigned int result;

	for (int nr = 0; a->nr_gone && nr < AT_ONCE; nr++) {
		struct nvml_account *known = nvml_account_find(a, a->gone[--a->nr_gone]);

		if (!known) { /* it began since the last list */
			a->round_ns = 0;
			continue;
		}
		result = account_read(n, d, known, false);
		if (result_is_final(result))
			return result;
	}
	return NVML_OK;
}

/* Begins a round of reading all accounts, if accounting is on. */
static unsigned int accounts_begin(struct nvml *n, struct nvml_device *d, uint64_t now_ns)
{
	struct nvml_accounts *a = &d->accounts;
	unsigned int mode = 0, *pids;
	unsigned int result = nvml_call(&n->lib, accounting_mode, d->handle, &mode);
	size_t nr;

	a->is_on = !result && mode == 1;
	a->round += a->has_begun;
	a->has_begun = true;
	a->round_ns = now_ns + (a->is_on ? ON_NS : OFF_NS);
	if (!a->is_on) {
		a->next = a->nr;
		a->nr_gone = 0;
		return result;
	}
	result = nvml_read_accounted(&n->lib, d->handle, &pids, &nr);
	if (!result && !accounts_list(a, pids, nr))
		a->next = a->nr;
	return result;
}

unsigned int nvml_accounts_read(struct nvml *n, struct nvml_device *d, uint64_t now_ns,
				uint64_t *due_ns)
{
	struct nvml_accounts *a = &d->accounts;
	unsigned int result;

	if (a->is_on && a->nr_gone)
		result = accounts_read_gone(n, d);
	else if (a->is_on && a->next < a->nr)
		result = accounts_go_on(n, d);
	else
		result = accounts_begin(n, d, now_ns);
	*due_ns = a->is_on && (a->nr_gone || a->next < a->nr) ? now_ns : a->round_ns;
	return result;
}

void nvml_account_gone(struct nvml_device *d, uint32_t pid)
{
	struct nvml_accounts *a = &d->accounts;

	if (a->is_on && a->nr_gone < NVML_GONE)
		a->gone[a->nr_gone++] = pid;
	if (a->is_on)
		d->due_ns[NVML_TASK_ACCOUNTS] = 0;
}
