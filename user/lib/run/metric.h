/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of metrics in user space: an enum value and an entry for each row of metrics.def. */
#ifndef RUN_METRIC_H
#define RUN_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum metric_id {
#define TASK_METRIC(base, ...) M_##base,
#define SPLIT_METRIC(base, ...) M_##base,
#define ACCOUNT_METRIC(base, ...) M_##base,
#define NET_METRIC(base, ...) M_##base,
#define REST_METRIC(base, ...) M_##base,
#define SOCKET_METRIC(base, ...) M_##base,
#define MEMORY_METRIC(base, ...) M_##base,
#define PROCFS_METRIC(base, ...) M_##base,
#define DERIVED_METRIC(base, ...) M_##base,
#define CGROUP_METRIC(base, ...) M_##base,
#define WIRE_METRIC(base, ...) M_##base,
#define BLOCK_METRIC(base, ...) M_##base,
#define HOST_METRIC(base, ...) M_##base,
#define GPU_METRIC(base, ...) M_##base,
#define GPU_DEVICE_METRIC(base, ...) M_##base,
#define HOST_ENERGY_METRIC(base, ...) M_##base,
#define ENERGY_METRIC(base, ...) M_##base,
#define WAIT_METRIC(base, ...) M_##base,
#include "bpfmon/metrics.def"
	NR_METRICS
};

enum metric_group {
	GROUP_CPU,
	GROUP_MEM,
	GROUP_IO,
	GROUP_DELAY,
	GROUP_KINDS,
	GROUP_NET,
	GROUP_PROC,
	GROUP_CGROUP,
	GROUP_BLOCK,
	GROUP_HOST,
	GROUP_GPU,
	GROUP_ENERGY,
	GROUP_WAIT,
	NR_GROUPS
};
enum metric_kind { KIND_COUNTER, KIND_GAUGE };
enum metric_unit {
	UNIT_COUNT,
	UNIT_NS,
	UNIT_BYTES,
	UNIT_MILLI,
	UNIT_MICROJOULE,
	UNIT_MILLIWATT,
	UNIT_HERTZ,
	NR_UNITS
};
/* Origin of a value; each has a row of the table in metric.c. */
enum metric_source {
	SOURCE_TASK,
	SOURCE_DELAY,
	SOURCE_SPLIT,
	SOURCE_ACCOUNT,
	SOURCE_NET,
	SOURCE_KINDS,
	SOURCE_MEMORY,
	SOURCE_PROCFS,
	SOURCE_DERIVED,
	SOURCE_CGROUP,
	SOURCE_WIRE,
	SOURCE_BLOCK,
	SOURCE_HOST,
	SOURCE_GPU,
	SOURCE_GPU_DEVICE,
	SOURCE_HOST_ENERGY,
	SOURCE_ENERGY,
	SOURCE_WAIT,
	NR_METRIC_SOURCES
};

struct metric_source_row {
	bool by_default;    /* part of a run's default metrics */
	bool of_process;    /* its counters are in process records */
	bool of_account;    /* known per account, hence per span, even if not of_process */
	bool of_files;      /* read from files of each job; omitted in a view of a node */
	bool per_cgroup;    /* only for a job with a cgroup */
	bool of_hardware;   /* that many machines lack: its absence is reported once */
	bool without_bpf;   /* also from /proc; so are some of SOURCE_TASK, SOURCE_SPLIT */
	const char *option; /* option that selects it; NULL: only --metrics does */
};

const struct metric_source_row *metric_source_get(enum metric_source source);

struct metric {
	const char *key; /* as published: base name and suffix of the unit */
	const char *help;
	const char *field; /* of task_struct or task_delay_info, or NULL */
	enum metric_group group;
	enum metric_kind kind;
	enum metric_unit unit;
	enum metric_source source;
};

#define METRIC_WORDS ((NR_METRICS + 63) / 64)
struct metric_set {
	uint64_t bits[METRIC_WORDS];
};

const struct metric *metric_get(enum metric_id id);
/* Returns the name of the group as typed in --metrics. */
const char *metric_group_name(enum metric_group group);
/* Returns the unit's name as published in meta.units ("s", "bytes", ...). */
const char *metric_unit_name(enum metric_unit unit);
/* Returns the unit as a word, as in OpenMetrics ("seconds", "bytes"); "" for a plain number. */
const char *metric_unit_word(enum metric_unit unit);
/* Return the number of decimals: a stored value is the published one times 10^decimals. */
unsigned metric_decimals(enum metric_id id);
unsigned metric_unit_decimals(enum metric_unit unit);
/* Returns 0, or -ENOENT if no metric has that key. */
int metric_find(const char *key, size_t length, enum metric_id *id);

static inline bool metric_has(const struct metric_set *set, enum metric_id id)
{
	return set->bits[id / 64] >> (id % 64) & 1;
}

static inline void metric_put(struct metric_set *set, enum metric_id id)
{
	set->bits[id / 64] |= 1ULL << (id % 64);
}

static inline void metric_drop(struct metric_set *set, enum metric_id id)
{
	set->bits[id / 64] &= ~(1ULL << id % 64);
}

/* Adds all metrics of @other. */
void metric_set_join(struct metric_set *set, const struct metric_set *other);
void metric_set_all(struct metric_set *set);
/* Sets @set to the default metrics of a run. */
void metric_set_default(struct metric_set *set);
/*
 * Returns true if @set has a metric of @source. The "put" function adds all, "clear" removes them.
 */
bool metric_set_has_source(const struct metric_set *set, enum metric_source source);
void metric_set_put_source(struct metric_set *set, enum metric_source source);
/* Adds all metrics that @option ("--net") selects, those per cgroup only if @has_cgroup. */
void metric_set_put_option(struct metric_set *set, const char *option, bool has_cgroup);
/* Returns true if process records have the metric; the second function adds all such metrics. */
bool metric_is_of_process(enum metric_id id);
void metric_set_put_of_process(struct metric_set *set);
void metric_set_clear_source(struct metric_set *set, enum metric_source source);
/*
 * Parses "cpu,io,rss_bytes". A group does not include SOURCE_PROCFS, which is costly to read.
 * Returns 0, or -EINVAL with *@bad at the first name that is neither group nor key.
 */
int metric_set_parse(struct metric_set *set, const char *list, const char **bad,
		     size_t *bad_length);

/* The table of metrics of the agent itself: an enum value and an entry for each row. */

enum agent_metric_id {
#define AGENT_METRIC(key, kind, unit, help) AGENT_##key,
#include "run/agent_metric.def"
	NR_AGENT_METRICS
};

struct agent_metric {
	const char *key, *help;
	enum metric_kind kind;
	enum metric_unit unit;
};

const struct agent_metric *agent_metric_get(size_t i);

#endif
