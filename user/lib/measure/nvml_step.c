// SPDX-License-Identifier: BSD-2-Clause
/* Values that take the driver long: one at a time, when it is due. */
#include "measure/nvml_state.h"

/*
 * A reading takes 3 ms or more: all devices together are read for up to a two-hundredth of the
 * time, and one for a three-hundredth.
 */
#define ENERGY_NS NSEC_PER_SEC
#define ENERGY_OF_EACH_NS (625 * NSEC_PER_MSEC)
#define ECC_NS (10 * NSEC_PER_SEC)
#define INSTANCES_NS (10 * NSEC_PER_SEC)
#define SAMPLES_NS NSEC_PER_SEC
#define LOOK_NS NSEC_PER_SEC
#define MOST_POWER_W 100000 /* a rise of energy by more is none */
#define MOST_TOTAL (UINT64_MAX / 1000)

enum { DUE_NOTHING = -3, DUE_EVENTS, DUE_RECOVERY };

/* What is due next: of a device, or of the library. */
struct due {
	uint64_t at_ns;
	struct nvml_device *d;
	int task; /* enum nvml_task, or one of the following */
};

/* A value that has fallen, or has risen by more than @most, is a new beginning. */
static void nvml_counter_add(struct nvml_counter *c, uint64_t value, uint64_t most)
{
	if (c->has_last && value >= c->last && value - c->last <= most &&
	    (__builtin_add_overflow(c->total, value - c->last, &c->total) || c->total > MOST_TOTAL))
		c->total = MOST_TOTAL;
	c->last = value;
	c->has_last = true;
}

unsigned int nvml_energy_read(struct nvml *n, struct nvml_device *d, uint64_t now_ns)
{
	const uint64_t pause_ns = n->nr_devices * ENERGY_OF_EACH_NS;
	unsigned long long mj = 0;
	unsigned int result = NVML_UNSUPPORTED;
	uint64_t passed_ms;

	if (d->parent < 0 && !d->lost)
		result = nvml_call(&n->lib, energy, d->handle, &mj);
	d->due_ns[NVML_TASK_ENERGY] = now_ns + (pause_ns > ENERGY_NS ? pause_ns : ENERGY_NS);
	if (result)
		return result;
	passed_ms = (now_ns > d->energy_ns ? now_ns - d->energy_ns : 0) / NSEC_PER_MSEC;
	nvml_counter_add(&d->energy_mj, mj, (passed_ms + 1000) * MOST_POWER_W);
	d->values.energy_uj = d->energy_mj.total * 1000;
	d->energy_ns = now_ns;
	d->slow_has |= GPU_ENERGY;
	return NVML_OK;
}

static unsigned int task_read_ecc(struct nvml *n, struct nvml_device *d, uint64_t now_ns)
{
	unsigned long long nr = 0;
	unsigned int result =
		nvml_call(&n->lib, ecc, d->handle, NVML_ECC_UNCORRECTED, NVML_ECC_SINCE_LOAD, &nr);

	d->due_ns[NVML_TASK_ECC] = now_ns + ECC_NS;
	if (result)
		return result;
	nvml_counter_add(&d->ecc, nr, UINT64_MAX);
	d->values.ecc_errors = d->ecc.total;
	d->slow_has |= GPU_ECC;
	return NVML_OK;
}

/* Samples have the time of the wall clock: asked for since the last one, if that can be true. */
static uint64_t samples_since(const struct nvml_device *d, uint64_t epoch_us)
{
	const uint64_t second_us = 1000000;

	if (d->sample_us <= epoch_us && d->sample_us + 10 * second_us > epoch_us)
		return d->sample_us;
	return epoch_us > second_us ? epoch_us - second_us : 0;
}

static unsigned int task_read_samples(struct nvml *n, struct nvml_device *d, uint64_t now_ns)
{
	const uint64_t epoch_us = clock_ns(CLOCK_REALTIME) / 1000;
	struct nvml_sample *samples;
	size_t nr;
	unsigned int result =
		nvml_read_samples(&n->lib, d->handle, samples_since(d, epoch_us), &samples, &nr);

	if (result == NVML_UNSUPPORTED || result == NVML_NO_FUNCTION || result == NVML_FORBIDDEN)
		d->has_no_samples = true;
	if (result)
		nr = 0; /* NVML_NOT_THERE: no process has worked */
	for (size_t i = 0; i < nr; i++)
		if (samples[i].epoch_us <= epoch_us && samples[i].epoch_us > d->sample_us)
			d->sample_us = samples[i].epoch_us;
	if (d->sample_us > epoch_us) /* the clock was set back */
		d->sample_us = 0;
	nvml_uses_share(n, d, samples, nr, now_ns);
	return result == NVML_NOT_THERE ? NVML_OK : result;
}

static unsigned int task_read_accounts(struct nvml *n, struct nvml_device *d, uint64_t now_ns)
{
	return nvml_accounts_read(n, d, now_ns, &d->due_ns[NVML_TASK_ACCOUNTS]);
}

static unsigned int task_read_instances(struct nvml *n, struct nvml_device *d, uint64_t now_ns)
{
	d->due_ns[NVML_TASK_INSTANCES] = now_ns + INSTANCES_NS;
	return nvml_instances_find(n, d);
}

/* When samples are to be read: while several processes use a device that works. */
static uint64_t samples_due(const struct nvml_device *d)
{
	const bool is_of_one = d->nr_uses == 1 && (d->values.has & GPU_BUSY);

	if (d->has_no_samples || !d->nr_uses || is_of_one || !d->was_busy || !d->given_ns)
		return NVML_NEVER;
	return d->given_ns + SAMPLES_NS;
}

static void due_consider(struct due *due, uint64_t at_ns, struct nvml_device *d, int task)
{
	if (at_ns < due->at_ns)
		*due = (struct due){ at_ns, d, task };
}

static struct due due_find(struct nvml *n, uint64_t before_ns)
{
	struct due due = { before_ns, NULL, DUE_NOTHING };

	if (n->events)
		due_consider(&due, n->events_ns, NULL, DUE_EVENTS);
	due_consider(&due, n->recover_ns, NULL, DUE_RECOVERY);
	for (size_t i = 0; i < n->nr_devices; i++) {
		struct nvml_device *d = &n->devices[i];

		if (d->lost || d->parent >= 0)
			continue;
		d->due_ns[NVML_TASK_SAMPLES] = samples_due(d);
		for (int task = 0; task < NR_NVML_TASKS; task++)
			due_consider(&due, d->due_ns[task], d, task);
	}
	return due;
}

static void task_run(struct nvml *n, const struct due *due, uint64_t now_ns)
{
	static unsigned int (*const reads[NR_NVML_TASKS])(struct nvml * n, struct nvml_device * d,
							  uint64_t now_ns) = {
		[NVML_TASK_ENERGY] = nvml_energy_read,
		[NVML_TASK_ECC] = task_read_ecc,
		[NVML_TASK_SAMPLES] = task_read_samples,
		[NVML_TASK_ACCOUNTS] = task_read_accounts,
		[NVML_TASK_INSTANCES] = task_read_instances,
	};
	struct nvml_device *d = due->d;
	const unsigned int result = reads[due->task](n, d, now_ns);

	nvml_device_took(n, d, result, now_ns);
	if (result == NVML_UNSUPPORTED || result == NVML_NO_FUNCTION || result == NVML_FORBIDDEN)
		d->due_ns[due->task] = NVML_NEVER;
}

bool nvml_step(struct nvml *n, uint64_t now_ns, uint64_t *next_ns)
{
	/* a pass may find what is due earlier */
	const struct due due = due_find(n, now_ns + LOOK_NS);

	if (due.at_ns > now_ns) {
		*next_ns = due.at_ns;
		return false;
	}
	if (due.d)
		task_run(n, &due, now_ns);
	else if (due.task == DUE_EVENTS)
		nvml_events_read(n, now_ns);
	else
		nvml_recover(n, now_ns);
	return true;
}
