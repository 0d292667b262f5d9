// SPDX-License-Identifier: BSD-2-Clause
#include "measure/nvml_library.h"

#include "base/memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME "libnvidia-ml.so.1"
#define FIRST_ROOM 64
#define MOST_PID (1U << 22) /* PID_MAX_LIMIT of the kernel */
#define UNWRITTEN 0xa5
#define TRIES 3 /* of a list that grows while it is read */

const char *nvml_result_text(unsigned int result)
{
	switch (result) {
	case NVML_NOT_INITIALIZED:
	case NVML_NO_DRIVER:
		return "the driver is no longer loaded";
	case NVML_DEVICE_LOST:
		return "the driver has lost the GPU";
	case NVML_NOT_THERE:
		return "the driver no longer lists it";
	case NVML_FORBIDDEN:
	case NVML_BLOCKED:
		return "not permitted";
	default:
		return "the driver reports an error";
	}
}

/* Makes room for @nr entries in the buffer. Returns false without memory for it. */
static bool library_make_room(struct nvml_library *l, size_t nr)
{
	void *grown;

	if (nr > NVML_MOST_LISTED)
		nr = NVML_MOST_LISTED;
	if (nr <= l->room)
		return true;
	/* one more: what lies behind the last entry shows if more was written than there are */
	grown = memory_realloc(l->buffer, (nr + 1) * NVML_ENTRY);
	if (!grown)
		return false;
	l->buffer = grown;
	l->room = nr;
	return true;
}

#ifdef BPFMON_STATIC
/* A static program has no dynamic linker that the library would find its libc by. */
int nvml_library_load(struct nvml_library *l, char *why, size_t size)
{
	*l = (struct nvml_library){ 0 };
	snprintf(why, size, "a static program cannot load " FILE_NAME);
	return -ENOTSUP;
}

void nvml_library_unload(struct nvml_library *l)
{
	(void)l;
}
#else
#define FUNCTION(member) offsetof(struct nvml_library, member)

static const struct {
	const char *name;
	size_t at; /* of its pointer */
	bool is_needed;
} functions[] = {
	/* clang-format off */
	{ "nvmlInit_v2",				FUNCTION(init), true },
	{ "nvmlShutdown",				FUNCTION(shutdown), true },
	{ "nvmlDeviceGetCount_v2",			FUNCTION(device_count), true },
	{ "nvmlDeviceGetHandleByIndex_v2",		FUNCTION(device_at), true },
	{ "nvmlDeviceGetUUID",				FUNCTION(uuid), true },
	{ "nvmlDeviceGetName",				FUNCTION(model), false },
	{ "nvmlDeviceGetMinorNumber",			FUNCTION(minor_number), false },
	{ "nvmlDeviceGetMigMode",			FUNCTION(mig_mode), false },
	{ "nvmlDeviceGetMaxMigDeviceCount",		FUNCTION(mig_most), false },
	{ "nvmlDeviceGetMigDeviceHandleByIndex",	FUNCTION(mig_at), false },
	{ "nvmlDeviceGetGpuInstanceId",			FUNCTION(gpu_instance), false },
	{ "nvmlDeviceGetComputeInstanceId",		FUNCTION(compute_instance), false },
	{ "nvmlDeviceGetUtilizationRates",		FUNCTION(rates), false },
	{ "nvmlDeviceGetMemoryInfo",			FUNCTION(memory), false },
	{ "nvmlDeviceGetMemoryInfo_v2",			FUNCTION(memory_v2), false },
	{ "nvmlDeviceGetPowerUsage",			FUNCTION(power), false },
	{ "nvmlDeviceGetClockInfo",			FUNCTION(clock), false },
	{ "nvmlDeviceGetCurrentClocksEventReasons",	FUNCTION(clock_reasons), false },
	{ "nvmlDeviceGetCurrentClocksThrottleReasons",	FUNCTION(throttle_reasons), false },
	{ "nvmlDeviceGetComputeRunningProcesses",	FUNCTION(processes[NVML_COMPUTE][0]), false },
	{ "nvmlDeviceGetComputeRunningProcesses_v2",	FUNCTION(processes[NVML_COMPUTE][1]), false },
	{ "nvmlDeviceGetComputeRunningProcesses_v3",	FUNCTION(processes[NVML_COMPUTE][2]), false },
	{ "nvmlDeviceGetGraphicsRunningProcesses",	FUNCTION(processes[NVML_GRAPHICS][0]), false },
	{ "nvmlDeviceGetGraphicsRunningProcesses_v2",	FUNCTION(processes[NVML_GRAPHICS][1]), false },
	{ "nvmlDeviceGetGraphicsRunningProcesses_v3",	FUNCTION(processes[NVML_GRAPHICS][2]), false },
	{ "nvmlDeviceGetProcessUtilization",		FUNCTION(samples), false },
	{ "nvmlDeviceGetTotalEnergyConsumption",	FUNCTION(energy), false },
	{ "nvmlDeviceGetTotalEccErrors",		FUNCTION(ecc), false },
	{ "nvmlEventSetCreate",				FUNCTION(events_make), false },
	{ "nvmlDeviceRegisterEvents",			FUNCTION(events_register), false },
	{ "nvmlEventSetWait_v2",			FUNCTION(events_wait), false },
	{ "nvmlEventSetFree",				FUNCTION(events_free), false },
	{ "nvmlDeviceGetAccountingMode",		FUNCTION(accounting_mode), false },
	{ "nvmlDeviceGetAccountingPids",		FUNCTION(accounting_pids), false },
	{ "nvmlDeviceGetAccountingStats",		FUNCTION(accounting_stats), false },
	/* clang-format on */
};

static bool library_find_functions(struct nvml_library *l, const char **missing)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		void *found = dlsym(l->file, functions[i].name);

		if (!found && functions[i].is_needed) {
			*missing = functions[i].name;
			return false;
		}
		memcpy((char *)l + functions[i].at, &found, sizeof(found));
	}
	for (int list = 0; list < NR_NVML_LISTS; list++)
		l->version[list] = 2;
	return true;
}

int nvml_library_load(struct nvml_library *l, char *why, size_t size)
{
	const char *missing;
	int err = 0;

	*l = (struct nvml_library){ 0 };
	l->file = dlopen(FILE_NAME, RTLD_NOW | RTLD_LOCAL);
	if (!l->file) {
		snprintf(why, size, FILE_NAME " is not installed");
		return -ENOENT;
	}
	if (!library_find_functions(l, &missing)) {
		snprintf(why, size, FILE_NAME " has no %s()", missing);
		err = -ENOTSUP;
	} else if (!library_make_room(l, FIRST_ROOM)) {
		snprintf(why, size, "out of memory");
		err = -ENOMEM;
	}
	if (err)
		nvml_library_unload(l);
	return err;
}

void nvml_library_unload(struct nvml_library *l)
{
	free(l->buffer);
	dlclose(l->file);
	*l = (struct nvml_library){ 0 };
}
#endif

unsigned int nvml_read_memory(const struct nvml_library *l, void *device, uint64_t *used_bytes,
			      uint64_t *total_bytes)
{
	struct nvml_memory_v2 v2 = { .version = NVML_MEMORY_VERSION };
	struct nvml_memory v1 = { 0 };
	unsigned int result = nvml_call(l, memory_v2, device, &v2);

	if (result == NVML_NO_FUNCTION || result == NVML_UNSUPPORTED ||
	    result == NVML_BAD_VERSION) {
		result = nvml_call(l, memory, device, &v1);
		v2.used = v1.used;
		v2.total = v1.total;
	}
	if (result)
		return result;
	if (v2.used > v2.total)
		return NVML_UNSUPPORTED;
	*used_bytes = v2.used;
	*total_bytes = v2.total;
	return NVML_OK;
}

unsigned int nvml_read_reasons(const struct nvml_library *l, void *device, uint64_t *reasons)
{
	unsigned long long bits = 0;
	unsigned int result = nvml_call(l, clock_reasons, device, &bits);

	if (result == NVML_NO_FUNCTION)
		result = nvml_call(l, throttle_reasons, device, &bits);
	if (!result)
		*reasons = bits;
	return result;
}

unsigned int nvml_read_text(unsigned int (*function)(void *device, char *text, unsigned int size),
			    void *device, char *text, size_t size)
{
	char read[NVML_TEXT] = "";
	unsigned int result = function ? function(device, read, sizeof(read)) : NVML_NO_FUNCTION;
	size_t n;

	if (result)
		return result;
	n = strnlen(read, sizeof(read));
	if (n >= size)
		n = size - 1;
	for (size_t i = 0; i < n; i++)
		text[i] = read[i] >= ' ' && read[i] <= '~' ? read[i] : '?';
	text[n] = '\0';
	return n ? NVML_OK : NVML_UNSUPPORTED;
}

/*
 * Returns the bytes of each of @nr entries by where the library has stopped writing:
 * nvml_process_v2 did not change its name as it grew, and was small again some drivers later.
 */
static size_t entry_bytes(const struct nvml_library *l, size_t nr)
{
	const unsigned char *bytes = l->buffer;
	const size_t narrow = nr * sizeof(struct nvml_process_v2), wide = nr * NVML_ENTRY;
	bool is_wide = false;

	for (size_t i = narrow; i < wide; i++)
		is_wide |= bytes[i] != UNWRITTEN;
	/* one that clears all of the buffer says nothing */
	for (size_t i = wide; i < wide + NVML_ENTRY && is_wide; i++)
		is_wide = bytes[i] == UNWRITTEN;
	return is_wide ? NVML_ENTRY : sizeof(struct nvml_process_v2);
}

static struct nvml_process process_at(const struct nvml_library *l, int version, size_t bytes,
				      size_t i)
{
	const char *at = (const char *)l->buffer + i * bytes;
	struct nvml_process_v1 v1;
	struct nvml_process_v2 v2;

	if (version == 0) {
		memcpy(&v1, at, sizeof(v1));
		return (struct nvml_process){ v1.pid, NVML_NO_INSTANCE, NVML_NO_INSTANCE,
					      v1.memory };
	}
	memcpy(&v2, at, sizeof(v2));
	return (struct nvml_process){ v2.pid, v2.gpu_instance, v2.compute_instance, v2.memory };
}

/* Calls the newest version of the function that the library has. */
static unsigned int library_list_processes(struct nvml_library *l, void *device,
					   enum nvml_list list, unsigned int *nr)
{
	const unsigned int room = *nr;
	unsigned int result = NVML_NO_FUNCTION;

	for (; l->version[list] >= 0; l->version[list]--) {
		*nr = room;
		memset(l->buffer, UNWRITTEN, (l->room + 1) * NVML_ENTRY);
		result = nvml_call(l, processes[list][l->version[list]], device, nr, l->buffer);
		if (result != NVML_NO_FUNCTION)
			break;
	}
	return result;
}

/* Returns whether a list is to be read again, into a buffer that now has room for @nr and some. */
static bool library_has_more_room(struct nvml_library *l, size_t nr)
{
	const size_t room = l->room;

	return library_make_room(l, nr > room ? nr + nr / 4 : 2 * room) && l->room > room;
}

unsigned int nvml_read_processes(struct nvml_library *l, void *device, enum nvml_list list,
				 struct nvml_process *all, size_t *nr)
{
	unsigned int found = 0, result = NVML_NO_ROOM;
	size_t bytes = sizeof(struct nvml_process_v1);

	for (int i = 0; i < TRIES && result == NVML_NO_ROOM; i++) {
		found = l->room;
		result = library_list_processes(l, device, list, &found);
		if (result == NVML_NO_ROOM && !library_has_more_room(l, found))
			break;
	}
	if (result)
		return result;
	if (found > l->room)
		found = l->room;
	if (l->version[list] > 0)
		bytes = entry_bytes(l, found);
	for (size_t i = 0; i < found && *nr < NVML_MOST_LISTED; i++) {
		struct nvml_process p = process_at(l, l->version[list], bytes, i);

		if (p.pid > 0 && p.pid <= MOST_PID)
			all[(*nr)++] = p;
	}
	return NVML_OK;
}

unsigned int nvml_read_samples(struct nvml_library *l, void *device, uint64_t last_us,
			       struct nvml_sample **samples, size_t *nr)
{
	unsigned int found = 0, result = NVML_NO_ROOM;

	for (int i = 0; i < TRIES && result == NVML_NO_ROOM; i++) {
		found = l->room;
		result = nvml_call(l, samples, device, l->buffer, &found, last_us);
		if (result == NVML_NO_ROOM && !library_has_more_room(l, found))
			break;
	}
	*samples = l->buffer;
	*nr = found < l->room ? found : l->room;
	return result;
}

unsigned int nvml_read_accounted(struct nvml_library *l, void *device, unsigned int **pids,
				 size_t *nr)
{
	unsigned int found = 0, result = NVML_NO_ROOM;

	for (int i = 0; i < TRIES && result == NVML_NO_ROOM; i++) {
		found = l->room;
		result = nvml_call(l, accounting_pids, device, &found, l->buffer);
		if (result == NVML_NO_ROOM && !library_has_more_room(l, found))
			break;
	}
	*pids = l->buffer;
	*nr = found < l->room ? found : l->room;
	return result;
}
