// SPDX-License-Identifier: BSD-2-Clause
/* The processes of a run: lookup by PID and start, parents, and bounds of the history. */
#include "base/memory.h"
#include "top/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum metric_id measure_metric(enum measure m)
{
	static const enum metric_id metrics[NR_MEASURES] = {
		[MEASURE_CPU] = M_cpu,
		[MEASURE_USER] = M_user,
		[MEASURE_SYSTEM] = M_system,
		[MEASURE_RUNQUEUE] = M_runqueue_wait,
		[MEASURE_MINFLT] = M_minflt,
		[MEASURE_MAJFLT] = M_majflt,
		[MEASURE_NVCSW] = M_nvcsw,
		[MEASURE_NIVCSW] = M_nivcsw,
		[MEASURE_RCHAR] = M_rchar,
		[MEASURE_WCHAR] = M_wchar,
		[MEASURE_READ] = M_read,
		[MEASURE_WRITE] = M_write,
		[MEASURE_RSS] = M_rss,
		[MEASURE_SWAP] = M_swap,
		[MEASURE_THREADS] = M_threads,
		[MEASURE_GPU] = M_gpu,
		[MEASURE_GPU_MEMORY] = M_gpu_memory,
	};

	return metrics[m];
}

void usage_from_metrics(struct usage *u, const uint64_t *value, const struct metric_set *have)
{
	*u = (struct usage){ 0 };
	for (int m = 0; m < NR_MEASURES; m++) {
		enum metric_id id = measure_metric((enum measure)m);

		if (!metric_has(have, id))
			continue;
		u->value[m] = value[id];
		u->have |= 1U << m;
	}
}

static void usage_add_some(struct usage *to, const struct usage *u, int nr)
{
	for (int m = 0; m < nr; m++)
		to->value[m] += u->value[m];
	to->have |= u->have & ((1U << nr) - 1);
}

void usage_add(struct usage *to, const struct usage *u)
{
	usage_add_some(to, u, NR_MEASURES);
}

void usage_add_counters(struct usage *to, const struct usage *u)
{
	usage_add_some(to, u, MEASURE_FIRST_GAUGE);
}

void usage_add_growth(struct usage *to, const struct usage *later, const struct usage *earlier)
{
	for (int m = 0; m < MEASURE_FIRST_GAUGE; m++)
		if (later->value[m] > earlier->value[m])
			to->value[m] += later->value[m] - earlier->value[m];
	to->have |= later->have & ((1U << MEASURE_FIRST_GAUGE) - 1);
}

#define FIRST_TASKS 256
#define FINEST_PART 1024       /* finest spacing of points, as 1/n of their age; see task_thin() */
#define MAX_PROGRAM_NAMES 1024 /* the first one stands for further names */

static size_t tasks_bucket(const struct model *m, int32_t pid)
{
	return (size_t)((uint32_t)pid * 2654435761U) & (m->hash_size - 1);
}

static void tasks_rehash(struct model *m)
{
	memset(m->hash, 0, m->hash_size * sizeof(*m->hash));
	for (size_t i = 0; i < m->nr_tasks; i++) {
		uint32_t *head = &m->hash[tasks_bucket(m, m->tasks[i].pid)];

		m->tasks[i].next = *head;
		*head = (uint32_t)i + 1;
	}
}

static int tasks_grow(struct model *m)
{
	size_t room = m->room_tasks ? 2 * m->room_tasks : FIRST_TASKS;
	struct task *tasks = memory_reallocarray(m->tasks, room, sizeof(*tasks));
	uint32_t *hash;

	if (!tasks)
		return -ENOMEM;
	m->tasks = tasks;
	hash = memory_reallocarray(m->hash, room, sizeof(*hash));
	if (!hash)
		return -ENOMEM;
	m->hash = hash;
	m->hash_size = m->room_tasks = room;
	tasks_rehash(m);
	return 0;
}

ssize_t model_find(const struct model *m, int32_t pid, uint64_t start_epoch_ns)
{
	uint32_t at = m->hash_size ? m->hash[tasks_bucket(m, pid)] : 0;

	for (; at; at = m->tasks[at - 1].next)
		if (m->tasks[at - 1].pid == pid &&
		    m->tasks[at - 1].start_epoch_ns == start_epoch_ns)
			return at - 1;
	return -1;
}

/* Parents start before their children. With equal start times, the smaller PID is the parent. */
static bool task_may_be_parent(const struct task *parent, const struct task *t)
{
	if (parent->pid != t->ppid || parent->end_ns < t->start_ns)
		return false;
	return parent->start_ns < t->start_ns ||
	       (parent->start_ns == t->start_ns && parent->pid < t->pid);
}

static uint32_t tasks_find_parent(const struct model *m, const struct task *t)
{
	uint32_t at = m->hash[tasks_bucket(m, t->ppid)], best = 0;

	for (; at; at = m->tasks[at - 1].next)
		if (task_may_be_parent(&m->tasks[at - 1], t) &&
		    (!best || m->tasks[at - 1].start_ns > m->tasks[best - 1].start_ns))
			best = at;
	return best;
}

void model_link(struct model *m)
{
	for (size_t i = 0; i < m->nr_tasks; i++)
		if (!m->tasks[i].parent && m->tasks[i].ppid)
			m->tasks[i].parent = tasks_find_parent(m, &m->tasks[i]);
}

static int task_compare_ends(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Returns the median end of ended tasks, or MODEL_NEVER if none has ended. */
static int64_t tasks_median_end(const struct model *m)
{
	int64_t *ends = memory_malloc(m->nr_tasks * sizeof(*ends)), median = MODEL_NEVER;
	size_t nr = 0;

	for (size_t i = 0; ends && i < m->nr_tasks; i++)
		if (m->tasks[i].has_ended)
			ends[nr++] = m->tasks[i].end_ns;
	if (nr) {
		qsort(ends, nr, sizeof(*ends), task_compare_ends);
		median = ends[nr / 2];
	}
	free(ends);
	return median;
}

static bool task_is_old(const struct task *t, int64_t before_ns)
{
	return t->has_ended && t->end_ns <= before_ns;
}

/* Returns the nearest ancestor that is kept, as index + 1. */
static uint32_t task_kept_ancestor(const struct model *m, const struct task *t, int64_t before_ns)
{
	uint32_t at = t->parent;

	while (at && task_is_old(&m->tasks[at - 1], before_ns))
		at = m->tasks[at - 1].parent;
	return at;
}

static void task_fold(struct model *m, struct task *t, uint32_t into)
{
	struct usage *to = into ? &m->tasks[into - 1].folded : &m->folded;

	usage_add_counters(to, &t->last);
	usage_add_counters(to, &t->folded);
	usage_add_counters(&m->programs[t->program].folded, &t->last);
	m->programs[t->program].nr_folded++;
	m->nr_points -= t->nr_points;
	free(t->points);
	free(t->args);
}

/* Drops the older half of the ended tasks, adding what they used to kept ancestors. */
static int tasks_drop_old(struct model *m)
{
	int64_t before_ns = tasks_median_end(m);
	uint32_t *moved = memory_malloc(m->nr_tasks * sizeof(*moved));
	size_t nr = 0;

	if (!moved || before_ns == MODEL_NEVER) {
		free(moved);
		return moved ? 0 : -ENOMEM;
	}
	model_link(m);
	for (size_t i = 0; i < m->nr_tasks; i++)
		m->tasks[i].parent = task_kept_ancestor(m, &m->tasks[i], before_ns);
	for (size_t i = 0; i < m->nr_tasks; i++)
		if (task_is_old(&m->tasks[i], before_ns))
			task_fold(m, &m->tasks[i], m->tasks[i].parent);
	for (size_t i = 0; i < m->nr_tasks; i++) {
		moved[i] = (uint32_t)nr;
		if (!task_is_old(&m->tasks[i], before_ns))
			m->tasks[nr++] = m->tasks[i];
	}
	m->nr_tasks = nr;
	for (size_t i = 0; i < nr; i++)
		if (m->tasks[i].parent)
			m->tasks[i].parent = moved[m->tasks[i].parent - 1] + 1;
	free(moved);
	tasks_rehash(m);
	if (before_ns > m->from_ns)
		m->from_ns = before_ns;
	return 0;
}

/* Raises the bounds if most tasks are alive, so that too few could be dropped. */
static int tasks_bound(struct model *m)
{
	int err = m->nr_tasks >= m->most_tasks ? tasks_drop_old(m) : 0;

	if (!err && m->nr_tasks > m->most_tasks / 4 * 3) {
		m->most_tasks *= 2;
		m->most_points *= 2;
	}
	return err;
}

int tasks_add(struct model *m, int32_t pid, uint64_t start_epoch_ns, size_t *index)
{
	struct task *t;
	uint32_t *head;
	int err = m->nr_tasks >= m->most_tasks ? tasks_bound(m) : 0;

	if (!err && m->nr_tasks == m->room_tasks)
		err = tasks_grow(m);
	if (err)
		return err;
	t = &m->tasks[m->nr_tasks];
	head = &m->hash[tasks_bucket(m, pid)];
	*t = (struct task){ .pid = pid, .start_epoch_ns = start_epoch_ns, .end_ns = MODEL_NEVER };
	t->start_ns = (int64_t)(start_epoch_ns - m->start_epoch_ns);
	t->next = *head;
	*index = m->nr_tasks++;
	*head = (uint32_t)m->nr_tasks;
	return 0;
}

/* Keeps points that are at least their age / @part apart, and always the first and last. */
static void task_thin(struct model *m, struct task *t, int64_t part)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < t->nr_points; i++) {
		int64_t at_ns = t->points[i].at_ns;

		if (!nr || i + 1 == t->nr_points ||
		    at_ns - t->points[nr - 1].at_ns >= (m->now_ns - at_ns) / part)
			t->points[nr++] = t->points[i];
	}
	m->nr_points -= t->nr_points - nr;
	t->nr_points = nr;
}

/* Thins older points more, so that the whole history remains. */
static void points_thin(struct model *m)
{
	for (int64_t part = FINEST_PART; part && m->nr_points > m->most_points / 4 * 3; part /= 2)
		for (size_t i = 0; i < m->nr_tasks; i++)
			task_thin(m, &m->tasks[i], part);
}

int task_add_point(struct model *m, struct task *t, int64_t at_ns, const struct usage *used)
{
	if (t->nr_points && t->points[t->nr_points - 1].at_ns >= at_ns)
		return 0;
	if (m->nr_points >= m->most_points)
		points_thin(m);
	if (t->nr_points == t->room_points) {
		uint32_t room = t->room_points ? 2 * t->room_points : 4;
		struct point *points = memory_reallocarray(t->points, room, sizeof(*points));

		if (!points)
			return -ENOMEM;
		t->points = points;
		t->room_points = room;
	}
	t->points[t->nr_points++] = (struct point){ .at_ns = at_ns, .used = *used };
	m->nr_points++;
	return 0;
}

const struct point *task_point_at(const struct task *t, int64_t at_ns)
{
	uint32_t low = 0, high = t->nr_points;

	if (high && t->points[high - 1].at_ns <= at_ns)
		return &t->points[high - 1];
	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (t->points[mid].at_ns <= at_ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &t->points[low - 1] : NULL;
}

int64_t task_idle_since(const struct task *t, int64_t at_ns)
{
	const struct point *p = task_point_at(t, at_ns);
	uint64_t cpu_ns = p ? p->used.value[MEASURE_CPU] : 0;

	if (!p)
		return MODEL_NEVER;
	while (p > t->points && p[-1].used.value[MEASURE_CPU] == cpu_ns)
		p--;
	return p->at_ns;
}

bool task_lives_at(const struct task *t, int64_t at_ns)
{
	return t->start_ns <= at_ns && t->end_ns > at_ns;
}

int programs_find(struct model *m, const char *name, uint32_t *index)
{
	struct program_name *p;

	/* backwards, as it is often the program of the previous task */
	for (size_t i = m->nr_programs; i-- > 0;)
		if (!strcmp(m->programs[i].name, name)) {
			*index = (uint32_t)i;
			return 0;
		}
	*index = 0;
	if (m->nr_programs == MAX_PROGRAM_NAMES)
		return 0;
	if (m->nr_programs == m->room_programs) {
		size_t room = m->room_programs ? 2 * m->room_programs : 64;

		p = memory_reallocarray(m->programs, room, sizeof(*p));
		if (!p)
			return -ENOMEM;
		m->programs = p;
		m->room_programs = room;
	}
	p = &m->programs[m->nr_programs];
	*p = (struct program_name){ .name = memory_strdup(name) };
	if (!p->name)
		return -ENOMEM;
	*index = (uint32_t)m->nr_programs++;
	return 0;
}
