// SPDX-License-Identifier: BSD-2-Clause
#include "report/processes.h"

#include "report/clip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM ((size_t)3 * PROCESSES_SHOWN)

/* What of the counters is shown of each. */
static const enum metric_id shown[] = { M_cpu,    M_user,   M_system, M_runqueue_wait,
					M_minflt, M_majflt, M_nvcsw,  M_nivcsw,
					M_read,   M_write,  M_rchar,  M_wchar };

#define NR_SHOWN (sizeof(shown) / sizeof(*shown))

struct ranked {
	uint64_t key;
	size_t index;
};

static uint64_t cpu_of(const struct process *p)
{
	return p->value[M_cpu];
}

static uint64_t memory_of(const struct process *p)
{
	return p->has_rss_peak ? p->rss_peak_bytes : 0;
}

/* Of a live one: until the end of time, so that the eldest of them comes first. */
static uint64_t duration_of(const struct process *p)
{
	return (p->end_epoch_ns ? p->end_epoch_ns : UINT64_MAX) - p->start_epoch_ns;
}

static int falling(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return (x->index > y->index) - (x->index < y->index);
}

static void process_done(struct report_process *p)
{
	free(p->exe);
	free(p->args);
}

void processes_done(struct report_processes *all)
{
	for (size_t i = 0; i < all->nr; i++)
		process_done(&all->list[i]);
	free(all->list);
	*all = (struct report_processes){ 0 };
}

static uint64_t (*const keys[])(const struct process *) = { cpu_of, memory_of, duration_of };

/* Whoever is among the first third of one rank stays: so is who would be in the end. */
static void mark_those_that_stay(struct report_processes *all, struct ranked *rank, bool *stays)
{
	const size_t third = PROCESSES_SHOWN / 3;

	for (size_t k = 0; k < 3; k++) {
		for (size_t i = 0; i < all->nr; i++)
			rank[i] = (struct ranked){ keys[k](&all->list[i].p), i };
		qsort(rank, all->nr, sizeof(*rank), falling);
		for (size_t i = 0; i < all->nr && i < third; i++)
			stays[rank[i].index] = true;
		if (all->nr >= third) {
			all->least[k] = rank[third - 1].key;
			all->is_pruned = true;
		}
	}
}

/* Of equals the earlier stay. */
static bool may_stay(const struct report_processes *all, const struct process *p)
{
	bool may = !all->is_pruned;

	for (size_t k = 0; k < 3; k++)
		may |= keys[k](p) > all->least[k];
	return may;
}

static int prune(struct report_processes *all)
{
	struct ranked *rank = calloc(all->nr, sizeof(*rank));
	bool *stays = calloc(all->nr, sizeof(*stays));
	int err = rank && stays ? 0 : -ENOMEM;
	size_t nr = all->nr;

	if (!err) {
		mark_those_that_stay(all, rank, stays);
		all->nr = 0;
		for (size_t i = 0; i < nr; i++) {
			if (stays[i])
				all->list[all->nr++] = all->list[i];
			else
				process_done(&all->list[i]);
		}
	}
	free(rank);
	free(stays);
	return err;
}

static int make_room(struct report_processes *all)
{
	struct report_process *list;
	size_t room = all->room ? all->room * 2 : 64;

	if (all->nr < all->room)
		return 0;
	if (all->nr >= ROOM)
		return prune(all);
	list = realloc(all->list, room * sizeof(*list));
	if (!list)
		return -ENOMEM;
	all->list = list;
	all->room = room;
	return 0;
}

int processes_add(struct report_processes *all, const struct process *p, size_t args_max)
{
	struct report_process *new;

	all->total++;
	if (!may_stay(all, p))
		return 0;
	if (make_room(all))
		return -ENOMEM;
	new = &all->list[all->nr];
	*new = (struct report_process){ .p = *p };
	new->exe = p->exe ? strdup(p->exe) : NULL;
	new->args = p->args ? clip_join(p->args, p->args_length, p->args_cut, args_max) : NULL;
	if ((p->exe && !new->exe) || (p->args && !new->args)) {
		process_done(new);
		return -ENOMEM;
	}
	all->nr++;
	return 0;
}

void processes_metrics(struct metric_set *set)
{
	for (size_t i = 0; i < NR_SHOWN; i++)
		metric_put(set, shown[i]);
}

const struct report_process *processes_largest(const struct report_processes *all)
{
	const struct report_process *largest = NULL;

	for (size_t i = 0; i < all->nr; i++)
		if (all->list[i].p.has_rss_peak &&
		    (!largest || memory_of(&all->list[i].p) > memory_of(&largest->p)))
			largest = &all->list[i];
	return largest;
}

static void put_fields(struct json *j)
{
	static const char *const names[] = {
		"pid",   "ppid",          "uid",   "comm",           "exe",
		"args",  "start",         "end",   "exit_code",      "signal",
		"state", "threads_total", "execs", "rss_peak_bytes", "rss_peak_exact"
	};

	jw_array(j, "fields");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		jw_string(j, NULL, names[i]);
	for (size_t i = 0; i < NR_SHOWN; i++)
		jw_string(j, NULL, metric_get(shown[i])->key);
	jw_array_end(j);
}

/* An attached process began before the run. */
static void put_time(struct json *j, uint64_t epoch_ns, uint64_t start_ns)
{
	if (epoch_ns >= start_ns)
		jw_decimal(j, NULL, (epoch_ns - start_ns) / 1000, 6);
	else /* whole seconds will do */
		jw_int(j, NULL, -(int64_t)((start_ns - epoch_ns) / 1000000000));
}

static void put_end(struct json *j, const struct process *p, uint64_t start_ns)
{
	if (p->end_epoch_ns)
		put_time(j, p->end_epoch_ns, start_ns);
	else
		jw_null(j, NULL);
	if (p->has_ended && !p->signal)
		jw_int(j, NULL, p->exit_code);
	else
		jw_null(j, NULL);
	if (p->has_ended && p->signal)
		jw_int(j, NULL, p->signal);
	else
		jw_null(j, NULL);
	if (!p->has_ended)
		jw_bytes(j, NULL, p->state ? &p->state : "?", 1);
	else
		jw_null(j, NULL);
}

static void put_process(struct json *j, const struct report_process *r, uint64_t start_ns)
{
	const struct process *p = &r->p;

	jw_array(j, NULL);
	jw_int(j, NULL, p->pid);
	jw_int(j, NULL, p->ppid);
	jw_uint(j, NULL, p->uid);
	jw_bytes(j, NULL, p->comm, strlen(p->comm));
	jw_string(j, NULL, r->exe);
	jw_string(j, NULL, r->args);
	put_time(j, p->start_epoch_ns, start_ns);
	put_end(j, p, start_ns);
	jw_uint(j, NULL, p->threads_total);
	jw_uint(j, NULL, p->execs);
	if (p->has_rss_peak)
		jw_uint(j, NULL, p->rss_peak_bytes);
	else
		jw_null(j, NULL);
	jw_bool(j, NULL, p->rss_peak_exact);
	for (size_t i = 0; i < NR_SHOWN; i++) {
		if (metric_has(&p->have, shown[i]))
			jw_decimal(j, NULL, p->value[shown[i]], metric_decimals(shown[i]));
		else
			jw_null(j, NULL);
	}
	jw_array_end(j);
}

int processes_write(struct report_processes *all, uint64_t start_ns, struct json *j)
{
	if (all->nr > PROCESSES_SHOWN && prune(all))
		return -ENOMEM;
	jw_object(j, "processes");
	jw_uint(j, "total", all->total);
	put_fields(j);
	jw_array(j, "rows");
	for (size_t i = 0; i < all->nr; i++)
		put_process(j, &all->list[i], start_ns);
	jw_array_end(j);
	jw_object_end(j);
	return 0;
}
