// SPDX-License-Identifier: BSD-2-Clause
#include "exporter/exposition.h"

#include "board/shown.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define COUNTS_PREFIX "bpfmon_exporter_"

static const struct buffer no_labels;

static void label_put(struct buffer *t, const char *key, const char *value)
{
	if (*value) /* an empty label equals an absent one */
		openmetrics_put_label(t, key, value);
}

static void labels_put(struct buffer *t, const struct job_labels *l)
{
	label_put(t, "job", l->job);
	label_put(t, "user", l->user);
	label_put(t, "kind", l->kind);
	label_put(t, "name", l->name);
	label_put(t, "namespace", l->namespace);
	label_put(t, "pod", l->pod);
	label_put(t, "container", l->container);
	label_put(t, "account", l->account);
	label_put(t, "partition", l->partition);
	label_put(t, "nested", l->is_nested ? "yes" : "");
	buffer_puts(t, t->used ? "}" : "{}");
}

const struct board_style exposition_style = { .put_labels = labels_put };

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

static void exposition_put_state(struct buffer *t, size_t state, const struct series *first,
				 enum exposition as)
{
	const struct family *f = job_state_family(state);
	bool is_first = true;
	uint64_t value;

	for (const struct series *s = first; s; s = s->next) {
		if (!job_state_read(s, state, &value))
			continue;
		if (is_first)
			openmetrics_put_family(t, f, as);
		is_first = false;
		openmetrics_put_sample(t, f, &s->labels, value);
	}
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

static void exposition_put_losses(struct buffer *t, const struct agent_state *a, enum exposition as)
{
	if (a->nr_losses)
		openmetrics_put_family(t, &agent_losses_family, as);
	for (size_t i = 0; i < a->nr_losses; i++) {
		struct buffer labels = { 0 };

		openmetrics_put_label(&labels, "what", a->losses[i].name);
		buffer_puts(&labels, "}");
		t->failed |= labels.failed;
		openmetrics_put_sample(t, &agent_losses_family, &labels, a->losses[i].count);
		buffer_done(&labels);
	}
}

static void exposition_put_agent(struct buffer *t, const struct board *b, enum exposition as)
{
	const struct agent_state *a = &b->agent;

	openmetrics_put_family(t, &agent_up_family, as);
	openmetrics_put_sample(t, &agent_up_family, &no_labels, a->is_up);
	if (b->last_line_epoch_ns) {
		openmetrics_put_family(t, &agent_last_line_family, as);
		openmetrics_put_sample(t, &agent_last_line_family, &no_labels,
				       b->last_line_epoch_ns);
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
	for (size_t i = 0; i < NR_BOARD_COUNTS; i++) {
		const struct family f = board_count_family(i, COUNTS_PREFIX);

		openmetrics_put_family(t, &f, as);
		openmetrics_put_sample(t, &f, &no_labels, board_count_read(b, i));
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
		exposition_list_family(t, job_state_family(i), scopes[SCOPE_JOB].labels);
	for (int i = 0; i < NR_ENDED_METRICS; i++) {
		f = ended_family(i);
		exposition_list_family(t, &f, scopes[SCOPE_JOB].labels);
	}
	exposition_list_family(t, &agent_up_family, "");
	exposition_list_family(t, &agent_last_line_family, "");
	for (size_t i = 0; i < NR_AGENT_METRICS; i++) {
		f = agent_family(i);
		exposition_list_family(t, &f, "");
	}
	exposition_list_family(t, &agent_losses_family, "what");
	for (size_t i = 0; i < NR_BOARD_COUNTS; i++) {
		f = board_count_family(i, COUNTS_PREFIX);
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
