// SPDX-License-Identifier: BSD-2-Clause
/* Adds the lines of a run to the model. */
#include "top/model.h"

#include "base/memory.h"
#include "run/limit.h"
#include "text/answer.h"
#include "text/summary_lines.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TASKS 32768
#define MOST_POINTS 262144
#define MOST_MOMENTS 131072
#define MOST_SPANS 16384

void model_init(struct model *m)
{
	*m = (struct model){ .most_tasks = MOST_TASKS, .most_points = MOST_POINTS };
}

void model_done(struct model *m)
{
	for (size_t i = 0; i < m->nr_tasks; i++) {
		free(m->tasks[i].points);
		free(m->tasks[i].args);
	}
	for (size_t i = 0; i < m->nr_programs; i++)
		free(m->programs[i].name);
	for (size_t i = 0; i < m->nr_spans; i++)
		free(m->spans[i].name);
	free(m->tasks);
	free(m->hash);
	free(m->programs);
	free(m->moments);
	free(m->spans);
	model_init(m);
}

/* Limits times to plausible ones, so that sums cannot overflow. */
static int64_t elapsed_clamp(uint64_t ns)
{
	return ns < INT64_MAX / 4 ? (int64_t)ns : INT64_MAX / 4;
}

static int64_t model_elapsed(const struct model *m, uint64_t epoch_ns)
{
	if (epoch_ns < m->start_epoch_ns)
		return -elapsed_clamp(m->start_epoch_ns - epoch_ns);
	return elapsed_clamp(epoch_ns - m->start_epoch_ns);
}

static void model_copy_text(char *to, size_t size, const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	snprintf(to, size, "%s", text ? text : "");
}

static uint64_t member_count(const json_t *o, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(o, key));

	return n > 0 ? (uint64_t)n : 0;
}

static void command_copy(struct model *m, const json_t *meta)
{
	const json_t *list = json_object_get(meta, "command"), *word;
	size_t used = 0, i;

	m->command[0] = '\0';
	json_array_foreach(list, i, word) {
		if (!json_is_string(word) || used + 1 >= sizeof(m->command))
			continue;
		snprintf(m->command + used, sizeof(m->command) - used, "%s%s", i ? " " : "",
			 json_string_value(word));
		used = strlen(m->command);
	}
}

/* A job of a node is named by its id, which contains the name. */
static void model_name_job(struct model *m, const json_t *job)
{
	const char *id = json_string_value(json_object_get(job, "id"));

	if (id && strcmp(id, "run") != 0)
		snprintf(m->name, sizeof(m->name), "%s", id);
}

static int model_take_meta(struct model *m, struct line *l)
{
	const json_t *meta = l->tree, *system = json_object_get(meta, "system");
	const json_t *limits = json_object_get(meta, "limits");
	int err = line_check_meta(l);

	if (err || m->has_meta) /* a feed that was reopened repeats it */
		return err;
	m->has_meta = true;
	m->start_epoch_ns = l->start_epoch_ns;
	m->interval_ns =
		(uint64_t)(json_number_value(json_object_get(meta, "interval_seconds")) * 1e9);
	model_copy_text(m->name, sizeof(m->name), meta, "name");
	model_name_job(m, json_object_get(meta, "node_job"));
	model_copy_text(m->host, sizeof(m->host), meta, "host");
	model_copy_text(m->user, sizeof(m->user), meta, "user");
	model_copy_text(m->uuid, sizeof(m->uuid), meta, "run");
	model_copy_text(m->live_socket, sizeof(m->live_socket), meta, "live_socket");
	command_copy(m, meta);
	m->cpus = member_count(system, "cpus");
	m->cpu_limit = member_count(limits, "cpus_allowed_count") * 1000;
	m->memory_bytes = member_count(system, "memory_bytes");
	m->memory_limit_bytes = member_count(limits, "memory_max_bytes");
	m->cores_available = answer_cores_available(meta);
	return 0;
}

static void note_write(struct note *n, const char *name, long long pid, const char *text)
{
	char of[32] = "";

	if (pid > 0)
		snprintf(of, sizeof(of), " %lld", pid);
	snprintf(n->text, sizeof(n->text), "%s%s%s%s", name ? name : "event", of, text ? ": " : "",
		 text ? text : "");
	for (char *c = n->text; *c && *c != ':'; c++)
		if (*c == '_')
			*c = ' ';
}

/*
 * Writes an exceeded limit as in the summary. Returns false for another event, or one that cannot
 * be parsed.
 */
static bool note_write_limit(struct note *n, const char *name, const json_t *event)
{
	struct limit_hit hit;
	char *text;

	if (!name || strcmp(name, "limit") != 0 || !limit_hit_read(&hit, event))
		return false;
	text = limit_text_make(&hit);
	snprintf(n->text, sizeof(n->text), "%s %s", hit.is_end ? "ended by limit" : "beyond",
		 text ? text : hit.text);
	free(text);
	return true;
}

static void model_take_event(struct model *m, const json_t *event)
{
	static const char *const more[] = { "text", "reason", "comm", "cgroup" };
	const char *name = json_string_value(json_object_get(event, "event")), *text = NULL;
	double time = json_number_value(json_object_get(event, "time"));
	struct note *n = &m->notes[m->nr_notes++ % MAX_NOTES];

	*n = (struct note){ .at_ns = m->now_ns };
	if (time > 0 && time < 4e9)
		n->at_ns = model_elapsed(m, (uint64_t)(time * 1e6) * 1000);
	if (stall_state_update(&m->stall, event))
		m->stall_at_ns = n->at_ns;
	if (note_write_limit(n, name, event))
		return;
	for (size_t i = 0; !text && i < sizeof(more) / sizeof(*more); i++)
		text = json_string_value(json_object_get(event, more[i]));
	note_write(n, name, json_integer_value(json_object_get(event, "pid")), text);
}

static void model_advance(struct model *m, int64_t at_ns)
{
	if (at_ns > m->now_ns)
		m->now_ns = at_ns;
}

/* Drops every second moment, but not the last one. */
static void moments_thin(struct model *m)
{
	size_t nr = 0;

	for (size_t from = (m->nr_moments + 1) % 2; from < m->nr_moments; from += 2)
		m->moments[nr++] = m->moments[from];
	m->nr_moments = nr;
}

static struct moment *moments_append(struct model *m)
{
	if (m->nr_moments >= MOST_MOMENTS)
		moments_thin(m);
	if (m->nr_moments == m->room_moments) {
		size_t room = m->room_moments ? 2 * m->room_moments : 256;
		struct moment *moments = memory_reallocarray(m->moments, room, sizeof(*moments));

		if (!moments)
			return NULL;
		m->moments = moments;
		m->room_moments = room;
	}
	return &m->moments[m->nr_moments++];
}

/*
 * A feed of all live processes has a line for each at each sample. A task without one has ended
 * unseen.
 */
static void tasks_end_unseen(struct model *m, int64_t last_ns)
{
	for (size_t i = 0; i < m->nr_tasks; i++) {
		struct task *t = &m->tasks[i];

		if (t->has_ended || !t->is_sampled_all || !t->nr_points ||
		    t->points[t->nr_points - 1].at_ns >= last_ns)
			continue;
		t->has_ended = true;
		t->end_ns = last_ns;
	}
}

static int model_take_sample(struct model *m, const struct sample *s)
{
	int64_t at_ns = elapsed_clamp(s->elapsed_ns);
	int64_t last_ns = m->nr_moments ? m->moments[m->nr_moments - 1].at_ns : -1;
	struct moment *to;

	if (at_ns <= last_ns) /* already read from the store */
		return 0;
	tasks_end_unseen(m, last_ns);
	to = moments_append(m);
	if (!to)
		return -ENOMEM;
	*to = (struct moment){ .at_ns = at_ns };
	usage_from_metrics(&to->total, s->value, &s->have);
	to->processes = s->value[M_processes];
	to->cores = s->value[M_cores];
	to->gpus_held = s->value[M_gpus_held];
	to->gpus_idle = s->value[M_gpus_idle];
	to->gpus_used = s->value[M_gpus_used];
	to->has_gpus_used = sample_has(s, M_gpus_used);
	to->gpu_power_mw = s->value[M_gpu_power];
	model_advance(m, at_ns);
	return 0;
}

static int task_of(struct model *m, int32_t pid, uint64_t start_epoch_ns, size_t *index)
{
	ssize_t found = model_find(m, pid, start_epoch_ns);

	*index = (size_t)found;
	return found >= 0 ? 0 : tasks_add(m, pid, start_epoch_ns, index);
}

static int task_name(struct model *m, struct task *t, const char *comm, const char *exe)
{
	const char *name = exe && *exe ? exe : *comm ? comm : "(unknown)";

	if (*comm)
		comm_copy(t->comm, comm, SIZE_MAX);
	if (t->program < m->nr_programs && !strcmp(m->programs[t->program].name, name))
		return 0;
	return programs_find(m, name, &t->program);
}

static void process_usage_read(struct model *m, struct usage *used, const uint64_t *value,
			       const struct metric_set *have)
{
	usage_from_metrics(used, value, have);
	m->has_gpus |= usage_has(used, MEASURE_GPU) || usage_has(used, MEASURE_GPU_MEMORY);
}

static int model_take_process_sample(struct model *m, const struct process_sample *p)
{
	struct usage used;
	struct task *t;
	size_t index;
	int err = task_of(m, p->pid, p->start_epoch_ns, &index);

	if (err)
		return err;
	t = &m->tasks[index];
	process_usage_read(m, &used, p->value, &p->have);
	if (t->has_record) /* a store has the records first */
		return elapsed_clamp(p->elapsed_ns) < t->end_ns
			       ? task_add_point(m, t, elapsed_clamp(p->elapsed_ns), &used)
			       : 0;
	if (p->has_parent) {
		t->ppid = t->ppid ? t->ppid : p->ppid;
		t->uid = p->uid;
		t->has_uid = t->is_sampled_all = true;
	}
	t->has_ended = false;
	t->end_ns = MODEL_NEVER;
	t->last = used;
	err = task_name(m, t, p->comm, p->exe);
	if (!err)
		err = task_add_point(m, t, elapsed_clamp(p->elapsed_ns), &used);
	model_advance(m, elapsed_clamp(p->elapsed_ns));
	return err;
}

/* Copies the beginning of the arguments as one text. */
static int task_set_args(struct task *t, const struct process *p)
{
	size_t length = p->args_length < 4096 ? p->args_length : 4096;

	if (!p->args || !length || t->args)
		return 0;
	t->args = memory_malloc(length + 1);
	if (!t->args)
		return -ENOMEM;
	memcpy(t->args, p->args, length);
	t->args[length] = '\0';
	for (size_t i = 0; i + 1 < length; i++)
		if (!t->args[i])
			t->args[i] = ' ';
	return 0;
}

static void task_end(const struct model *m, struct task *t, const struct process *p)
{
	uint64_t end = p->end_epoch_ns ? p->end_epoch_ns : p->left_epoch_ns;

	t->has_ended = p->has_ended || p->left_epoch_ns;
	t->end_ns = !t->has_ended ? MODEL_NEVER : end ? model_elapsed(m, end) : m->now_ns;
	if (t->end_ns < t->start_ns)
		t->end_ns = t->start_ns;
	t->exit_code = p->exit_code;
	t->signal = p->signal;
}

static int model_take_process(struct model *m, const struct process *p)
{
	struct usage used, before = { 0 };
	struct task *t;
	size_t index;
	int err = task_of(m, p->pid, p->start_epoch_ns, &index);

	if (err)
		return err;
	t = &m->tasks[index];
	process_usage_read(m, &used, p->value, &p->have);
	if (t->has_record) { /* a process that left the run and returned has a record for each stay
			      */
		int64_t end_ns = t->end_ns;

		task_end(m, t, p);
		if (t->end_ns <= end_ns)
			return 0; /* the same record again */
		before = t->last;
	}
	task_end(m, t, p);
	t->ppid = t->ppid ? t->ppid : p->ppid;
	t->uid = p->uid;
	t->has_uid = t->has_record = true;
	t->span = p->span;
	t->rss_peak_bytes = p->has_rss_peak ? p->rss_peak_bytes : 0;
	t->threads_total = p->threads_total;
	t->execs = p->execs;
	t->last = used;
	usage_add_counters(&t->last, &before);
	err = task_name(m, t, p->comm, p->exe);
	if (!err)
		err = task_set_args(t, p);
	/* a process that lives at the end of the run has its last values there */
	if (!err && !t->has_ended)
		err = task_add_point(m, t, m->now_ns + 1, &t->last);
	if (t->has_ended)
		model_advance(m, t->end_ns);
	return err;
}

static int model_take_span(struct model *m, const struct span *s)
{
	struct model_span *to;

	if (m->nr_spans == MOST_SPANS)
		return 0;
	for (size_t i = m->nr_spans; i-- > 0 && m->nr_spans - i < 64;)
		if (m->spans[i].id == s->id)
			return 0;
	if (m->nr_spans == m->room_spans) {
		size_t room = m->room_spans ? 2 * m->room_spans : 64;

		to = memory_reallocarray(m->spans, room, sizeof(*to));
		if (!to)
			return -ENOMEM;
		m->spans = to;
		m->room_spans = room;
	}
	to = &m->spans[m->nr_spans];
	*to = (struct model_span){ .id = s->id,
				   .parent = s->parent,
				   .pid = s->pid,
				   .in_place = s->in_place,
				   .name = memory_strdup(s->label.name ? s->label.name : ""),
				   .start_ns = model_elapsed(m, s->start_epoch_ns),
				   .end_ns = MODEL_NEVER };
	if (!to->name)
		return -ENOMEM;
	if (s->end_epoch_ns)
		to->end_ns = model_elapsed(m, s->end_epoch_ns);
	usage_from_metrics(&to->used, s->used.total.value, &s->used.total.have);
	m->nr_spans++;
	return 0;
}

static void model_set_slowdown(struct model *m, const struct summary *s)
{
	struct slowdown slowdown;
	FILE *f = memory_fmemopen(m->slowdown, sizeof(m->slowdown) - 1, "w");

	slowdown_of_run(&slowdown, s, m->start_epoch_ns, m->cores_available, &m->stalls);
	if (!f)
		return;
	slowdown_text(f, &slowdown);
	fclose(f);
}

static void model_take_summary(struct model *m, const struct summary *s)
{
	m->has_summary = true;
	if (s->has_status)
		format_run_end(m->ended, s);
	model_set_slowdown(m, s);
	m->has_status = s->has_status;
	m->exit_code = s->exit_code;
	m->signal = s->signal;
	m->is_complete = s->complete;
	if (s->limit.is_end)
		memcpy(m->ended_by, s->limit.text, sizeof(m->ended_by));
	model_advance(m, elapsed_clamp(s->wall_ns));
}

int model_take(struct model *m, struct line *l)
{
	int err = 0;

	if (!m->has_meta && l->kind != LINE_META)
		return -EBADMSG;
	m->version++;
	switch (l->kind) {
	case LINE_META:
		err = model_take_meta(m, l);
		break;
	case LINE_SAMPLE:
		err = model_take_sample(m, &l->sample);
		break;
	case LINE_PROCESS_SAMPLE:
		err = model_take_process_sample(m, &l->process_sample);
		break;
	case LINE_PROCESS:
		err = model_take_process(m, &l->process);
		break;
	case LINE_SPAN:
		err = model_take_span(m, &l->span);
		break;
	case LINE_EVENT:
		stalls_add(&m->stalls, l->tree);
		model_take_event(m, l->tree);
		break;
	case LINE_SUMMARY:
		model_take_summary(m, &l->summary);
		break;
	default:
		break;
	}
	return err;
}

size_t model_moment_at(const struct model *m, int64_t at_ns)
{
	size_t low = 0, high = m->nr_moments;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (m->moments[mid].at_ns <= at_ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? low - 1 : SIZE_MAX;
}
