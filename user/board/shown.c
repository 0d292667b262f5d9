// SPDX-License-Identifier: BSD-2-Clause
#include "board/shown.h"

#include <stddef.h>

const struct scope scopes[NR_SCOPES] = {
	{ "bpfmon_job_", "job, user, kind, name, namespace, pod, container, nested", NULL, true,
	  false },
	{ "bpfmon_user_", "user, kind, nested", " - all jobs of the user", false, false },
	{ "bpfmon_node_", "", " - the whole node", true, true },
};

bool scope_has(const struct scope *s, enum metric_id id)
{
	const struct metric *m = metric_get(id);

	return (m->kind == KIND_COUNTER || s->with_gauges) &&
	       ((m->source != SOURCE_HOST && m->source != SOURCE_HOST_ENERGY) || s->of_machine);
}

struct family scope_family(const struct scope *s, enum metric_id id)
{
	const struct metric *m = metric_get(id);

	return (struct family){ s->prefix, m->key, m->help, s->help_end, m->kind, m->unit };
}

/* Gauges of jobs that are no metrics of a sample. */
static const struct {
	struct family family;
	size_t offset; /* in struct series */
} job_states[NR_JOB_STATES] = {
#define JOB_STATE(member, key, unit, help)                                                         \
	{                                                                                          \
		{ "bpfmon_job_", key, help, NULL, KIND_GAUGE, unit },                              \
			offsetof(struct series, member)                                            \
	}
	JOB_STATE(live, "running", UNIT_COUNT, "1 while the job runs, 0 when it has ended"),
	JOB_STATE(start_epoch_ns, "start_time_seconds", UNIT_NS,
		  "When the job started, since the epoch"),
	JOB_STATE(bounds.memory_max_bytes, "memory_limit_bytes", UNIT_BYTES,
		  "Smallest memory limit of the job's cgroup and those above, if there is one"),
	JOB_STATE(bounds.cpu_max_milli, "cpu_limit_cores", UNIT_MILLI,
		  "Smallest CPU limit of the job's cgroup and those above, if there is one"),
	JOB_STATE(bounds.cpu_request_milli, "cpu_request_cores", UNIT_MILLI,
		  "CPU request of a pod or container in Kubernetes, if it has one"),
	JOB_STATE(stalled, "stalled", UNIT_COUNT, "Whether the job is stalled; see stalled_after"),
};

const struct family *job_state_family(size_t state)
{
	return &job_states[state].family;
}

bool job_state_read(const struct series *s, size_t state, uint64_t *value)
{
	*value = *(const uint64_t *)((const char *)s + job_states[state].offset);
	if (state == STATE_RUNNING)
		return s->live || (s->is_own && !s->runs);
	return s->live && (state == STATE_STALLED || *value);
}

struct family ended_family(int i)
{
	const struct ended_metric *m = &ended_metrics[i];

	return (struct family){ "bpfmon_job_ended_", m->name, m->help, NULL, KIND_GAUGE, m->unit };
}

struct family agent_family(size_t i)
{
	const struct agent_metric *m = agent_metric_get(i);

	return (struct family){ "bpfmon_agent_", m->key, m->help, NULL, m->kind, m->unit };
}

const struct family agent_up_family = {
	"bpfmon_agent_",
	"up",
	"1 if the agent sent a line within three intervals, otherwise 0",
	NULL,
	KIND_GAUGE,
	UNIT_COUNT
};
const struct family agent_last_line_family = {
	"bpfmon_agent_",
	"last_line_time_seconds",
	"When the last line of the agent came, since the epoch",
	NULL,
	KIND_GAUGE,
	UNIT_NS
};
const struct family agent_losses_family = {
	"bpfmon_agent_", "losses", "Lost events and data, by kind", NULL, KIND_COUNTER, UNIT_COUNT
};

static const struct {
	const char *key, *help;
	size_t offset; /* in struct board_counts */
} board_counts[NR_BOARD_COUNTS] = {
#define BOARD_COUNT(key, help) { #key, help, offsetof(struct board_counts, key) },
#include "board/board_counts.def"
};

struct family board_count_family(size_t i, const char *prefix)
{
	return (struct family){ prefix, board_counts[i].key, board_counts[i].help,
				NULL,   KIND_COUNTER,        UNIT_COUNT };
}

uint64_t board_count_read(const struct board *b, size_t i)
{
	return *(const uint64_t *)((const char *)&b->counts + board_counts[i].offset);
}
