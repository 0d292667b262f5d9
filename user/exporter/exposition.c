// SPDX-License-Identifier: BSD-2-Clause
#include "exporter/exposition.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct buffer no_labels;

/* Prefixes of names, and the metrics below each. */
static const struct scope {
	const char *prefix, *labels, *help_end;
	bool with_gauges, of_machine;
} scopes[] = {
	{ "bpfmon_job_", "job, user, kind, name, nested", NULL, true, false },
	{ "bpfmon_user_", "user, kind, nested", " - all jobs of the user", false, false },
	{ "bpfmon_node_", "", " - the whole node", true, true },
};

enum { SCOPE_JOB, SCOPE_USER, SCOPE_NODE, NR_SCOPES };

static bool scope_has(const struct scope *s, enum metric_id id)
{
	const struct metric *m = metric_get(id);

	return (m->kind == KIND_COUNTER || s->with_gauges) &&
	       (m->source != SOURCE_HOST || s->of_machine);
}

static struct family scope_family(const struct scope *s, enum metric_id id)
{
	const struct metric *m = metric_get(id);

	return (struct family){ s->prefix, m->key, m->help, s->help_end, m->kind, m->unit };
}

/* Writes the samples of one metric, after its header, if there are any. */
static void exposition_put_metric(struct buffer *t, const struct scope *scope,
				  const struct series *first, enum metric_id id, enum exposition as)
{
	const struct family f = scope_family(scope, id);
	bool is_first = true;

	for (const struct series *s = first; s; s = s->next) {
		if (!metric_has(&s->have, id))
			continue;
		if (is_first)
			openmetrics_put_family(t, &f, as);
		is_first = false;
		openmetrics_put_sample(t, &f, &s->labels,
				       s->is_new && f.kind == KIND_COUNTER ? 0 : s->value[id]);
	}
}

static void exposition_put_scope(struct buffer *t, const struct scope *scope,
				 const struct series *first, enum exposition as)
{
	for (int i = 0; i < NR_METRICS; i++)
		if (scope_has(scope, (enum metric_id)i))
			exposition_put_metric(t, scope, first, (enum metric_id)i, as);
}

/* Gauges of jobs that are no metrics of a sample. */
static const struct {
	struct family family;
	size_t offset; /* in struct series */
} job_states[] = {
#define JOB_STATE(member, key, unit, help)                                                         \
	{                                                                                          \
		{ "bpfmon_job_", key, help, NULL, KIND_GAUGE, unit },                              \
			offsetof(struct series, member)                                            \
	}
	JOB_STATE(live, "running", UNIT_COUNT, "1 while the job runs, 0 when it has ended"),
	JOB_STATE(start_epoch_ns, "start_time_seconds", UNIT_NS,
		  "When the job started, since the epoch"),
	JOB_STATE(memory_max_bytes, "memory_limit_bytes", UNIT_BYTES,
		  "Smallest memory limit of the job's cgroup and those above, if there is one"),
	JOB_STATE(stalled, "stalled", UNIT_COUNT, "Whether the job is stalled; see stalled_after"),
};

enum { STATE_RUNNING, STATE_START, STATE_LIMIT };
#define NR_JOB_STATES (sizeof(job_states) / sizeof(*job_states))

static void exposition_put_state(struct buffer *t, size_t state, const struct series *first,
				 enum exposition as)
{
	bool is_first = true;

	for (const struct series *s = first; s; s = s->next) {
		if (!s->live && (state != STATE_RUNNING || s->runs || !s->is_own))
			continue;
		if ((state == STATE_START && !s->start_epoch_ns) ||
		    (state == STATE_LIMIT && !s->memory_max_bytes))
			continue;
		if (is_first)
			openmetrics_put_family(t, &job_states[state].family, as);
		is_first = false;
		openmetrics_put_sample(
			t, &job_states[state].family, &s->labels,
			*(const uint64_t *)((const char *)s + job_states[state].offset));
	}
}

static struct family ended_family(int i)
{
	const struct ended_metric *m = &ended_metrics[i];

	return (struct family){ "bpfmon_job_ended_", m->name, m->help, NULL, KIND_GAUGE, m->unit };
}

static void exposition_put_ended(struct buffer *t, const struct ended_jobs *e, int metric,
				 enum exposition as)
{
	const struct family f = ended_family(metric);
	bool is_first = true;

	for (const struct ended_job *j = e->oldest; j; j = j->newer) {
		if (!j->values.has[metric])
			continue;
		if (is_first)
			openmetrics_put_family(t, &f, as);
		is_first = false;
		openmetrics_put_sample(t, &f, &j->labels, j->values.value[metric]);
	}
}

static struct family agent_family(size_t i)
{
	const struct agent_metric *m = agent_metric_get(i);

	return (struct family){ "bpfmon_agent_", m->key, m->help, NULL, m->kind, m->unit };
}

static const struct family up_family = {
	"bpfmon_agent_",
	"up",
	"1 if the agent sent a line within three intervals, otherwise 0",
	NULL,
	KIND_GAUGE,
	UNIT_COUNT
};
static const struct family last_line_family = {
	"bpfmon_agent_",
	"last_line_time_seconds",
	"When the last line of the agent came, since the epoch",
	NULL,
	KIND_GAUGE,
	UNIT_NS
};
static const struct family losses_family = {
	"bpfmon_agent_", "losses", "Lost events and data, by kind", NULL, KIND_COUNTER, UNIT_COUNT
};

static void exposition_put_losses(struct buffer *t, const struct agent_state *a, enum exposition as)
{
	if (a->nr_losses)
		openmetrics_put_family(t, &losses_family, as);
	for (size_t i = 0; i < a->nr_losses; i++) {
		struct buffer labels = { 0 };

		openmetrics_put_label(&labels, "what", a->losses[i].name);
		buffer_puts(&labels, "}");
		t->failed |= labels.failed;
		openmetrics_put_sample(t, &losses_family, &labels, a->losses[i].count);
		buffer_done(&labels);
	}
}

static void exposition_put_agent(struct buffer *t, const struct board *b, enum exposition as)
{
	const struct agent_state *a = &b->agent;

	openmetrics_put_family(t, &up_family, as);
	openmetrics_put_sample(t, &up_family, &no_labels, a->is_up);
	if (b->last_line_epoch_ns) {
		openmetrics_put_family(t, &last_line_family, as);
		openmetrics_put_sample(t, &last_line_family, &no_labels, b->last_line_epoch_ns);
	}
	for (size_t i = 0; i < NR_AGENT_METRICS; i++) {
		const struct family f = agent_family(i);

		if (!a->has[i])
			continue;
		openmetrics_put_family(t, &f, as);
		openmetrics_put_sample(t, &f, &no_labels, a->value[i]);
	}
	exposition_put_losses(t, a, as);
}

static const struct {
	const char *key, *help;
	size_t offset; /* in struct board_counts */
} exporter_counters[] = {
#define EXPORTER_COUNTER(key, help) { #key, help, offsetof(struct board_counts, key) },
#include "exporter/exporter_metrics.def"
};

#define NR_EXPORTER_COUNTERS (sizeof(exporter_counters) / sizeof(*exporter_counters))

static struct family serve_family(size_t i)
{
	return (struct family){ "bpfmon_exporter_",
				exporter_counters[i].key,
				exporter_counters[i].help,
				NULL,
				KIND_COUNTER,
				UNIT_COUNT };
}

void exposition_write(struct buffer *t, const struct board *b, enum exposition as)
{
	exposition_put_scope(t, &scopes[SCOPE_JOB], b->series.first, as);
	for (size_t i = 0; i < NR_JOB_STATES; i++)
		exposition_put_state(t, i, b->series.first, as);
	for (int i = 0; i < NR_ENDED_METRICS; i++)
		exposition_put_ended(t, &b->ended, i, as);
	exposition_put_scope(t, &scopes[SCOPE_USER], b->users.first, as);
	exposition_put_scope(t, &scopes[SCOPE_NODE], &b->node, as);
	exposition_put_agent(t, b, as);
	for (size_t i = 0; i < NR_EXPORTER_COUNTERS; i++) {
		const struct family f = serve_family(i);

		openmetrics_put_family(t, &f, as);
		openmetrics_put_sample(t, &f, &no_labels,
				       *(const uint64_t *)((const char *)&b->counts +
							   exporter_counters[i].offset));
	}
	if (as == EXPOSITION_OPENMETRICS)
		buffer_puts(t, "# EOF\n");
}

static void exposition_list_family(struct buffer *t, const struct family *f, const char *labels)
{
	buffer_puts(t, "| `");
	openmetrics_put_name(t, f);
	buffer_printf(t, "` | %s | %s | %s%s |\n", labels,
		      f->kind == KIND_COUNTER ? "counter" : "gauge", f->help,
		      f->help_end ? f->help_end : "");
}

void exposition_list(struct buffer *t)
{
	struct family f;

	buffer_puts(t, "| Metric | Labels | Kind | What it is |\n|---|---|---|---|\n");
	for (size_t s = 0; s < NR_SCOPES; s++) {
		for (int i = 0; i < NR_METRICS; i++) {
			if (!scope_has(&scopes[s], (enum metric_id)i))
				continue;
			f = scope_family(&scopes[s], (enum metric_id)i);
			exposition_list_family(t, &f, scopes[s].labels);
		}
	}
	for (size_t i = 0; i < NR_JOB_STATES; i++)
		exposition_list_family(t, &job_states[i].family, scopes[SCOPE_JOB].labels);
	for (int i = 0; i < NR_ENDED_METRICS; i++) {
		f = ended_family(i);
		exposition_list_family(t, &f, scopes[SCOPE_JOB].labels);
	}
	exposition_list_family(t, &up_family, "");
	exposition_list_family(t, &last_line_family, "");
	for (size_t i = 0; i < NR_AGENT_METRICS; i++) {
		f = agent_family(i);
		exposition_list_family(t, &f, "");
	}
	exposition_list_family(t, &losses_family, "what");
	for (size_t i = 0; i < NR_EXPORTER_COUNTERS; i++) {
		f = serve_family(i);
		exposition_list_family(t, &f, "");
	}
}

/* Chooses the format by the header Accept: "type;parameter=value;q=0.5, ...". */

struct media_range {
	const char *type;
	size_t length;
	const char *version; /* NULL if any */
	size_t version_length;
	double q;
};

/* Trims blanks at both ends. Returns the length. */
static size_t part_trim(const char **at, const char *end)
{
	while (*at < end && strchr(" \t", **at))
		(*at)++;
	while (end > *at && strchr(" \t", end[-1]))
		end--;
	return (size_t)(end - *at);
}

static bool part_is(const char *at, size_t length, const char *word)
{
	return strlen(word) == length && !strncasecmp(at, word, length);
}

static void media_read_parameter(struct media_range *m, const char *at, const char *end)
{
	const char *value = memchr(at, '=', (size_t)(end - at));
	size_t length;

	if (!value)
		return;
	length = part_trim(&at, value);
	value++;
	if (part_is(at, length, "version")) {
		m->version_length = part_trim(&value, end);
		m->version = value;
		if (m->version_length > 1 && *value == '"') {
			m->version++;
			m->version_length -= 2;
		}
	} else if (part_is(at, length, "q")) {
		m->q = strtod(value, NULL); /* stops at the comma */
		if (!(m->q >= 0 && m->q <= 1))
			m->q = 0;
	}
}

static struct media_range media_read(const char *at, const char *end)
{
	struct media_range m = { .q = 1 };
	const char *stop = memchr(at, ';', (size_t)(end - at));

	m.type = at;
	m.length = part_trim(&m.type, stop ? stop : end);
	while (stop) {
		at = stop + 1;
		stop = memchr(at, ';', (size_t)(end - at));
		media_read_parameter(&m, at, stop ? stop : end);
	}
	return m;
}

static bool media_has_version(const struct media_range *m, const char *version)
{
	return !m->version || part_is(m->version, m->version_length, version);
}

enum exposition exposition_choose(const char *accept)
{
	double openmetrics = 0, plain = 0;
	const char *end;

	for (const char *at = accept; at; at = *end ? end + 1 : NULL) {
		struct media_range m;

		end = strchrnul(at, ',');
		m = media_read(at, end);
		if (part_is(m.type, m.length, "application/openmetrics-text")) {
			if (media_has_version(&m, "1.0.0") && m.q > openmetrics)
				openmetrics = m.q;
		} else if (part_is(m.type, m.length, "text/plain") ||
			   part_is(m.type, m.length, "text/*") ||
			   part_is(m.type, m.length, "*/*")) {
			if (media_has_version(&m, "0.0.4") && m.q > plain)
				plain = m.q;
		}
	}
	return openmetrics > 0 && openmetrics >= plain ? EXPOSITION_OPENMETRICS : EXPOSITION_PLAIN;
}

const char *exposition_content_type(enum exposition as)
{
	return as == EXPOSITION_OPENMETRICS
		       ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
		       : "text/plain; version=0.0.4; charset=utf-8";
}
