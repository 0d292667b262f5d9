// SPDX-License-Identifier: BSD-2-Clause
#include "measure/nvml.h"

#include "base/memory.h"
#include "measure/nvml_state.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_POWER_MW 100000000U /* what is above is no power of a GPU */
#define SLOWED                                                                                     \
	(NVML_SLOWED_BY_POWER | NVML_SLOWED_BY_HARDWARE | NVML_SLOWED_BY_HEAT |                    \
	 NVML_SLOWED_BY_HARDWARE_HEAT | NVML_SLOWED_BY_POWER_BRAKE)

static int library_init(const struct nvml_library *l, char *why, size_t size)
{
	const unsigned int result = l->init();

	switch (result) {
	case NVML_OK:
		return 0;
	case NVML_NO_DRIVER:
	case NVML_DEVICE_LOST:
	case NVML_NO_LIBRARY:
		snprintf(why, size, "no NVIDIA driver is loaded");
		return -ENODEV;
	case NVML_FORBIDDEN:
	case NVML_BLOCKED:
		snprintf(why, size, "the NVIDIA driver may not be used");
		return -EACCES;
	case NVML_OTHER_VERSION:
		snprintf(why, size, "the NVIDIA driver and its library differ in version");
		return -EPROTO;
	default:
		snprintf(why, size, "libnvidia-ml.so.1 cannot be initialized (code %u)", result);
		return -EIO;
	}
}

static int devices_open(struct nvml *n, uint64_t now_ns, char *why, size_t size)
{
	n->recover_ns = NVML_NEVER;
	nvml_devices_find(n, now_ns);
	if (n->nr_devices)
		return 0;
	if (n->unreadable_result == NVML_FORBIDDEN || n->unreadable_result == NVML_BLOCKED) {
		snprintf(why, size, "the NVIDIA devices may not be used");
		return -EACCES;
	}
	snprintf(why, size, "the NVIDIA driver has no device");
	return -ENODEV;
}

int nvml_open(struct nvml **nvml, char *why, size_t size)
{
	struct nvml *n = memory_calloc(1, sizeof(*n));
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	int err;

	if (!n) {
		snprintf(why, size, "out of memory");
		return -ENOMEM;
	}
	n->uses = n->lists[0];
	n->opened_us = clock_ns(CLOCK_REALTIME) / 1000;
	err = nvml_library_load(&n->lib, why, size);
	if (err) {
		free(n);
		return err;
	}
	err = library_init(&n->lib, why, size);
	if (!err) {
		err = devices_open(n, now_ns, why, size);
		if (err)
			n->lib.shutdown();
	}
	if (err) {
		nvml_library_unload(&n->lib);
		free(n);
		return err;
	}
	nvml_events_open(n);
	for (size_t i = 0; i < n->nr_devices; i++) /* what is used from now on counts */
		nvml_energy_read(n, &n->devices[i], now_ns);
	*nvml = n;
	return 0;
}

void nvml_close(struct nvml *n)
{
	if (!n)
		return;
	nvml_events_close(n);
	n->lib.shutdown();
	nvml_library_unload(&n->lib);
	for (size_t i = 0; i < n->nr_devices; i++)
		free(n->devices[i].accounts.all);
	free(n);
}

/* One pass over one device, which a call may lose. */
struct device_pass {
	struct nvml *n;
	struct nvml_device *d;
	uint64_t now_ns;
	unsigned int refused; /* a result for which there is no value, but that of what it lacks */
};

/* Returns whether there is a value, and which bit of "has" it is for. */
static bool pass_took(struct device_pass *p, unsigned int result, uint32_t bit)
{
	if (nvml_device_took(p->n, p->d, result, p->now_ns)) {
		p->d->values.has |= bit;
		return true;
	}
	if (result != NVML_UNSUPPORTED && result != NVML_NO_FUNCTION && result != NVML_FORBIDDEN)
		p->refused = result;
	return false;
}

static void memory_pass(struct device_pass *p)
{
	struct gpu_device *v = &p->d->values;

	pass_took(p,
		  nvml_read_memory(&p->n->lib, p->d->handle, &v->memory_bytes,
				   &v->memory_total_bytes),
		  GPU_MEMORY);
}

static void rates_pass(struct device_pass *p)
{
	struct gpu_device *v = &p->d->values;
	struct nvml_rates rates = { 0 };
	unsigned int result = nvml_call(&p->n->lib, rates, p->d->handle, &rates);

	if (!result && (rates.busy > 100 || rates.memory_busy > 100))
		result = NVML_UNSUPPORTED;
	if (!pass_took(p, result, GPU_BUSY | GPU_MEMORY_BUSY))
		return;
	v->busy_milli = rates.busy * 10;
	v->memory_busy_milli = rates.memory_busy * 10;
}

static void power_pass(struct device_pass *p)
{
	unsigned int mw = 0, result = nvml_call(&p->n->lib, power, p->d->handle, &mw);

	if (!result && mw > MOST_POWER_MW)
		result = NVML_UNSUPPORTED;
	if (pass_took(p, result, GPU_POWER))
		p->d->values.power_mw = mw;
}

static void clock_pass(struct device_pass *p)
{
	unsigned int mhz = 0;
	unsigned int result = nvml_call(&p->n->lib, clock, p->d->handle, NVML_CLOCK_OF_SM, &mhz);

	if (pass_took(p, result, GPU_CLOCK))
		p->d->values.clock_hz = mhz * 1000000ULL;
}

/* The time since the last pass counts as slowed down if the device is now. */
static void throttle_pass(struct device_pass *p)
{
	struct nvml_device *d = p->d;
	uint64_t reasons = 0;

	if (!pass_took(p, nvml_read_reasons(&p->n->lib, d->handle, &reasons), GPU_THROTTLE)) {
		d->throttle_ns = 0;
		return;
	}
	if ((reasons & SLOWED) && d->throttle_ns && p->now_ns > d->throttle_ns)
		d->values.throttled_ns += p->now_ns - d->throttle_ns;
	d->throttle_ns = p->now_ns;
}

static void device_pass(struct nvml *n, struct nvml_device *d, uint64_t now_ns)
{
	static void (*const parts[])(struct device_pass * p) = { memory_pass, rates_pass,
								 power_pass, clock_pass,
								 throttle_pass };
	struct device_pass p = { n, d, now_ns, NVML_OK };
	const size_t nr = d->parent < 0 ? sizeof(parts) / sizeof(*parts) : 1;

	if (d->lost)
		return;
	d->values.has = 0;
	for (size_t i = 0; i < nr && !d->lost; i++)
		parts[i](&p);
	/* a device without any value is lost, whatever the driver calls it */
	if (!d->lost && !d->values.has && p.refused)
		nvml_device_lose(n, d, p.refused, now_ns);
	if (!d->lost)
		d->values.has |= d->slow_has;
}

static void __attribute__((format(printf, 2, 3)))
nvml_why_add(struct gpu_table *t, const char *format, ...)
{
	size_t length;
	va_list args;

	t->why[sizeof(t->why) - 1] = '\0';
	length = strlen(t->why);
	if (length && length + 2 < sizeof(t->why)) {
		memcpy(t->why + length, "; ", 3);
		length += 2;
	}
	va_start(args, format);
	vsnprintf(t->why + length, sizeof(t->why) - length, format, args);
	va_end(args);
}

static const char *plural_end(unsigned nr)
{
	return nr == 1 ? "" : "s";
}

static void nvml_why_say(const struct nvml *n, struct gpu_table *t)
{
	unsigned lost = 0, forbidden = 0;
	unsigned int result = NVML_OK;

	for (size_t i = 0; i < n->nr_devices; i++) {
		const struct nvml_device *d = &n->devices[i];

		forbidden += !d->lost && d->is_forbidden;
		if (!d->lost || nvml_device_is_removed(d))
			continue;
		if (!lost++)
			result = d->lost;
	}
	if (lost)
		nvml_why_add(t, "%u of %zu NVIDIA devices cannot be read: %s", lost, n->nr_devices,
			     nvml_result_text(result));
	if (n->unreadable > lost) /* lost ones are not found, either */
		nvml_why_add(t, "%u NVIDIA device%s cannot be found: %s", n->unreadable,
			     plural_end(n->unreadable), nvml_result_text(n->unreadable_result));
	if (forbidden)
		nvml_why_add(t,
			     "the driver refuses the processes of %u NVIDIA device%s, as it does "
			     "those of instances (MIG) without root",
			     forbidden, plural_end(forbidden));
	if (n->without_room)
		nvml_why_add(t, "no room for %u NVIDIA device%s", n->without_room,
			     plural_end(n->without_room));
}

static void nvml_uses_copy(const struct nvml *n, struct gpu_table *t, size_t base)
{
	for (size_t i = 0; i < n->nr_uses; i++) {
		const size_t at = base + n->uses[i].device;
		struct gpu_use *use;

		if (at >= t->nr_devices || !(t->devices[at].has & GPU_USES))
			continue; /* kept for when they can be read again */
		use = gpu_table_add_use(t);
		if (!use)
			continue;
		*use = n->uses[i];
		use->device = (uint32_t)at;
	}
	t->uses_dropped += n->uses_dropped;
}

static void nvml_ended_copy(const struct nvml *n, struct gpu_table *t, size_t base)
{
	t->nr_ended = n->nr_ended;
	for (size_t i = 0; i < n->nr_ended && i < MAX_GPU_ENDED; i++) {
		t->ended[i] = n->ended[i];
		t->ended[i].device += (uint32_t)base;
	}
}

static void device_copy(const struct nvml_device *d, struct gpu_device *out)
{
	*out = d->values;
	if (out->has && d->accounts.is_on)
		out->has |= GPU_ACCOUNTS;
}

void nvml_pass(struct nvml *n, struct gpu_table *t, uint64_t now_ns)
{
	const size_t base = t->nr_devices;

	for (size_t i = 0; i < n->nr_devices; i++)
		device_pass(n, &n->devices[i], now_ns);
	nvml_uses_read(n, now_ns);
	for (size_t i = 0; i < n->nr_devices && t->nr_devices < MAX_GPUS; i++)
		device_copy(&n->devices[i], &t->devices[t->nr_devices++]);
	nvml_uses_copy(n, t, base);
	nvml_ended_copy(n, t, base);
	nvml_why_say(n, t);
}
