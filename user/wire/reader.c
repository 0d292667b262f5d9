// SPDX-License-Identifier: BSD-2-Clause
#include "wire/reader.h"

#include "wire/exact.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define DOUBLE_IS_EXACT (1ULL << 51) /* below it llround() gives back what was written */

static uint64_t scaled(const json_t *v, unsigned decimals)
{
	if (json_is_integer(v)) {
		uint64_t n = (uint64_t)json_integer_value(v);

		for (; decimals; decimals--)
			n *= 10;
		return n;
	}
	return (uint64_t)llround(json_number_value(v) * pow(10, decimals));
}

static uint64_t number(const json_t *o, const char *key, unsigned decimals)
{
	return scaled(json_object_get(o, key), decimals);
}

static bool read_metric(const char *key, const json_t *v, uint64_t *values, struct metric_set *have)
{
	enum metric_id id;

	if (!json_is_number(v) || metric_find(key, strlen(key), &id))
		return false;
	values[id] = scaled(v, metric_decimals(id));
	metric_put(have, id);
	return true;
}

/* What a process, or a group of them, has used: not "processes", which there counts the group. */
static void read_usage(json_t *o, uint64_t *values, struct metric_set *have)
{
	for (int i = 0; i < NR_METRICS; i++) {
		const struct metric *m = metric_get((enum metric_id)i);

		if (m->source == SOURCE_TASK || m->source == SOURCE_SPLIT)
			read_metric(m->key, json_object_get(o, m->key), values, have);
	}
}

static void read_metrics(json_t *o, uint64_t *values, struct metric_set *have)
{
	const char *key;
	json_t *v;

	json_object_foreach(o, key, v)
		read_metric(key, v, values, have);
}

static void read_sample(struct line *l, json_t *o)
{
	sample_reset(&l->sample);
	l->sample.elapsed_ns = number(o, "elapsed_seconds", 9);
	read_metrics(o, l->sample.value, &l->sample.have);
}

static bool read_peak(const json_t *o, const char *key, uint64_t *bytes)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_integer(v))
		return false;
	*bytes = (uint64_t)json_integer_value(v);
	return true;
}

static void read_comm(char comm[16], const json_t *o)
{
	const char *text = json_string_value(json_object_get(o, "comm"));

	if (text)
		memcpy(comm, text, strnlen(text, 16));
}

static void read_process(struct line *l, json_t *o)
{
	struct process *p = &l->process;
	const json_t *state = json_object_get(o, "state");

	*p = (struct process){ .has_ended = !state };
	p->pid = (int32_t)number(o, "pid", 0);
	p->ns_pid = (int32_t)number(o, "ns_pid", 0);
	p->ppid = (int32_t)number(o, "ppid", 0);
	p->uid = (uint32_t)number(o, "uid", 0);
	read_comm(p->comm, o);
	p->exe = json_string_value(json_object_get(o, "exe"));
	p->start_epoch_ns = number(o, "start_time", 6) * 1000; /* published in us */
	p->end_epoch_ns = number(o, "end_time", 6) * 1000;
	p->exit_code = (int)number(o, "exit_code", 0);
	p->signal = (int)number(o, "signal", 0);
	p->threads_total = (uint32_t)number(o, "threads_total", 0);
	p->execs = (uint32_t)number(o, "execs", 0);
	p->has_rss_peak = read_peak(o, "rss_peak_bytes", &p->rss_peak_bytes);
	p->rss_peak_exact = json_is_true(json_object_get(o, "rss_peak_exact"));
	read_usage(o, p->value, &p->have);
}

static void read_meta(struct line *l, json_t *o)
{
	json_t *units = json_object_get(o, "units"), *v;
	const char *key;
	enum metric_id id;

	l->wanted = (struct metric_set){ 0 };
	json_object_foreach(units, key, v)
		if (!metric_find(key, strlen(key), &id))
			metric_put(&l->wanted, id);
	l->start_epoch_ns = number(o, "start_time", 6) * 1000; /* published in us */
}

static void read_role(struct role_cost *cost, const json_t *self, const char *name)
{
	const json_t *o = json_object_get(self, name);

	cost->cpu_ns = number(o, "cpu_seconds", 9);
	cost->rss_bytes = number(o, "rss_bytes", 0);
}

static void read_program(struct summary *s, json_t *o)
{
	struct program *p = summary_append_program(s, json_string_value(json_object_get(o, "exe")));

	if (!p)
		return;
	p->processes = number(o, "processes", 0);
	p->has_rss_peak = read_peak(o, "rss_peak_bytes", &p->rss_peak_bytes);
	p->rss_peak_exact = json_is_true(json_object_get(o, "rss_peak_exact"));
	read_usage(o, p->value, &p->have);
}

static void read_holders(struct holders *all, json_t *o)
{
	const json_t *others = json_object_get(o, "rss_peak_others");
	json_t *v;
	size_t i;

	json_array_foreach(json_object_get(o, "rss_peak_holders"), i, v) {
		struct holder h = {
			.pid = (int32_t)number(v, "pid", 0),
			.exe = (char *)json_string_value(json_object_get(v, "exe")),
			.rss_bytes = number(v, "rss_bytes", 0),
		};

		read_comm(h.comm, v);
		holders_add(all, &h);
	}
	all->others += number(others, "processes", 0);
	all->others_bytes += number(others, "rss_bytes", 0);
}

static void read_oom(struct summary *s, const json_t *o)
{
	const json_t *k = json_object_get(o, "oom");
	const char *cgroup = json_string_value(json_object_get(k, "cgroup"));

	s->oom_kills = number(o, "oom_kills", 0);
	s->oom.pid = (int32_t)number(k, "pid", 0);
	read_comm(s->oom.comm, k);
	s->oom.is_command = json_is_true(json_object_get(k, "is_command"));
	s->oom.has_rss = read_peak(k, "rss_bytes", &s->oom.rss_bytes);
	s->oom.limit_bytes = number(k, "limit_bytes", 0);
	snprintf(s->oom.cgroup, sizeof(s->oom.cgroup), "%s", cgroup ? cgroup : "");
}

static void read_pss_cost(struct summary *s, const json_t *o)
{
	s->has_pss_cost = json_is_object(o);
	s->pss.reads = number(o, "reads", 0);
	s->pss.postponed = number(o, "postponed", 0);
	s->pss.skipped = number(o, "skipped", 0);
	s->pss.ns_total = number(o, "seconds", 9);
	s->pss.ns_max = number(o, "seconds_max", 9);
}

static void read_self(struct summary *s, const json_t *self)
{
	read_role(&s->collector, self, "collector");
	read_role(&s->recorder, self, "recorder");
	s->map_bytes = number(self, "map_bytes", 0);
	s->drains = number(self, "drains", 0);
	s->drain_ns_total = number(self, "drain_seconds_mean", 9) * s->drains;
	s->drain_ns_median = number(self, "drain_seconds_median", 9);
	s->drain_ns_max = number(self, "drain_seconds_max", 9);
	s->repaired = number(self, "repaired", 0);
	read_pss_cost(s, json_object_get(self, "pss"));
}

static void read_summary(struct line *l, json_t *o)
{
	struct summary *s = &l->summary;
	const char *key, *reason = json_string_value(json_object_get(o, "reason"));
	const json_t *code = json_object_get(o, "exit_code");
	const json_t *signal = json_object_get(o, "signal");
	json_t *v;
	size_t i;

	summary_done(s);
	snprintf(s->reason, sizeof(s->reason), "%s", reason ? reason : "");
	json_object_foreach(json_object_get(o, "losses"), key, v)
		summary_add_loss(s, key, scaled(v, 0));
	s->complete = json_is_true(json_object_get(o, "complete"));
	s->is_attached = json_is_true(json_object_get(o, "attached"));
	s->has_status = json_is_integer(code) || json_is_integer(signal);
	s->exit_code = (int)json_integer_value(code);
	s->signal = (int)json_integer_value(signal);
	s->wall_ns = number(o, "wall_seconds", 9);
	s->outlived = number(o, "outlived", 0);
	s->samples = number(o, "samples", 0);
	s->late_ticks = number(o, "late_ticks", 0);
	s->processes_total = number(o, "processes_total", 0);
	read_metrics(o, s->total.value, &s->total.have);
	s->has_process_rss_peak =
		read_peak(o, "process_rss_peak_bytes", &s->process_rss_peak_bytes);
	s->process_rss_peak_exact = json_is_true(json_object_get(o, "process_rss_peak_exact"));
	s->has_rss_peak = read_peak(o, "rss_peak_bytes", &s->rss_peak_bytes);
	s->rss_peak_elapsed_ns = number(o, "rss_peak_elapsed_seconds", 9);
	s->has_rss_peak_upper = read_peak(o, "rss_peak_upper_bytes", &s->rss_peak_upper_bytes);
	s->has_rss_peak_exact = read_peak(o, "rss_peak_exact_bytes", &s->rss_peak_exact_bytes);
	s->rss_peak_exact_elapsed_ns = number(o, "rss_peak_exact_elapsed_seconds", 9);
	read_holders(&s->holders, o);
	read_oom(s, o);
	s->has_pss_peak = read_peak(o, "pss_peak_bytes", &s->pss_peak_bytes);
	s->pss_peak_elapsed_ns = number(o, "pss_peak_elapsed_seconds", 9);
	s->has_uss_peak = read_peak(o, "uss_peak_bytes", &s->uss_peak_bytes);
	s->has_cgroup_peak = read_peak(o, "cgroup_peak_bytes", &s->cgroup_peak_bytes);
	s->has_cgroup_split = read_peak(o, "cgroup_peak_anon_bytes", &s->cgroup_peak_anon_bytes) &&
			      read_peak(o, "cgroup_peak_file_bytes", &s->cgroup_peak_file_bytes);
	s->cores_peak = number(o, "cores_peak", 3);
	json_array_foreach(json_object_get(o, "programs"), i, v)
		read_program(s, v);
	read_self(s, json_object_get(o, "self"));
}

/* What a double was too coarse for, read once more. */
static void refine(uint64_t *v, const char *key, unsigned decimals, const char *text, size_t length)
{
	if (decimals && *v >= DOUBLE_IS_EXACT)
		exact_decimal(text, length, key, decimals, v);
}

static void refine_metrics(uint64_t *values, const struct metric_set *have, const char *text,
			   size_t length)
{
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_has(have, (enum metric_id)i))
			refine(&values[i], metric_get((enum metric_id)i)->key,
			       metric_decimals((enum metric_id)i), text, length);
}

static void refine_line(struct line *l, const char *text, size_t length)
{
	if (l->kind == LINE_SAMPLE) {
		refine(&l->sample.elapsed_ns, "elapsed_seconds", 9, text, length);
		refine_metrics(l->sample.value, &l->sample.have, text, length);
	} else if (l->kind == LINE_PROCESS) {
		refine_metrics(l->process.value, &l->process.have, text, length);
	} else if (l->kind == LINE_SUMMARY) {
		refine(&l->summary.wall_ns, "wall_seconds", 9, text, length);
		refine_metrics(l->summary.total.value, &l->summary.total.have, text, length);
	}
}

int line_read(struct line *l, const char *text, size_t length)
{
	static const struct {
		const char *name;
		enum line_kind kind;
		void (*read)(struct line *l, json_t *o);
	} kinds[] = {
		{ "sample", LINE_SAMPLE, read_sample },
		{ "process", LINE_PROCESS, read_process },
		{ "meta", LINE_META, read_meta },
		{ "event", LINE_EVENT, NULL },
		{ "summary", LINE_SUMMARY, read_summary },
	};
	const char *kind;
	json_t *o;

	o = json_loadb(text, length, JSON_ALLOW_NUL, NULL);
	kind = json_string_value(json_object_get(o, "kind"));
	if (!kind) {
		json_decref(o);
		return -EBADMSG;
	}
	json_decref(l->tree);
	l->tree = o;
	l->kind = LINE_OTHER;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(kinds[i].name, kind) != 0)
			continue;
		l->kind = kinds[i].kind;
		if (kinds[i].read)
			kinds[i].read(l, o);
	}
	refine_line(l, text, length);
	return 0;
}

void line_done(struct line *l)
{
	sample_reset(&l->sample);
	summary_done(&l->summary);
	json_decref(l->tree);
	*l = (struct line){ 0 };
}
