// SPDX-License-Identifier: BSD-2-Clause
/* Whether a GPU of NVIDIA can be read, and the critical errors (Xid) that the driver reports of it.
 */
#include "measure/nvml_state.h"

bool nvml_device_is_removed(const struct nvml_device *d)
{
	return d->parent >= 0 && d->lost == NVML_NOT_THERE;
}

void nvml_device_lose(struct nvml *n, struct nvml_device *d, unsigned int result, uint64_t now_ns)
{
	const bool was_lost = d->lost;

	d->lost = result;
	d->values.has = 0;
	d->pass_ns = d->throttle_ns = d->given_ns = 0;
	if (!nvml_device_is_removed(d) && n->recover_ns == NVML_NEVER)
		n->recover_ns = now_ns + NVML_TRY_AGAIN_NS;
	if (d->parent >= 0 && !was_lost) /* a handle is no longer valid where instances change */
		n->devices[d->parent].due_ns[NVML_TASK_INSTANCES] = 0;
}

bool nvml_device_took(struct nvml *n, struct nvml_device *d, unsigned int result, uint64_t now_ns)
{
	if (result == NVML_NOT_INITIALIZED || result == NVML_NO_DRIVER ||
	    result == NVML_DEVICE_LOST)
		nvml_device_lose(n, d, result, now_ns);
	return result == NVML_OK;
}

#define EVENTS_NS NSEC_PER_SEC
#define EVENTS_AT_ONCE 16 /* more at once say no more than that there are many */

void nvml_events_register(struct nvml *n, struct nvml_device *d)
{
	unsigned int result;

	if (!n->events || d->lost || d->parent >= 0)
		return;
	result = nvml_call(&n->lib, events_register, d->handle, NVML_EVENT_XID, n->events);
	if (result == NVML_UNKNOWN) /* the set is not to be used any more, NVIDIA's header says */
		nvml_events_close(n);
	else if (!result)
		d->slow_has |= GPU_XID;
}

void nvml_events_open(struct nvml *n)
{
	n->events = NULL;
	if (nvml_call(&n->lib, events_make, &n->events))
		n->events = NULL;
	for (size_t i = 0; i < n->nr_devices; i++)
		nvml_events_register(n, &n->devices[i]);
}

void nvml_events_close(struct nvml *n)
{
	if (n->events)
		nvml_call(&n->lib, events_free, n->events);
	n->events = NULL;
	for (size_t i = 0; i < n->nr_devices; i++)
		n->devices[i].slow_has &= ~(uint32_t)GPU_XID;
}

static void event_count(struct nvml *n, const struct nvml_event *event)
{
	for (size_t i = 0; i < n->nr_devices; i++) {
		struct nvml_device *d = &n->devices[i];

		if (d->handle != event->device || d->parent >= 0 || event->type != NVML_EVENT_XID)
			continue;
		d->values.xid_errors++;
		d->values.last_xid = (uint32_t)event->data;
		return;
	}
}

void nvml_events_read(struct nvml *n, uint64_t now_ns)
{
	struct nvml_event event = { 0 };

	if (!nvml_call(&n->lib, events_wait, n->events, &event, 0)) {
		event_count(n, &event);
		if (++n->events_read < EVENTS_AT_ONCE)
			return;
	}
	n->events_read = 0;
	n->events_ns = now_ns + EVENTS_NS;
}
