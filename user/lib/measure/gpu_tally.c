// SPDX-License-Identifier: BSD-2-Clause
/* The part of a tally in the use of GPUs, and its metrics. */
#include "base/clock.h"
#include "base/memory.h"
#include "measure/gpus.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#define TOLD_NS (3 * NSEC_PER_SEC / 2)

void gpu_tally_done(struct gpu_tally *g)
{
	free(g->all);
	*g = (struct gpu_tally){ 0 };
}

/* Before the uses at a drain are added. */
static void held_clear(struct gpu_held *h)
{
	h->is_held = false;
	h->has = GPU_BUSY | GPU_MEMORY | GPU_MEMORY_BUSY;
	h->memory_bytes = h->worked_ns = 0;
}

static struct gpu_held *held_find(struct gpu_tally *g, uint32_t device)
{
	struct gpu_held *all;

	for (size_t i = 0; i < g->nr; i++)
		if (g->all[i].device == device)
			return &g->all[i];
	all = memory_reallocarray(g->all, g->nr + 1, sizeof(*all));
	if (!all)
		return NULL;
	g->all = all;
	all[g->nr] = (struct gpu_held){ .device = device };
	held_clear(&all[g->nr]);
	return &all[g->nr++];
}

static void held_add(struct gpu_held *h, const struct gpu_step *s)
{
	h->is_held = true;
	h->has &= s->has;
	h->memory_bytes += s->memory_bytes;
	h->busy_ns += s->busy_ns;
	h->memory_busy_ns += s->memory_busy_ns;
	h->new_busy_ns += s->busy_ns;
	if (s->worked_ns > h->worked_ns)
		h->worked_ns = s->worked_ns;
}

/*
 * Of several processes on one device of NVIDIA the work is told once a second: without any at a
 * pass, the device did not work if that lasts.
 */
static void held_judge(struct gpu_held *h, uint64_t pass_ns)
{
	const uint64_t from_ns = h->worked_ns > h->idle_to_ns ? h->worked_ns : h->idle_to_ns;

	if (!h->given_ns || h->given_ns > pass_ns)
		h->given_ns = pass_ns;
	if (h->given_ns < pass_ns && (h->new_busy_ns || pass_ns > h->given_ns + TOLD_NS)) {
		h->used_milli = h->new_busy_ns * 1000 / (pass_ns - h->given_ns);
		h->used_milli = h->used_milli < 1000 ? h->used_milli : 1000;
		h->new_busy_ns = 0;
		h->given_ns = pass_ns;
	}
	if (!(h->has & GPU_BUSY) || pass_ns < h->worked_ns + TOLD_NS || pass_ns < from_ns)
		return;
	h->idle_ns += pass_ns - from_ns;
	h->idle_to_ns = pass_ns;
}

static void held_end(struct gpu_held *h, const struct gpu_desk *d, bool has_all)
{
	const struct gpu_known *k = &d->known[h->device];

	if (h->is_held)
		held_judge(h, d->table->pass_ns);
	else
		h->given_ns = h->new_busy_ns = h->used_milli = 0;
	if (!h->is_held && !has_all)
		return;
	h->energy_uj += k->energy_uj;
	h->throttled_ns += k->throttled_ns;
	h->ecc_errors += k->ecc_errors;
	h->xid_errors += k->xid_errors;
}

/* Adds the steps of the process of @row. Returns 0 or -ENOMEM. */
static int gpu_tally_add(struct gpu_tally *g, const struct gpu_desk *d, const struct drain_row *row)
{
	const struct gpu_step *s = gpu_steps_find(d, row->pid);

	for (; gpu_step_is_of(d, s, row->pid); s++) {
		struct gpu_held *h;

		if (s->serial != row->serial)
			continue;
		h = held_find(g, s->device);
		if (!h)
			return -ENOMEM;
		held_add(h, s);
	}
	return 0;
}

int gpu_tally_drain(struct gpu_tally *g, const struct gpu_desk *d, const struct row_list *rows)
{
	int err = 0;

	if (!d->table)
		return 0;
	for (size_t i = 0; i < g->nr; i++)
		held_clear(&g->all[i]);
	for (size_t i = 0; i < rows->nr && d->nr_steps; i++)
		err |= gpu_tally_add(g, d, rows->all[i]);
	for (uint32_t i = 0; g->has_all && i < d->nr_known; i++)
		if (d->known[i].is_there && !held_find(g, i))
			err = -ENOMEM;
	for (size_t i = 0; i < g->nr; i++)
		held_end(&g->all[i], d, g->has_all);
	return err;
}

uint64_t gpu_tally_busy(const struct gpu_tally *g)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < g->nr; i++)
		ns += g->all[i].busy_ns;
	return ns;
}

uint64_t gpu_tally_end(struct gpu_tally *g, const struct gpu_desk *d, uint64_t serial)
{
	uint64_t peak_bytes = 0;
	size_t nr;
	const struct gpu_past *p = gpu_pasts_find(&d->pasts, serial, &nr);

	for (size_t i = 0; i < nr; i++) {
		struct gpu_held *h = p[i].has_account ? held_find(g, p[i].device) : NULL;

		if (!h)
			continue;
		h->busy_ns += p[i].more_busy_ns;
		h->memory_busy_ns += p[i].more_memory_busy_ns;
		if (p[i].memory_peak_bytes > peak_bytes)
			peak_bytes = p[i].memory_peak_bytes;
	}
	return peak_bytes;
}

struct put {
	const struct metric_set *usable;
	bool has_all; /* of struct gpu_tally */
	uint64_t *value;
	struct metric_set *have;
};

static void put_add(const struct put *p, enum metric_id id, uint64_t value)
{
	if (!metric_has(p->usable, id))
		return;
	p->value[id] = (metric_has(p->have, id) ? p->value[id] : 0) + value;
	metric_put(p->have, id);
}

static void put_least(const struct put *p, enum metric_id id, uint64_t value)
{
	if (metric_has(p->usable, id) && metric_has(p->have, id) && p->value[id] < value)
		return;
	metric_drop(p->have, id);
	put_add(p, id, value);
}

static void device_put_now(const struct put *p, const struct gpu_device *now)
{
	if (now->has & GPU_BUSY)
		put_add(p, M_gpu_device_busy, now->busy_milli);
	if (now->has & GPU_MEMORY)
		put_add(p, M_gpu_device_memory, now->memory_bytes);
	if (now->has & GPU_POWER)
		put_add(p, M_gpu_power, now->power_mw);
	if (now->has & GPU_CLOCK)
		put_least(p, M_gpu_clock, now->clock_hz);
}

static void device_put_counters(const struct put *p, const struct gpu_held *h, uint32_t has)
{
	if (has & GPU_ENERGY)
		put_add(p, M_gpu_energy, h->energy_uj);
	if (has & GPU_THROTTLE)
		put_add(p, M_gpu_throttled, h->throttled_ns);
	if (has & GPU_ECC)
		put_add(p, M_gpu_ecc_errors, h->ecc_errors);
	if (has & GPU_XID)
		put_add(p, M_gpu_xid_errors, h->xid_errors);
}

static bool held_is_idle(const struct gpu_held *h, uint64_t now_ns, uint64_t idle_after_ns)
{
	return idle_after_ns && h->has & GPU_BUSY && now_ns >= h->worked_ns + idle_after_ns;
}

static void held_put(const struct gpu_held *h, const struct gpu_desk *d, uint64_t idle_after_ns,
		     const struct put *p)
{
	const struct gpu_known *k = &d->known[h->device];

	device_put_counters(p, h, k->had);
	if (k->is_there && (h->is_held || p->has_all))
		device_put_now(p, &k->now);
	if (!d->has_uses)
		return;
	put_add(p, M_gpu, h->busy_ns);
	put_add(p, M_gpu_memory_busy, h->memory_busy_ns);
	put_add(p, M_gpu_idle, h->idle_ns);
	if (!h->is_held)
		return;
	put_add(p, M_gpus_held, 1);
	put_add(p, M_gpus_used, h->used_milli);
	if (idle_after_ns)
		put_add(p, M_gpus_idle, held_is_idle(h, d->table->pass_ns, idle_after_ns));
	put_add(p, M_gpu_memory, h->memory_bytes);
}

/* A value is not known if one of its parts is not. @has is what is known of all uses. */
static void put_drop_unknown(uint32_t has, const struct put *p)
{
	if (!(has & GPU_MEMORY))
		metric_drop(p->have, M_gpu_memory);
	if (!(has & GPU_MEMORY_BUSY))
		metric_drop(p->have, M_gpu_memory_busy);
	if (has & GPU_BUSY)
		return;
	metric_drop(p->have, M_gpu);
	metric_drop(p->have, M_gpu_idle);
	metric_drop(p->have, M_gpus_used);
	metric_drop(p->have, M_gpus_idle);
}

static void put_none(const struct put *p, uint64_t idle_after_ns)
{
	put_add(p, M_gpu, 0);
	put_add(p, M_gpu_memory_busy, 0);
	put_add(p, M_gpu_idle, 0);
	put_add(p, M_gpus_held, 0);
	put_add(p, M_gpus_used, 0);
	put_add(p, M_gpu_memory, 0);
	if (idle_after_ns)
		put_add(p, M_gpus_idle, 0);
}

static int held_put_instance(const struct gpu_held *h, const struct gpu_desk *d,
			     const struct put *whole, uint64_t idle_after_ns, struct sample *smp)
{
	struct instance *at = sample_add_instance(smp, GPU_DIMENSION, d->known[h->device].now.name);
	struct put p = *whole;

	if (!at)
		return -ENOMEM;
	p.value = at->value;
	p.have = &at->have;
	held_put(h, d, idle_after_ns, &p);
	put_drop_unknown(h->is_held ? h->has : ~0U, &p);
	return 0;
}

int gpu_tally_put(const struct gpu_tally *g, const struct gpu_desk *d,
		  const struct metric_set *usable, uint64_t idle_after_ns, bool with_devices,
		  struct sample *smp)
{
	const struct put p = { usable, g->has_all, smp->value, &smp->have };
	uint32_t has = ~0U;
	int err = 0;

	if (!d->table || !d->is_fresh)
		return 0;
	if (d->has_uses)
		put_none(&p, idle_after_ns);
	for (size_t i = 0; i < g->nr; i++) {
		held_put(&g->all[i], d, idle_after_ns, &p);
		has &= g->all[i].is_held ? g->all[i].has : ~0U;
	}
	put_drop_unknown(has, &p);
	for (size_t i = 0; with_devices && !err && i < g->nr; i++)
		err = held_put_instance(&g->all[i], d, &p, idle_after_ns, smp);
	return err;
}

static const struct {
	const char *key;
	size_t offset;
	uint32_t has; /* of a device that counts it */
} kept_counters[] = {
	{ "busy_ns", offsetof(struct gpu_held, busy_ns), 0 },
	{ "memory_busy_ns", offsetof(struct gpu_held, memory_busy_ns), 0 },
	{ "idle_ns", offsetof(struct gpu_held, idle_ns), 0 },
	{ "energy_uj", offsetof(struct gpu_held, energy_uj), GPU_ENERGY },
	{ "throttled_ns", offsetof(struct gpu_held, throttled_ns), GPU_THROTTLE },
	{ "ecc_errors", offsetof(struct gpu_held, ecc_errors), GPU_ECC },
	{ "xid_errors", offsetof(struct gpu_held, xid_errors), GPU_XID },
};
#define NR_KEPT (sizeof(kept_counters) / sizeof(*kept_counters))

void gpu_tally_keep(const struct gpu_tally *g, const struct gpu_desk *d, struct jsonw *j)
{
	jsonw_object(j, "gpus");
	for (size_t i = 0; i < g->nr; i++) {
		jsonw_object(j, d->known[g->all[i].device].now.name);
		for (size_t k = 0; k < NR_KEPT; k++)
			jsonw_uint(j, kept_counters[k].key,
				   *(const uint64_t *)((const char *)&g->all[i] +
						       kept_counters[k].offset));
		jsonw_object_end(j);
	}
	jsonw_object_end(j);
}

int gpu_tally_resume(struct gpu_tally *g, struct gpu_desk *d, const json_t *o)
{
	const char *name;
	json_t *one;

	json_object_foreach((json_t *)o, name, one) {
		const uint32_t device = gpu_known_find(d, name);
		struct gpu_held *h = device < MAX_GPUS ? held_find(g, device) : NULL;

		if (!h)
			return -ENOMEM;
		for (size_t k = 0; k < NR_KEPT; k++) {
			const uint64_t value = (uint64_t)json_integer_value(
				json_object_get(one, kept_counters[k].key));

			*(uint64_t *)((char *)h + kept_counters[k].offset) = value;
			if (value)
				d->known[device].had |= kept_counters[k].has;
		}
	}
	return 0;
}
