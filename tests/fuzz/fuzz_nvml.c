// SPDX-License-Identifier: BSD-2-Clause
/*
 * Answers of NVIDIA's library: each call takes its result, counts and values from the input. What
 * is in the table must be bounded, whatever the library answers.
 */
#include "fuzz.h"

#include <dlfcn.h>

static const uint8_t *given;
static size_t given_left;

static void *given_open(const char *file, int flags);
static void *given_symbol(void *file, const char *name);
static int given_close(void *file);

/* clang-format off */
#define dlopen given_open
#define dlsym given_symbol
#define dlclose given_close
#include "measure/nvml_library.c"
#undef dlopen
#undef dlsym
#undef dlclose
/* clang-format on */
#include "base/clock.h"
#include "measure/nvml.h"

#define PASSES 40
#define MOST_STEPS 4000

static uint8_t given_byte(void)
{
	if (!given_left)
		return 0;
	given_left--;
	return *given++;
}

/* Small numbers are as frequent as any: counts and percentages are. */
static uint64_t given_number(void)
{
	const uint8_t kind = given_byte();
	uint64_t n = 0;

	if (kind < 0xc0)
		return kind % 101;
	if (kind < 0xd0)
		return UINT64_MAX - kind % 4;
	for (int i = 0; i < (kind < 0xf0 ? 4 : 8); i++)
		n = n << 8 | given_byte();
	return n;
}

/* Few, so that lists have the same ones. */
static unsigned int given_pid(void)
{
	const uint8_t kind = given_byte();

	return kind < 0xe0 ? kind % 5 : (unsigned int)given_number();
}

static unsigned int given_result(void)
{
	static const unsigned int results[] = { 1, 2, 3, 4, 6, 7, 9, 10, 13, 15, 17, 25, 999 };
	const uint8_t kind = given_byte();

	if (kind < 0xe0)
		return 0;
	return results[kind % (sizeof(results) / sizeof(*results))];
}

/* Bytes as they are; the library may write as many as it was told that there is room for. */
static void given_fill(void *to, size_t size)
{
	const size_t n = size < given_left ? size : given_left;

	memset(to, 0, size);
	memcpy(to, given, n);
	given += n;
	given_left -= n;
}

/* Of functions that return numbers, by the number and the width of their arguments. */
static unsigned int answer_nothing(void)
{
	return given_result();
}

static unsigned int answer_count(unsigned int *nr)
{
	*nr = (unsigned int)given_number() % 8;
	return given_result();
}

static unsigned int answer_device(unsigned int index, void **device)
{
	*device = (void *)(uintptr_t)(index + 1);
	return given_result();
}

static unsigned int answer_text(void *device, char *text, unsigned int size)
{
	const uint8_t kind = given_byte();

	memset(text, 'x', size);
	if (kind < 0xe0)
		snprintf(text, size, "GPU-%zu-%u", (size_t)(uintptr_t)device, kind % 4);
	else
		given_fill(text, kind == 0xff ? size : kind % size);
	return given_result();
}

static unsigned int answer_number(void *device, unsigned int *n)
{
	(void)device;
	*n = (unsigned int)given_number();
	return given_result();
}

static unsigned int answer_two(void *device, unsigned int *a, unsigned int *b)
{
	answer_number(device, a);
	return answer_number(device, b);
}

static unsigned int answer_instance(void *device, unsigned int index, void **instance)
{
	*instance = (void *)((uintptr_t)device * 100 + index);
	return given_result();
}

static unsigned int answer_rates(void *device, struct nvml_rates *rates)
{
	answer_number(device, &rates->busy);
	return answer_number(device, &rates->memory_busy);
}

static unsigned int answer_large(void *device, unsigned long long *n)
{
	(void)device;
	*n = given_number();
	return given_result();
}

static unsigned int answer_memory(void *device, struct nvml_memory *memory)
{
	answer_large(device, &memory->total);
	return answer_large(device, &memory->used);
}

static unsigned int answer_memory_v2(void *device, struct nvml_memory_v2 *memory)
{
	answer_large(device, &memory->total);
	return answer_large(device, &memory->used);
}

static unsigned int answer_clock(void *device, unsigned int type, unsigned int *mhz)
{
	(void)type;
	return answer_number(device, mhz);
}

static unsigned int answer_ecc(void *device, unsigned int type, unsigned int since,
			       unsigned long long *nr)
{
	(void)type;
	(void)since;
	return answer_large(device, nr);
}

/* A list: its length may be said to be any, but no more is written than there is room for. */
static unsigned int answer_processes(void *device, unsigned int *nr, void *infos)
{
	const size_t bytes = given_byte() < 0x80 ? 24 : 32, written = given_byte() % (*nr + 1);

	(void)device;
	for (size_t i = 0; i < written; i++) {
		struct nvml_process_v2 p = { .pid = given_pid() };

		p.memory = given_number();
		p.gpu_instance = (unsigned int)given_number();
		p.compute_instance = (unsigned int)given_number();
		memset((char *)infos + i * bytes, 0, bytes);
		memcpy((char *)infos + i * bytes, &p, sizeof(p));
	}
	*nr = given_byte() < 0xf0 ? (unsigned int)written : (unsigned int)given_number();
	return given_result();
}

static unsigned int answer_samples(void *device, struct nvml_sample *samples, unsigned int *nr,
				   unsigned long long last_us)
{
	const size_t written = given_byte() % (*nr + 1);

	(void)device;
	for (size_t i = 0; i < written; i++) {
		samples[i] = (struct nvml_sample){ .pid = given_pid() };
		samples[i].epoch_us = last_us + given_number();
		samples[i].busy = (unsigned int)given_number();
		samples[i].memory_busy = (unsigned int)given_number();
	}
	/* what it says to have written, and has not, are bytes of another list */
	memset(samples + written, 0, (*nr - written) * sizeof(*samples));
	*nr = given_byte() < 0xf0 ? (unsigned int)written : (unsigned int)given_number();
	return given_result();
}

static unsigned int answer_events_make(void **set)
{
	*set = &given;
	return given_result();
}

static unsigned int answer_events_register(void *device, unsigned long long types, void *set)
{
	(void)device;
	(void)types;
	(void)set;
	return given_result();
}

static unsigned int answer_events_wait(void *set, struct nvml_event *event, unsigned int timeout_ms)
{
	(void)set;
	(void)timeout_ms;
	event->device = (void *)(uintptr_t)given_number();
	event->type = given_number();
	event->data = given_number();
	return given_result();
}

static unsigned int answer_events_free(void *set)
{
	(void)set;
	return given_result();
}

static unsigned int answer_pids(void *device, unsigned int *nr, unsigned int *pids)
{
	const size_t written = given_byte() % (*nr + 1);

	(void)device;
	memset(pids, 0, *nr * sizeof(*pids));
	for (size_t i = 0; i < written; i++)
		pids[i] = given_pid();
	*nr = given_byte() < 0xf0 ? (unsigned int)written : (unsigned int)given_number();
	return given_result();
}

static unsigned int answer_stats(void *device, unsigned int pid, struct nvml_stats *stats)
{
	(void)device;
	(void)pid;
	stats->busy = (unsigned int)given_number();
	stats->memory_busy = (unsigned int)given_number();
	stats->memory_peak = given_number();
	stats->time_ms = given_number();
	stats->start_us = given_number();
	stats->is_running = given_byte() < 0x40;
	return given_result();
}

static void *given_open(const char *file, int flags)
{
	(void)file;
	(void)flags;
	return &given;
}

static int given_close(void *file)
{
	(void)file;
	return 0;
}

static void *answer_of(size_t member)
{
	/* clang-format off */
	static const struct {
		size_t member;
		void *function;
	} answers[] = {
		{ FUNCTION(init), (void *)answer_nothing },
		{ FUNCTION(shutdown), (void *)answer_nothing },
		{ FUNCTION(device_count), (void *)answer_count },
		{ FUNCTION(device_at), (void *)answer_device },
		{ FUNCTION(uuid), (void *)answer_text },
		{ FUNCTION(model), (void *)answer_text },
		{ FUNCTION(mig_mode), (void *)answer_two },
		{ FUNCTION(mig_at), (void *)answer_instance },
		{ FUNCTION(rates), (void *)answer_rates },
		{ FUNCTION(memory), (void *)answer_memory },
		{ FUNCTION(memory_v2), (void *)answer_memory_v2 },
		{ FUNCTION(clock), (void *)answer_clock },
		{ FUNCTION(clock_reasons), (void *)answer_large },
		{ FUNCTION(throttle_reasons), (void *)answer_large },
		{ FUNCTION(processes[0][0]), (void *)answer_processes },
		{ FUNCTION(processes[0][1]), (void *)answer_processes },
		{ FUNCTION(processes[0][2]), (void *)answer_processes },
		{ FUNCTION(processes[1][0]), (void *)answer_processes },
		{ FUNCTION(processes[1][1]), (void *)answer_processes },
		{ FUNCTION(processes[1][2]), (void *)answer_processes },
		{ FUNCTION(samples), (void *)answer_samples },
		{ FUNCTION(energy), (void *)answer_large },
		{ FUNCTION(ecc), (void *)answer_ecc },
		{ FUNCTION(events_make), (void *)answer_events_make },
		{ FUNCTION(events_register), (void *)answer_events_register },
		{ FUNCTION(events_wait), (void *)answer_events_wait },
		{ FUNCTION(events_free), (void *)answer_events_free },
		{ FUNCTION(accounting_pids), (void *)answer_pids },
		{ FUNCTION(accounting_stats), (void *)answer_stats },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++)
		if (answers[i].member == member)
			return answers[i].function;
	return (void *)answer_number; /* of a device, one number */
}

static void *given_symbol(void *file, const char *name)
{
	(void)file;
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (!strcmp(functions[i].name, name))
			return functions[i].is_needed || given_byte() < 0xfc
				       ? answer_of(functions[i].at)
				       : NULL;
	return NULL;
}

static void text_is_whole(const char *text, size_t size)
{
	FUZZ_HOLDS(memchr(text, '\0', size));
	fuzz_is_inert(text, strlen(text));
}

/* What was in the table before a pass, by the same device. */
static const struct gpu_device *device_before(const struct gpu_table *before,
					      const struct gpu_device *d)
{
	for (size_t i = 0; i < before->nr_devices; i++)
		if (!strcmp(before->devices[i].name, d->name))
			return &before->devices[i];
	return NULL;
}

static void device_holds(const struct gpu_device *d, const struct gpu_device *before)
{
	text_is_whole(d->name, sizeof(d->name));
	text_is_whole(d->model, sizeof(d->model));
	text_is_whole(d->driver, sizeof(d->driver));
	FUZZ_HOLDS(*d->name && d->minor >= -1);
	if (d->has & GPU_BUSY)
		FUZZ_HOLDS(d->busy_milli <= 1000 && d->memory_busy_milli <= 1000);
	if (d->has & GPU_MEMORY)
		FUZZ_HOLDS(d->memory_bytes <= d->memory_total_bytes);
	if (!before)
		return;
	FUZZ_HOLDS(d->energy_uj >= before->energy_uj && d->ecc_errors >= before->ecc_errors);
	FUZZ_HOLDS(d->throttled_ns >= before->throttled_ns && d->xid_errors >= before->xid_errors);
}

static const struct gpu_use *use_before(const struct gpu_table *before, const char *device,
					const struct gpu_use *use)
{
	for (size_t i = 0; i < before->nr_uses; i++)
		if (before->uses[i].pid == use->pid && before->uses[i].seen_ns == use->seen_ns &&
		    !strcmp(before->devices[before->uses[i].device].name, device))
			return &before->uses[i];
	return NULL;
}

static void uses_hold(const struct gpu_table *t, const struct gpu_table *before, uint64_t *given_ns)
{
	for (size_t i = 0; i < t->nr_uses; i++) {
		const struct gpu_use *use = &t->uses[i], *was;

		FUZZ_HOLDS(use->device < t->nr_devices && use->pid);
		FUZZ_HOLDS(t->devices[use->device].has & GPU_USES);
		FUZZ_HOLDS(use->seen_ns && use->seen_ns <= t->pass_ns);
		FUZZ_HOLDS(use->busy_at_ns <= t->pass_ns);
		FUZZ_HOLDS(use->busy_ns <= t->pass_ns - use->seen_ns);
		FUZZ_HOLDS(use->memory_busy_ns <= t->pass_ns - use->seen_ns);
		FUZZ_HOLDS(i == 0 || use[-1].device < use->device || use[-1].pid < use->pid);
		was = use_before(before, t->devices[use->device].name, use);
		FUZZ_HOLDS(!was || use->busy_ns >= was->busy_ns);
		FUZZ_HOLDS(!was || use->memory_busy_ns >= was->memory_busy_ns);
		given_ns[use->device] += use->busy_ns - (was ? was->busy_ns : 0);
	}
}

/*
 * Processes of a device are given no more than the time that has passed, even if some of it was
 * before the last pass: since the device was last asked for samples.
 */
static void work_holds(const struct gpu_table *t, const struct gpu_table *before,
		       uint64_t interval_ns, uint64_t *allowed_ns)
{
	uint64_t given_ns[MAX_GPUS] = { 0 };

	uses_hold(t, before, given_ns);
	for (size_t i = 0; i < t->nr_devices; i++) {
		FUZZ_HOLDS(given_ns[i] <= allowed_ns[i] + interval_ns);
		allowed_ns[i] += interval_ns - given_ns[i];
		if (allowed_ns[i] > interval_ns + NSEC_PER_SEC)
			allowed_ns[i] = interval_ns + NSEC_PER_SEC;
	}
}

static void table_holds(const struct gpu_table *t, const struct gpu_table *before)
{
	FUZZ_HOLDS(t->nr_devices <= MAX_GPUS && t->nr_uses <= MAX_GPU_USES);
	FUZZ_HOLDS(t->nr_devices >= before->nr_devices);
	text_is_whole(t->why, sizeof(t->why));
	for (size_t i = 0; i < t->nr_devices; i++)
		device_holds(&t->devices[i], device_before(before, &t->devices[i]));
	for (size_t i = 0; i < t->nr_ended && i < MAX_GPU_ENDED; i++) {
		const struct gpu_ended *e = &t->ended[i];

		FUZZ_HOLDS(e->serial && e->serial <= t->nr_ended && e->device < t->nr_devices);
		FUZZ_HOLDS(e->busy_ns <= e->time_ns && e->memory_busy_ns <= e->time_ns);
	}
}

static void passes_make(struct nvml *n)
{
	static struct gpu_table tables[2];
	uint64_t allowed_ns[MAX_GPUS] = { 0 }, now_ns = clock_ns(CLOCK_MONOTONIC), next_ns;
	int steps;

	memset(tables, 0, sizeof(tables));
	for (int i = 0; i < PASSES && (given_left || i < 2); i++) {
		struct gpu_table *t = &tables[i % 2], *before = &tables[(i + 1) % 2];
		const uint64_t interval_ns = given_byte() * (NSEC_PER_SEC / 16);

		now_ns += interval_ns;
		memset(t, 0, sizeof(*t));
		t->pass_ns = now_ns;
		nvml_pass(n, t, now_ns);
		table_holds(t, before);
		work_holds(t, before, interval_ns, allowed_ns);
		for (steps = 0; steps < MOST_STEPS && nvml_step(n, now_ns, &next_ns); steps++)
			;
		FUZZ_HOLDS(steps < MOST_STEPS); /* what is due has an end */
		FUZZ_HOLDS(next_ns > now_ns && next_ns <= now_ns + NSEC_PER_SEC);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nvml *n = NULL;
	char why[192];

	given = data;
	given_left = size;
	if (nvml_open(&n, why, sizeof(why))) {
		text_is_whole(why, sizeof(why));
		return 0;
	}
	passes_make(n);
	nvml_close(n);
	return 0;
}
