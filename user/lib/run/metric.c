// SPDX-License-Identifier: BSD-2-Clause
#include "run/metric.h"

#include "base/text.h"

#include <errno.h>
#include <string.h>

#define SUFFIX_COUNT ""
#define SUFFIX_NS "_seconds"
#define SUFFIX_BYTES "_bytes"
#define SUFFIX_MILLI ""
#define SUFFIX_MICROJOULE "_joules"
#define SUFFIX_MILLIWATT "_watts"
#define SUFFIX_HERTZ "_hertz"

static const struct unit {
	const char *name, *word;
	unsigned decimals;
} units[NR_UNITS] = {
	[UNIT_COUNT] = { "1", "", 0 },
	[UNIT_NS] = { "s", "seconds", 9 },
	[UNIT_BYTES] = { "bytes", "bytes", 0 },
	[UNIT_MILLI] = { "1", "", 3 },
	[UNIT_MICROJOULE] = { "J", "joules", 6 },
	[UNIT_MILLIWATT] = { "W", "watts", 3 },
	[UNIT_HERTZ] = { "Hz", "hertz", 0 },
};

static const char *const groups[NR_GROUPS] = {
	[GROUP_CPU] = "cpu",        [GROUP_MEM] = "mem",       [GROUP_IO] = "io",
	[GROUP_KINDS] = "io-kinds", [GROUP_NET] = "net",       [GROUP_DELAY] = "delay",
	[GROUP_PROC] = "proc",      [GROUP_CGROUP] = "cgroup", [GROUP_BLOCK] = "block",
	[GROUP_HOST] = "host",      [GROUP_GPU] = "gpu",       [GROUP_ENERGY] = "energy",
	[GROUP_WAIT] = "wait",
};

#define ROW(base, grp, knd, unt, fld, hlp, src)                                                    \
	[M_##base] = { .key = #base SUFFIX_##unt,                                                  \
		       .help = hlp,                                                                \
		       .field = fld,                                                               \
		       .group = GROUP_##grp,                                                       \
		       .kind = KIND_##knd,                                                         \
		       .unit = UNIT_##unt,                                                         \
		       .source = SOURCE_##src },

static const struct metric metrics[NR_METRICS] = {
#define TASK_METRIC(b, g, k, u, f, h) ROW(b, g, k, u, #f, h, TASK)
#define DELAY_METRIC(b, g, k, u, f, h) ROW(b, g, k, u, #f, h, DELAY)
#define SPLIT_METRIC(b, g, k, u, h) ROW(b, g, k, u, NULL, h, SPLIT)
#define ACCOUNT_METRIC(b, g, k, u, h) ROW(b, g, k, u, NULL, h, ACCOUNT)
#define NET_METRIC(b, g, k, u, p, h) ROW(b, g, k, u, NULL, h, NET)
#define KIND_METRIC(b, g, k, u, p, h) ROW(b, g, k, u, NULL, h, KINDS)
#define REST_METRIC(b, g, k, u, o, h) ROW(b, g, k, u, NULL, h, KINDS)
#define SOCKET_METRIC(b, g, k, u, p, h) ROW(b, g, k, u, NULL, h, NET)
#define MEMORY_METRIC(b, g, k, u, h) ROW(b, g, k, u, NULL, h, MEMORY)
#define PROCFS_METRIC(b, g, k, u, h) ROW(b, g, k, u, NULL, h, PROCFS)
#define DERIVED_METRIC(b, g, k, u, h) ROW(b, g, k, u, NULL, h, DERIVED)
#define CGROUP_METRIC(b, g, k, u, h) ROW(b, g, k, u, NULL, h, CGROUP)
#define WIRE_METRIC(b, g, k, u, p, h) ROW(b, g, k, u, NULL, h, WIRE)
#define BLOCK_METRIC(b, g, k, u, h) ROW(b, g, k, u, NULL, h, BLOCK)
#define HOST_METRIC(b, g, k, u, h) ROW(b, g, k, u, NULL, h, HOST)
#define GPU_METRIC(b, g, k, u, h) ROW(b, g, k, u, NULL, h, GPU)
#define GPU_DEVICE_METRIC(b, g, k, u, h) ROW(b, g, k, u, NULL, h, GPU_DEVICE)
#define HOST_ENERGY_METRIC(b, g, k, u, h) ROW(b, g, k, u, NULL, h, HOST_ENERGY)
#define ENERGY_METRIC(b, g, k, u, h) ROW(b, g, k, u, NULL, h, ENERGY)
#define WAIT_METRIC(b, g, k, u, w, h) ROW(b, g, k, u, NULL, h, WAIT)
#include "bpfmon/metrics.def"
};

const struct metric *metric_get(enum metric_id id)
{
	return &metrics[id];
}

const char *metric_group_name(enum metric_group group)
{
	return groups[group];
}

const char *metric_unit_name(enum metric_unit unit)
{
	return units[unit].name;
}

const char *metric_unit_word(enum metric_unit unit)
{
	return units[unit].word;
}

unsigned metric_decimals(enum metric_id id)
{
	return units[metrics[id].unit].decimals;
}

unsigned metric_unit_decimals(enum metric_unit unit)
{
	return units[unit].decimals;
}

int metric_find(const char *key, size_t length, enum metric_id *id)
{
	for (int i = 0; i < NR_METRICS; i++)
		if (text_is(key, length, metrics[i].key)) {
			*id = (enum metric_id)i;
			return 0;
		}
	return -ENOENT;
}

/* clang-format off */
static const struct metric_source_row sources[NR_METRIC_SOURCES] = {
	/*                       default process account files  cgroup hardware without BPF */
	[SOURCE_TASK]        = { true,   true,   true,   false, false, false, false, NULL },
	[SOURCE_DELAY]       = { false,  true,   true,   false, false, false, false, NULL },
	[SOURCE_SPLIT]       = { true,   true,   true,   false, false, false, false, NULL },
	[SOURCE_ACCOUNT]     = { true,   false,  true,   false, false, false, false, NULL },
	[SOURCE_NET]         = { false,  true,   false,  false, false, false, false, "--net" },
	[SOURCE_KINDS]       = { false,  true,   true,   false, false, false, false, "--io-kinds" },
	[SOURCE_MEMORY]      = { true,   false,  true,   false, false, false, true,  NULL },
	[SOURCE_PROCFS]      = { false,  false,  false,  true,  false, false, true,  "--pss" },
	[SOURCE_DERIVED]     = { true,   false,  false,  false, false, false, true,  NULL },
	[SOURCE_CGROUP]      = { false,  false,  false,  true,  true,  false, true,  NULL },
	[SOURCE_WIRE]        = { false,  false,  false,  false, true,  false, false, "--net" },
	[SOURCE_BLOCK]       = { false,  false,  false,  false, true,  false, false, "--block-io" },
	[SOURCE_HOST]        = { true,   false,  false,  true,  false, false, true,  NULL },
	[SOURCE_GPU]         = { true,   true,   true,   false, false, true,  true,  NULL },
	[SOURCE_GPU_DEVICE]  = { true,   false,  true,   false, false, true,  true,  NULL },
	[SOURCE_HOST_ENERGY] = { true,   false,  false,  true,  false, true,  true,  NULL },
	[SOURCE_ENERGY]      = { true,   false,  false,  false, false, true,  true,  NULL },
	[SOURCE_WAIT]        = { true,   false,  false,  true,  false, false, false, NULL },
};
/* clang-format on */

const struct metric_source_row *metric_source_get(enum metric_source source)
{
	return &sources[source];
}

void metric_set_all(struct metric_set *set)
{
	memset(set, 0, sizeof(*set));
	for (int i = 0; i < NR_METRICS; i++)
		metric_put(set, (enum metric_id)i);
}

void metric_set_join(struct metric_set *set, const struct metric_set *other)
{
	for (size_t i = 0; i < METRIC_WORDS; i++)
		set->bits[i] |= other->bits[i];
}

void metric_set_default(struct metric_set *set)
{
	memset(set, 0, sizeof(*set));
	for (int i = 0; i < NR_METRICS; i++)
		if (sources[metrics[i].source].by_default)
			metric_put(set, (enum metric_id)i);
}

bool metric_set_has_source(const struct metric_set *set, enum metric_source source)
{
	for (int i = 0; i < NR_METRICS; i++)
		if (metrics[i].source == source && metric_has(set, (enum metric_id)i))
			return true;
	return false;
}

void metric_set_clear_source(struct metric_set *set, enum metric_source source)
{
	for (int i = 0; i < NR_METRICS; i++)
		if (metrics[i].source == source)
			set->bits[i / 64] &= ~(1ULL << (i % 64));
}

void metric_set_put_source(struct metric_set *set, enum metric_source source)
{
	for (int i = 0; i < NR_METRICS; i++)
		if (metrics[i].source == source)
			metric_put(set, (enum metric_id)i);
}

void metric_set_put_option(struct metric_set *set, const char *option, bool has_cgroup)
{
	for (int i = 0; i < NR_METRIC_SOURCES; i++)
		if (sources[i].option && !strcmp(sources[i].option, option) &&
		    (has_cgroup || !sources[i].per_cgroup))
			metric_set_put_source(set, (enum metric_source)i);
}

bool metric_is_of_process(enum metric_id id)
{
	return sources[metrics[id].source].of_process && metrics[id].kind == KIND_COUNTER;
}

void metric_set_put_of_process(struct metric_set *set)
{
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_is_of_process((enum metric_id)i))
			metric_put(set, (enum metric_id)i);
}

static bool metric_set_put_group(struct metric_set *set, const char *name, size_t length)
{
	for (int g = 0; g < NR_GROUPS; g++) {
		if (!text_is(name, length, groups[g]))
			continue;
		for (int i = 0; i < NR_METRICS; i++)
			if (metrics[i].group == (enum metric_group)g &&
			    metrics[i].source != SOURCE_PROCFS)
				metric_put(set, (enum metric_id)i);
		return true;
	}
	return false;
}

int metric_set_parse(struct metric_set *set, const char *list, const char **bad, size_t *bad_length)
{
	struct metric_set parsed = { 0 };
	enum metric_id id;

	for (const char *p = list;; p++) {
		size_t n = strcspn(p, ",");

		if (!metric_find(p, n, &id)) {
			metric_put(&parsed, id);
		} else if (!metric_set_put_group(&parsed, p, n)) {
			*bad = p;
			*bad_length = n;
			return -EINVAL;
		}
		p += n;
		if (!*p)
			break;
	}
	*set = parsed;
	return 0;
}

static const struct agent_metric agent_metrics[NR_AGENT_METRICS] = {
#define AGENT_METRIC(key, kind, unit, help)                                                        \
	[AGENT_##key] = { #key, help, KIND_##kind, UNIT_##unit },
#include "run/agent_metric.def"
};

const struct agent_metric *agent_metric_get(size_t i)
{
	return &agent_metrics[i];
}
