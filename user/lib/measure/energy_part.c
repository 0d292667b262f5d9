// SPDX-License-Identifier: BSD-2-Clause
#include "measure/energy_part.h"

#include "base/clock.h"

#include <errno.h>
#include <string.h>
#include <sys/sysinfo.h>

#define SYS "/sys"
#define READ_EACH_MS 60000 /* in which no socket spends what its counter holds, 65 kJ or more */

const char *energy_why_missing(void)
{
	static char why[160];
	static bool is_known;
	struct energy e;

	if (!is_known && !energy_open(&e, SYS, why, sizeof(why))) {
		why[0] = '\0';
		energy_done(&e);
	}
	is_known = true;
	return why[0] ? why : NULL;
}

void energy_meter_open(struct energy_meter *m)
{
	char why[160];

	memset(m, 0, sizeof(*m));
	m->is_open = !energy_open(&m->energy, SYS, why, sizeof(why));
}

void energy_meter_done(struct energy_meter *m)
{
	if (m->is_open)
		energy_done(&m->energy);
	m->is_open = false;
}

/* CPUs may come and go: those of now count for the interval, and a share is never above the whole.
 */
void energy_meter_drain(struct energy_meter *m, uint64_t now_ns)
{
	if (!m->is_open)
		return;
	energy_read(&m->energy);
	m->read_ns = clock_ns(CLOCK_MONOTONIC);
	m->spent_uj = m->at_ns ? m->energy.used_uj - m->at_uj : 0;
	m->whole_ns = m->at_ns ? (now_ns - m->at_ns) * (uint64_t)get_nprocs() : 0;
	m->at_ns = now_ns;
	m->at_uj = m->energy.used_uj;
}

void energy_meter_refresh(struct energy_meter *m)
{
	const uint64_t now_ns = m->is_open ? clock_ns(CLOCK_MONOTONIC) : 0;

	if (!m->is_open || now_ns < m->read_ns + READ_EACH_MS * NSEC_PER_MSEC)
		return;
	m->read_ns = now_ns;
	energy_read(&m->energy);
}

int energy_meter_wait(const struct energy_meter *m, int wait_ms)
{
	uint64_t passed_ms;
	int due_ms;

	if (!m->is_open)
		return wait_ms;
	passed_ms = (clock_ns(CLOCK_MONOTONIC) - m->read_ns) / NSEC_PER_MSEC;
	due_ms = passed_ms < READ_EACH_MS ? (int)(READ_EACH_MS - passed_ms) : 0;
	return wait_ms < 0 || wait_ms > due_ms ? due_ms : wait_ms;
}

void energy_part_begin(struct energy_part *p, struct energy_meter *m, bool reads_now)
{
	if (m->is_open && reads_now)
		energy_read(&m->energy);
	for (size_t i = 0; i < m->energy.nr; i++)
		p->base_uj[i] = m->energy.domains[i].used_uj;
	p->base_sum_uj = m->energy.used_uj;
	p->share_uj = 0;
}

void energy_part_drain(struct energy_part *p, const struct energy_meter *m, uint64_t cpu_ns)
{
	if (m->whole_ns && cpu_ns > p->cpu_ns)
		p->share_uj += energy_share(m->spent_uj, cpu_ns - p->cpu_ns, m->whole_ns);
	p->cpu_ns = cpu_ns;
}

static int energy_put_domains(const struct energy_part *p, const struct energy_meter *m,
			      struct sample *smp)
{
	for (size_t i = 0; i < m->energy.nr; i++) {
		const struct energy_domain *d = &m->energy.domains[i];
		struct instance *at;

		if (d->is_lost)
			continue;
		at = sample_add_instance(smp, ENERGY_DIMENSION, d->name);
		if (!at)
			return -ENOMEM;
		at->value[M_host_energy] = d->used_uj - p->base_uj[i];
		metric_put(&at->have, M_host_energy);
	}
	return 0;
}

/* The first interval of a view may have begun before the view. */
int energy_part_put(const struct energy_part *p, const struct energy_meter *m,
		    const struct metric_set *usable, struct sample *smp)
{
	const uint64_t host_uj = m->energy.used_uj - p->base_sum_uj;
	const uint64_t share_uj = p->share_uj < host_uj ? p->share_uj : host_uj;

	if (!m->is_open)
		return 0;
	if (m->energy.has_sum && metric_has(usable, M_energy_apportioned))
		sample_set(smp, M_energy_apportioned, share_uj);
	if (m->energy.has_sum && metric_has(usable, M_energy_unapportioned))
		sample_set(smp, M_energy_unapportioned, host_uj - share_uj);
	if (m->energy.has_sum && metric_has(usable, M_host_energy))
		sample_set(smp, M_host_energy, host_uj);
	/* sensors of other parts have values of their own, in no sum */
	return metric_has(usable, M_host_energy) ? energy_put_domains(p, m, smp) : 0;
}

void energy_part_keep(const struct energy_part *p, const struct energy_meter *m, struct jsonw *j)
{
	jsonw_object(j, "energy");
	jsonw_uint(j, "cpu_ns", p->cpu_ns);
	jsonw_uint(j, "share_uj", p->share_uj);
	jsonw_uint(j, "sum_uj", m->energy.used_uj - p->base_sum_uj);
	jsonw_object(j, "domains");
	for (size_t i = 0; i < m->energy.nr; i++)
		jsonw_uint(j, m->energy.domains[i].name,
			   m->energy.domains[i].used_uj - p->base_uj[i]);
	jsonw_object_end(j);
	jsonw_object_end(j);
}

/* The bases become values before the counters' begin: the differences are what was kept. */
void energy_part_resume(struct energy_part *p, const struct energy_meter *m, const json_t *o)
{
	const json_t *domains = json_object_get(o, "domains");

	p->cpu_ns = (uint64_t)json_integer_value(json_object_get(o, "cpu_ns"));
	p->share_uj = (uint64_t)json_integer_value(json_object_get(o, "share_uj"));
	p->base_sum_uj -= (uint64_t)json_integer_value(json_object_get(o, "sum_uj"));
	for (size_t i = 0; i < m->energy.nr; i++)
		p->base_uj[i] -= (uint64_t)json_integer_value(
			json_object_get(domains, m->energy.domains[i].name));
}
