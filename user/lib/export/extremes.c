// SPDX-License-Identifier: BSD-2-Clause
#include "export/extremes.h"

#include "run/reader.h"

static void extremes_add_value(struct extremes *x, enum metric_id id, uint64_t v,
			       uint64_t elapsed_ns)
{
	if (!metric_has(&x->have, id) || v > x->max[id]) {
		x->max[id] = v;
		x->max_at_ns[id] = elapsed_ns;
	}
	metric_put(&x->have, id);
}

/* Weights the values of the last sample by the time since then. */
static void extremes_weigh_last(struct extremes *x, uint64_t elapsed_ns)
{
	uint64_t took_ns = elapsed_ns > x->last.elapsed_ns ? elapsed_ns - x->last.elapsed_ns : 0;

	for (int i = 0; i < NR_METRICS; i++) {
		if (!sample_has(&x->last, (enum metric_id)i))
			continue;
		x->product[i] += (double)x->last.value[i] * (double)took_ns;
		x->known_ns[i] += took_ns;
	}
}

static int extremes_add_sample(void *context, struct line *l)
{
	struct extremes *x = context;
	const struct sample *s = &l->sample;
	uint64_t cores;
	bool has_cores = cores_add(&x->cores, s, &cores);

	extremes_weigh_last(x, s->elapsed_ns);
	for (int i = 0; i < NR_METRICS; i++) {
		enum metric_id id = (enum metric_id)i;

		if (id == M_cores ? has_cores : sample_has(s, id))
			extremes_add_value(x, id, id == M_cores ? cores : s->value[i],
					   s->elapsed_ns);
	}
	x->last = *s;
	x->last.instances = NULL; /* owned by the reader */
	return 0;
}

/* If no time has passed, the maximum is the only value, or the largest of several at one moment. */
double extremes_mean(const struct extremes *x, enum metric_id id)
{
	return x->known_ns[id] ? x->product[id] / (double)x->known_ns[id] : (double)x->max[id];
}

int extremes_find(struct extremes *x, const struct exporter *e)
{
	*x = (struct extremes){ .cores.cpus = (unsigned)export_system_number(e, "cpus") };
	return source_each(e->source, PART(LINE_SAMPLE), extremes_add_sample, x);
}

bool extremes_rss_peak(const struct extremes *x, const struct summary *s, uint64_t *bytes)
{
	if (s->has_rss_peak_exact)
		*bytes = s->rss_peak_exact_bytes;
	else if (s->has_rss_peak)
		*bytes = s->rss_peak_bytes;
	else
		*bytes = x->max[M_rss];
	return s->has_rss_peak_exact || s->has_rss_peak || metric_has(&x->have, M_rss);
}

bool extremes_memory_is_valid(const struct extremes *x, const struct summary *s, enum metric_id id)
{
	uint64_t rss;

	if (!metric_has(&x->have, id))
		return false;
	if (!extremes_rss_peak(x, s, &rss))
		return true;
	return x->max[id] >= (id == M_vms ? rss : rss > 0);
}

struct search {
	struct baseline *baseline;
	uint64_t start_epoch_ns; /* of the run */
};

/* Ignores processes that entered a tracked cgroup after the start of the run. */
static int baseline_take_age(void *context, struct line *l)
{
	const struct search *s = context;
	const struct process *p = &l->process;
	bool was_there = p->joined_epoch_ns && p->joined_epoch_ns <= s->start_epoch_ns &&
			 p->start_epoch_ns && p->start_epoch_ns <= s->start_epoch_ns;

	if (was_there && s->start_epoch_ns - p->start_epoch_ns > s->baseline->age_ns)
		s->baseline->age_ns = s->start_epoch_ns - p->start_epoch_ns;
	return 0;
}

void baseline_read_counters(struct baseline *b, const struct exporter *e)
{
	struct metric_set have = { 0 };

	*b = (struct baseline){ 0 };
	metrics_read(json_object_get(e->meta, "baseline"), b->value, &have);
	for (int i = 0; i < NR_METRICS; i++) /* only counters have a baseline */
		if (metric_get((enum metric_id)i)->kind != KIND_COUNTER)
			b->value[i] = 0;
}

int baseline_read(struct baseline *b, struct exporter *e)
{
	struct search s = { b, e->start_epoch_ns };

	baseline_read_counters(b, e);
	if (!json_object_get(e->meta, "attached"))
		return 0;
	return source_each(e->source, PART(LINE_PROCESS), baseline_take_age, &s);
}
