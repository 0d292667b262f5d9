// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stands in for NVIDIA's libnvidia-ml.so.1 where there is no GPU. What it answers is in the file
 * that the variable BPFMON_NVML_SCRIPT names, which is read again when it has changed. One line
 * each; "#" begins a comment; a line about a device is about the last "gpu" or "instance" above it:
 *
 *   latency real             functions take as long as those of an H200
 *   missing FUNCTION         it returns FUNCTION_NOT_FOUND, as if it were of a later driver
 *   result FUNCTION CODE     it returns CODE; "*" is each function, but for nvmlInit_v2 and
 *                            nvmlShutdown; below a device: for this one
 *   at SECONDS               what follows holds from then on, since nvmlInit_v2 was first called
 *   gpu UUID [NAME...]       a device; the same one again adds to it or changes it
 *   instance UUID GI CI      an instance (MIG) of the last gpu, whose MIG mode it switches on
 *   mig off                  switches the mode off, and takes the instances of the last gpu away
 *   minor NUMBER             (default: its index)
 *   utilization BUSY MEMORY  percent
 *   memory USED TOTAL        bytes
 *   power MILLIWATTS
 *   clock MEGAHERTZ
 *   reasons BITS             why the clock is low, as 0x8
 *   energy MILLIJOULES [WATTS]  the counter, which rises from the first nvmlInit_v2 on
 *   ecc NUMBER               uncorrected errors
 *   xid NUMBER               an event; each line is one, delivered once
 *   process PID BYTES|- [compute|graphics|both [GI CI]]
 *   stride 24|32             bytes of an entry that _v3 writes (some drivers 535: 32)
 *   sample PID BUSY MEMORY [AGE_US]  of the utilization by processes; AGE: how long ago
 *   accounting on|off
 *   account PID START_US running|MILLISECONDS BUSY MEMORY PEAK
 *
 * Values without a line are not supported. Built with -DNVML_STUB_OLD it lacks what drivers before
 * 450 lacked: the functions themselves, not their answers.
 */
#include "measure/nvml_library.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define MOST_DEVICES 96
#define MOST_ENTRIES 6000
#define MOST_RESULTS 64
#define PRESENT __attribute__((visibility("default")))

enum {
	HAS_RATES = 1,
	HAS_MEMORY = 2,
	HAS_POWER = 4,
	HAS_CLOCK = 8,
	HAS_REASONS = 16,
	HAS_ENERGY = 32,
	HAS_ECC = 64,
	HAS_ACCOUNTING = 128
};

struct device {
	char uuid[80], model[96];
	int parent; /* index; -1: none */
	unsigned has, minor_number, gpu_instance, compute_instance, power_mw, mhz, ecc;
	int has_instances, is_accounting, stride;
	struct nvml_rates rates;
	struct nvml_memory_v2 memory;
	unsigned long long reasons, energy_mj;
	double watts;
	unsigned xids[64], nr_xids;
};

struct process {
	int device, is_compute, is_graphics;
	struct nvml_process_v2 entry;
};

struct sample {
	int device;
	struct nvml_sample sample;
	unsigned long long age_us;
};

struct account {
	int device;
	unsigned pid;
	struct nvml_stats stats;
};

struct result {
	int device; /* -1: all */
	char function[64];
	unsigned code;
};

static struct script {
	struct device devices[MOST_DEVICES];
	struct process processes[MOST_ENTRIES];
	struct sample samples[MOST_ENTRIES];
	struct account accounts[MOST_ENTRIES];
	struct result results[MOST_RESULTS];
	int nr_devices, nr_processes, nr_samples, nr_accounts, nr_results, is_real;
} now;

static struct {
	struct stat stat; /* of the script that was read */
	int is_read, is_initialized;
	unsigned generation;   /* of handles: that of a former nvmlInit_v2 is not valid */
	double since, next_at; /* the next "at" of the script */
	unsigned xids_taken[MOST_DEVICES];
	unsigned generation_of_events;
} state;

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static unsigned long long epoch_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (unsigned long long)t.tv_sec * 1000000 + (unsigned long long)t.tv_nsec / 1000;
}

static int device_named(const char *uuid)
{
	int i = 0;

	while (i < now.nr_devices && strcmp(now.devices[i].uuid, uuid))
		i++;
	if (i == MOST_DEVICES)
		abort();
	if (i < now.nr_devices)
		return i;
	now.devices[i] = (struct device){ .parent = -1, .stride = 24, .minor_number = (unsigned)i };
	snprintf(now.devices[i].uuid, sizeof(now.devices[i].uuid), "%s", uuid);
	return now.nr_devices++;
}

static int line_adds_list(const char *line, int device)
{
	struct process *p = &now.processes[now.nr_processes];
	struct sample *s = &now.samples[now.nr_samples];
	struct account *a = &now.accounts[now.nr_accounts];
	char bytes[32], kind[16] = "compute", time[32];

	*p = (struct process){ .device = device,
			       .entry.gpu_instance = NVML_NO_INSTANCE,
			       .entry.compute_instance = NVML_NO_INSTANCE };
	*s = (struct sample){ .device = device };
	*a = (struct account){ .device = device };
	if (sscanf(line, "process %u %31s %15s %u %u", &p->entry.pid, bytes, kind,
		   &p->entry.gpu_instance, &p->entry.compute_instance) >= 2) {
		p->entry.memory = *bytes == '-' ? NVML_NO_VALUE : strtoull(bytes, NULL, 0);
		p->is_compute = strcmp(kind, "graphics") != 0;
		p->is_graphics = strcmp(kind, "compute") != 0;
		now.nr_processes += now.nr_processes < MOST_ENTRIES - 1;
		return 1;
	}
	if (sscanf(line, "sample %u %u %u %llu", &s->sample.pid, &s->sample.busy,
		   &s->sample.memory_busy, &s->age_us) >= 3) {
		now.nr_samples += now.nr_samples < MOST_ENTRIES - 1;
		return 1;
	}
	if (sscanf(line, "account %u %llu %31s %u %u %llu", &a->pid, &a->stats.start_us, time,
		   &a->stats.busy, &a->stats.memory_busy, &a->stats.memory_peak) == 6) {
		a->stats.is_running = !strcmp(time, "running");
		a->stats.time_ms = a->stats.is_running ? 0 : strtoull(time, NULL, 0);
		now.nr_accounts += now.nr_accounts < MOST_ENTRIES - 1;
		return 1;
	}
	return 0;
}

static int line_sets_value(const char *line, struct device *d)
{
	char word[8];

	if (sscanf(line, "minor %u", &d->minor_number) == 1 ||
	    sscanf(line, "stride %d", &d->stride) == 1)
		return 1;
	if (sscanf(line, "utilization %u %u", &d->rates.busy, &d->rates.memory_busy) == 2)
		d->has |= HAS_RATES;
	else if (sscanf(line, "memory %llu %llu", &d->memory.used, &d->memory.total) == 2)
		d->has |= HAS_MEMORY;
	else if (sscanf(line, "power %u", &d->power_mw) == 1)
		d->has |= HAS_POWER;
	else if (sscanf(line, "clock %u", &d->mhz) == 1)
		d->has |= HAS_CLOCK;
	else if (sscanf(line, "reasons %llx", &d->reasons) == 1)
		d->has |= HAS_REASONS;
	else if (sscanf(line, "energy %llu %lf", &d->energy_mj, &d->watts) >= 1)
		d->has |= HAS_ENERGY;
	else if (sscanf(line, "ecc %u", &d->ecc) == 1)
		d->has |= HAS_ECC;
	else if (sscanf(line, "xid %u", &d->xids[d->nr_xids % 64]) == 1)
		d->nr_xids++;
	else if (sscanf(line, "accounting %7s", word) == 1) {
		d->has |= HAS_ACCOUNTING;
		d->is_accounting = !strcmp(word, "on");
	} else {
		return 0;
	}
	return 1;
}

static int line_adds_result(const char *line, int device)
{
	struct result *r = &now.results[now.nr_results % MOST_RESULTS];

	r->device = device;
	r->code = NVML_NO_FUNCTION;
	if (sscanf(line, "missing %63s", r->function) == 1)
		r->device = -1;
	else if (sscanf(line, "result %63s %u", r->function, &r->code) != 2)
		return 0;
	now.nr_results++;
	return 1;
}

/* Takes one line; @physical and @device are those that it is about. */
static void line_take(const char *line, int *physical, int *device)
{
	char uuid[80], model[96] = "";
	unsigned gi, ci;

	if (sscanf(line, "gpu %79s %95[^\n]", uuid, model) >= 1) {
		*device = *physical = device_named(uuid);
		if (*model)
			strcpy(now.devices[*device].model, model);
	} else if (sscanf(line, "instance %79s %u %u", uuid, &gi, &ci) == 3) {
		*device = device_named(uuid);
		now.devices[*device].parent = *physical;
		now.devices[*device].gpu_instance = gi;
		now.devices[*device].compute_instance = ci;
		now.devices[*physical].has_instances = 1;
		snprintf(now.devices[*device].model, sizeof(model), "instance");
	} else if (!strncmp(line, "mig off", 7)) {
		now.devices[*physical].has_instances = 0;
	} else if (!strncmp(line, "latency real", 12)) {
		now.is_real = 1;
	} else if (!line_adds_result(line, *device) && *device >= 0 &&
		   !line_adds_list(line, *device) &&
		   !line_sets_value(line, &now.devices[*device]) && *line != '\n' && *line != '#') {
		fprintf(stderr, "nvml stub: %s", line);
		abort();
	}
}

static void script_read(FILE *f)
{
	const double at = seconds() - state.since;
	int physical = -1, device = -1;
	char line[256];
	double from;

	memset(&now, 0, sizeof(now));
	state.next_at = 1e300;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "at %lf", &from) != 1) {
			line_take(line, &physical, &device);
		} else if (from > at) {
			state.next_at = from;
			break;
		}
	}
}

static void script_update(void)
{
	const char *path = getenv("BPFMON_NVML_SCRIPT");
	struct stat st = { 0 };
	FILE *f;

	if (!path || stat(path, &st))
		return;
	if (state.is_read && st.st_ino == state.stat.st_ino && st.st_size == state.stat.st_size &&
	    !memcmp(&st.st_mtim, &state.stat.st_mtim, sizeof(st.st_mtim)) &&
	    seconds() - state.since < state.next_at)
		return;
	f = fopen(path, "re");
	if (!f)
		return;
	script_read(f);
	fclose(f);
	state.stat = st;
	state.is_read = 1;
}

static void spend(double us)
{
	const double until = seconds() + us / 1e6;

	while (now.is_real && seconds() < until)
		;
}

static unsigned scripted(const char *function, int device)
{
	for (int i = now.nr_results - 1; i >= 0; i--) {
		const struct result *r = &now.results[i % MOST_RESULTS];

		if ((r->device < 0 || r->device == device) &&
		    (!strcmp(r->function, function) ||
		     (!strcmp(r->function, "*") && strcmp(function, "nvmlInit_v2") != 0 &&
		      strcmp(function, "nvmlShutdown") != 0)))
			return r->code;
	}
	return NVML_OK;
}

static void *handle_of(int device)
{
	return (void *)(((unsigned long)state.generation << 16) + (unsigned long)device + 1);
}

/* Returns what the function returns before it looks at anything, and which device it is about. */
static unsigned begin(const char *function, void *handle, struct device **d, double us)
{
	const unsigned long at = ((unsigned long)handle & 0xffff) - 1;
	unsigned code;

	script_update();
	spend(us);
	if (!state.is_initialized)
		return NVML_NOT_INITIALIZED;
	if ((unsigned long)handle >> 16 != state.generation || at >= (unsigned long)now.nr_devices)
		return NVML_BAD_ARGUMENT;
	*d = &now.devices[at];
	code = scripted(function, (int)at);
	if (!code && (*d)->parent >= 0 && !now.devices[(*d)->parent].has_instances)
		return NVML_BAD_ARGUMENT;
	return code;
}

#define BEGIN(us)                                                                                  \
	struct device *d = NULL;                                                                   \
	unsigned code = begin(__func__, device, &d, us);                                           \
	if (code)                                                                                  \
	return code

#define FUNCTION PRESENT unsigned

FUNCTION nvmlInit_v2(void)
{
	unsigned code;

	if (!state.since)
		state.since = seconds();
	script_update();
	spend(12700);
	code = scripted(__func__, -1);
	if (code)
		return code;
	state.generation += !state.is_initialized;
	state.is_initialized = 1;
	return NVML_OK;
}

FUNCTION nvmlShutdown(void)
{
	const unsigned code = state.is_initialized ? NVML_OK : NVML_NOT_INITIALIZED;

	state.is_initialized = 0;
	return code;
}

static int device_is_counted(int i)
{
	return now.devices[i].parent < 0;
}

FUNCTION nvmlDeviceGetCount_v2(unsigned *nr)
{
	script_update();
	if (!state.is_initialized)
		return NVML_NOT_INITIALIZED;
	*nr = 0;
	for (int i = 0; i < now.nr_devices; i++)
		*nr += (unsigned)device_is_counted(i);
	return scripted(__func__, -1);
}

FUNCTION nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
	script_update();
	if (!state.is_initialized)
		return NVML_NOT_INITIALIZED;
	for (int i = 0; i < now.nr_devices; i++) {
		if (!device_is_counted(i) || index-- > 0)
			continue;
		*device = handle_of(i);
		return scripted(__func__, i);
	}
	return NVML_BAD_ARGUMENT;
}

FUNCTION nvmlDeviceGetUUID(void *device, char *text, unsigned size)
{
	BEGIN(2);
	snprintf(text, size, "%s", d->uuid);
	return NVML_OK;
}

FUNCTION nvmlDeviceGetName(void *device, char *text, unsigned size)
{
	BEGIN(2);
	memset(text, 'x', size); /* the text is not always terminated */
	if (strlen(d->model) < size)
		memcpy(text, d->model, strlen(d->model) + 1);
	return NVML_OK;
}

FUNCTION nvmlDeviceGetMinorNumber(void *device, unsigned *number)
{
	BEGIN(2);
	*number = d->minor_number;
	return NVML_OK;
}

FUNCTION nvmlDeviceGetUtilizationRates(void *device, struct nvml_rates *rates)
{
	BEGIN(2);
	*rates = d->rates;
	return d->has & HAS_RATES ? NVML_OK : NVML_UNSUPPORTED;
}

FUNCTION nvmlDeviceGetMemoryInfo(void *device, struct nvml_memory *memory)
{
	BEGIN(8);
	*memory = (struct nvml_memory){ d->memory.total, 0, d->memory.used };
	return d->has & HAS_MEMORY ? NVML_OK : NVML_UNSUPPORTED;
}

FUNCTION nvmlDeviceGetPowerUsage(void *device, unsigned *mw)
{
	BEGIN(2);
	*mw = d->power_mw;
	return d->has & HAS_POWER ? NVML_OK : NVML_UNSUPPORTED;
}

FUNCTION nvmlDeviceGetClockInfo(void *device, unsigned type, unsigned *mhz)
{
	BEGIN(2);
	*mhz = type == NVML_CLOCK_OF_SM ? d->mhz : 1;
	return d->has & HAS_CLOCK ? NVML_OK : NVML_UNSUPPORTED;
}

FUNCTION nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
	BEGIN(2);
	*reasons = d->reasons;
	return d->has & HAS_REASONS ? NVML_OK : NVML_UNSUPPORTED;
}

/* Writes the processes of a list; @version: 1, 2 or 3. */
static unsigned list_write(struct device *d, int is_graphics, int version, unsigned *nr, void *to)
{
	const int at = (int)(d - now.devices);
	const size_t bytes = version == 1   ? sizeof(struct nvml_process_v1)
			     : version == 2 ? sizeof(struct nvml_process_v2)
					    : (size_t)d->stride;
	const unsigned room = *nr;
	unsigned n = 0;

	for (int i = 0; i < now.nr_processes; i++) {
		const struct process *p = &now.processes[i];
		const struct nvml_process_v1 v1 = { p->entry.pid, p->entry.memory };

		if (p->device != at || !(is_graphics ? p->is_graphics : p->is_compute))
			continue;
		if (n < room && bytes > sizeof(p->entry))
			memset((char *)to + n * bytes, 0, bytes);
		if (n < room && version == 1)
			memcpy((char *)to + n * bytes, &v1, sizeof(v1));
		else if (n < room)
			memcpy((char *)to + n * bytes, &p->entry, sizeof(p->entry));
		n++;
	}
	spend(n ? 45 : 0);
	*nr = n;
	return n > room ? NVML_NO_ROOM : NVML_OK;
}

#define PROCESSES(name, is_graphics, version)                                                      \
	FUNCTION name(void *device, unsigned *nr, void *infos)                                     \
	{                                                                                          \
		BEGIN(8);                                                                          \
		return list_write(d, is_graphics, version, nr, infos);                             \
	}

PROCESSES(nvmlDeviceGetComputeRunningProcesses, 0, 1)
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses, 1, 1)

FUNCTION nvmlDeviceGetProcessUtilization(void *device, struct nvml_sample *to, unsigned *nr,
					 unsigned long long last_us)
{
	const unsigned room = *nr;
	const unsigned long long at_us = epoch_us();

	BEGIN(1400);
	*nr = 0;
	for (int i = 0; i < now.nr_samples; i++) {
		const struct sample *s = &now.samples[i];

		if (&now.devices[s->device] != d || at_us - s->age_us <= last_us)
			continue;
		if (*nr < room) {
			to[*nr] = s->sample;
			to[*nr].epoch_us = at_us - s->age_us;
		}
		(*nr)++;
	}
	return *nr > room ? NVML_NO_ROOM : *nr ? NVML_OK : NVML_NOT_THERE;
}

FUNCTION nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj)
{
	static unsigned reads;

	BEGIN(++reads % 50 ? 3200 : 24000);
	*mj = d->energy_mj + (unsigned long long)(d->watts * (seconds() - state.since) * 1000);
	return d->has & HAS_ENERGY ? NVML_OK : NVML_UNSUPPORTED;
}

FUNCTION nvmlDeviceGetTotalEccErrors(void *device, unsigned type, unsigned since,
				     unsigned long long *nr)
{
	BEGIN(2);
	*nr = d->ecc;
	if (type != NVML_ECC_UNCORRECTED || since != NVML_ECC_SINCE_LOAD)
		return NVML_BAD_ARGUMENT;
	return d->has & HAS_ECC ? NVML_OK : NVML_UNSUPPORTED;
}

#ifndef NVML_STUB_OLD
FUNCTION nvmlDeviceGetMigMode(void *device, unsigned *mode, unsigned *pending)
{
	BEGIN(160);
	*mode = *pending = (unsigned)d->has_instances;
	return NVML_OK;
}

FUNCTION nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *nr)
{
	BEGIN(2);
	*nr = 7;
	return NVML_OK;
}

FUNCTION nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index, void **instance)
{
	BEGIN(2);
	for (int i = 0; i < now.nr_devices; i++) {
		if (now.devices[i].parent < 0 || &now.devices[now.devices[i].parent] != d ||
		    index-- > 0)
			continue;
		*instance = handle_of(i);
		return NVML_OK;
	}
	return NVML_NOT_THERE;
}

FUNCTION nvmlDeviceGetGpuInstanceId(void *device, unsigned *id)
{
	BEGIN(2);
	*id = d->gpu_instance;
	return d->parent >= 0 ? NVML_OK : NVML_UNSUPPORTED;
}

FUNCTION nvmlDeviceGetComputeInstanceId(void *device, unsigned *id)
{
	BEGIN(2);
	*id = d->compute_instance;
	return d->parent >= 0 ? NVML_OK : NVML_UNSUPPORTED;
}

FUNCTION nvmlDeviceGetMemoryInfo_v2(void *device, struct nvml_memory_v2 *memory)
{
	BEGIN(8);
	if (memory->version != NVML_MEMORY_VERSION)
		return NVML_BAD_VERSION;
	*memory = d->memory;
	return d->has & HAS_MEMORY ? NVML_OK : NVML_UNSUPPORTED;
}

FUNCTION nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *reasons)
{
	BEGIN(2);
	*reasons = d->reasons;
	return d->has & HAS_REASONS ? NVML_OK : NVML_UNSUPPORTED;
}

PROCESSES(nvmlDeviceGetComputeRunningProcesses_v2, 0, 2)
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v2, 1, 2)
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v3, 0, 3)
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3, 1, 3)

FUNCTION nvmlEventSetWait_v2(void *set, struct nvml_event *event, unsigned timeout_ms)
{
	(void)timeout_ms;
	script_update();
	if (!state.is_initialized || set != &state)
		return NVML_BAD_ARGUMENT;
	for (int i = 0; i < now.nr_devices; i++) {
		const struct device *d = &now.devices[i];

		if (state.xids_taken[i] >= d->nr_xids)
			continue;
		*event = (struct nvml_event){ handle_of(i), NVML_EVENT_XID,
					      d->xids[state.xids_taken[i]++ % 64], NVML_NO_INSTANCE,
					      NVML_NO_INSTANCE };
		return scripted(__func__, i);
	}
	return NVML_TIMED_OUT;
}
#endif

FUNCTION nvmlEventSetCreate(void **set)
{
	script_update();
	*set = &state;
	return scripted(__func__, -1);
}

FUNCTION nvmlDeviceRegisterEvents(void *device, unsigned long long types, void *set)
{
	BEGIN(2);
	return set == &state && types == NVML_EVENT_XID ? NVML_OK : NVML_BAD_ARGUMENT;
}

FUNCTION nvmlEventSetFree(void *set)
{
	return set == &state ? NVML_OK : NVML_BAD_ARGUMENT;
}

FUNCTION nvmlDeviceGetAccountingMode(void *device, unsigned *mode)
{
	BEGIN(2);
	*mode = (unsigned)d->is_accounting;
	return d->has & HAS_ACCOUNTING ? NVML_OK : NVML_UNSUPPORTED;
}

FUNCTION nvmlDeviceGetAccountingPids(void *device, unsigned *nr, unsigned *pids)
{
	const unsigned room = *nr;

	BEGIN(20);
	*nr = 0;
	for (int i = 0; i < now.nr_accounts; i++) {
		if (&now.devices[now.accounts[i].device] != d)
			continue;
		if (*nr < room)
			pids[*nr] = now.accounts[i].pid;
		(*nr)++;
	}
	return !d->is_accounting ? NVML_UNSUPPORTED : *nr > room ? NVML_NO_ROOM : NVML_OK;
}

FUNCTION nvmlDeviceGetAccountingStats(void *device, unsigned pid, struct nvml_stats *stats)
{
	BEGIN(2);
	for (int i = now.nr_accounts - 1; i >= 0; i--) { /* the latest of a PID */
		if (&now.devices[now.accounts[i].device] != d || now.accounts[i].pid != pid)
			continue;
		*stats = now.accounts[i].stats;
		return NVML_OK;
	}
	return NVML_NOT_THERE;
}
