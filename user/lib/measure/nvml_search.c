// SPDX-License-Identifier: BSD-2-Clause
/* Finds GPUs of NVIDIA and their instances, and lost ones again. */
#include "measure/nvml_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct nvml_device *device_by_name(struct nvml *n, const char *name)
{
	for (size_t i = 0; i < n->nr_devices; i++)
		if (!strcmp(n->devices[i].values.name, name))
			return &n->devices[i];
	return NULL;
}

/* Returns a place for one more device, or NULL: at the end, or where an instance was removed. */
static struct nvml_device *device_place(struct nvml *n)
{
	struct nvml_device *d;

	if (n->nr_devices < MAX_GPUS)
		return &n->devices[n->nr_devices++];
	for (size_t i = 0; i < n->nr_devices; i++) {
		d = &n->devices[i];
		if (!nvml_device_is_removed(d))
			continue;
		nvml_uses_forget(n, d);
		free(d->accounts.all);
		return d;
	}
	n->without_room++;
	return NULL;
}

static struct nvml_device *nvml_device_add(struct nvml *n, const char *name, int parent)
{
	struct nvml_device *d = device_place(n);

	if (!d)
		return NULL;
	*d = (struct nvml_device){ .parent = parent };
	d->gpu_instance = d->compute_instance = NVML_NO_INSTANCE;
	d->values.minor = -1;
	snprintf(d->values.name, sizeof(d->values.name), "%s", name);
	snprintf(d->values.driver, sizeof(d->values.driver), "nvidia");
	if (parent >= 0)
		for (int task = 0; task < NR_NVML_TASKS; task++)
			d->due_ns[task] = NVML_NEVER; /* not supported for instances */
	return d;
}

/* What a handle may say otherwise since the library was initialized again. */
static void device_identify(struct nvml *n, struct nvml_device *d, void *handle)
{
	const struct nvml_library *l = &n->lib;
	const bool was_lost = d->lost;
	unsigned int number;

	if (was_lost && d->parent < 0)
		memset(d->due_ns, 0, sizeof(d->due_ns)); /* another driver may know more */
	if (was_lost)
		d->has_no_samples = d->lists_by_parent = false;
	d->handle = handle;
	d->lost = NVML_OK;
	d->is_listed = true;
	if (was_lost || !(d->slow_has & GPU_XID))
		nvml_events_register(n, d);
	nvml_read_text(l->model, handle, d->values.model, sizeof(d->values.model));
	if (d->parent >= 0) {
		if (nvml_call(l, gpu_instance, handle, &d->gpu_instance))
			d->gpu_instance = NVML_NO_INSTANCE;
		if (nvml_call(l, compute_instance, handle, &d->compute_instance))
			d->compute_instance = NVML_NO_INSTANCE;
	} else if (!nvml_call(l, minor_number, handle, &number) && number <= INT32_MAX) {
		d->values.minor = (int)number;
	}
}

/* Returns a result of reading its name; without room for it, too, NVML_OK. */
static unsigned int device_find(struct nvml *n, void *handle, int parent)
{
	char name[sizeof(n->devices->values.name)];
	struct nvml_device *d;
	unsigned int result = nvml_read_text(n->lib.uuid, handle, name, sizeof(name));

	if (result)
		return result;
	d = device_by_name(n, name);
	if (d && (d->is_listed || d->parent != parent))
		return NVML_OK; /* names are unique: the same one again would count twice */
	if (!d)
		d = nvml_device_add(n, name, parent);
	if (d)
		device_identify(n, d, handle);
	return NVML_OK;
}

static void instances_lose(struct nvml *n, int parent)
{
	for (size_t i = 0; i < n->nr_devices; i++) {
		struct nvml_device *d = &n->devices[i];

		if (d->parent == parent && !d->is_listed)
			nvml_device_lose(n, d, NVML_NOT_THERE, 0);
	}
}

unsigned int nvml_instances_find(struct nvml *n, struct nvml_device *parent)
{
	const int at = (int)(parent - n->devices);
	unsigned int mode = 0, pending, most = 0;
	unsigned int result = nvml_call(&n->lib, mig_mode, parent->handle, &mode, &pending);
	void *handle;

	if (result && result != NVML_UNSUPPORTED && result != NVML_NO_FUNCTION)
		return result; /* which says nothing of the instances that are known */
	parent->has_instances = !result && mode == 1;
	if (parent->has_instances)
		result = nvml_call(&n->lib, mig_most, parent->handle, &most);
	if (parent->has_instances && result)
		return result;
	for (size_t i = 0; i < n->nr_devices; i++)
		if (n->devices[i].parent == at)
			n->devices[i].is_listed = false;
	for (unsigned int i = 0; i < most && i < MAX_GPUS; i++)
		if (!nvml_call(&n->lib, mig_at, parent->handle, i, &handle))
			device_find(n, handle, at);
	instances_lose(n, at);
	return result;
}

static void recovery_plan(struct nvml *n, uint64_t now_ns)
{
	bool is_needed = n->unreadable > 0;

	for (size_t i = 0; i < n->nr_devices; i++)
		is_needed |= n->devices[i].lost && !nvml_device_is_removed(&n->devices[i]);
	n->recover_ns = is_needed ? now_ns + NVML_TRY_AGAIN_NS : NVML_NEVER;
}

void nvml_devices_find(struct nvml *n, uint64_t now_ns)
{
	unsigned int nr = 0, result = nvml_call(&n->lib, device_count, &nr);
	size_t nr_physical;
	void *handle;

	if (result)
		return;
	n->unreadable = n->without_room = 0;
	for (size_t i = 0; i < n->nr_devices; i++)
		n->devices[i].is_listed = false;
	for (unsigned int i = 0; i < nr && i < MAX_GPUS; i++) {
		result = nvml_call(&n->lib, device_at, i, &handle);
		if (!result)
			result = device_find(n, handle, -1);
		if (!result)
			continue;
		n->unreadable++;
		n->unreadable_result = result;
	}
	if (nr > MAX_GPUS)
		n->without_room += nr - MAX_GPUS;
	nr_physical = n->nr_devices;
	for (size_t i = 0; i < nr_physical; i++) {
		if (n->devices[i].parent >= 0)
			continue;
		if (n->devices[i].is_listed)
			nvml_instances_find(n, &n->devices[i]);
		else if (!n->devices[i].lost)
			nvml_device_lose(n, &n->devices[i], NVML_NOT_THERE, now_ns);
	}
	recovery_plan(n, now_ns);
}

/* Returns whether the library may have lost its driver, and not just a device. */
static bool library_is_lost(const struct nvml *n)
{
	bool is_any_readable = false;

	for (size_t i = 0; i < n->nr_devices; i++) {
		const unsigned int lost = n->devices[i].lost;

		if (lost == NVML_NOT_INITIALIZED || lost == NVML_NO_DRIVER)
			return true;
		is_any_readable |= !lost;
	}
	return !is_any_readable;
}

void nvml_recover(struct nvml *n, uint64_t now_ns)
{
	const bool is_library = library_is_lost(n);

	n->recover_ns = now_ns + NVML_TRY_AGAIN_NS;
	if (is_library) {
		nvml_events_close(n);
		n->lib.shutdown();
		if (n->lib.init())
			return;
	}
	nvml_devices_find(n, now_ns);
	if (is_library)
		nvml_events_open(n);
}
