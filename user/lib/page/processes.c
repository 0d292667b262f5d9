// SPDX-License-Identifier: BSD-2-Clause
#include "page/page_run.h"

#include "base/memory.h"
#include "page/excerpt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM ((size_t)3 * PROCESSES_SHOWN)
#define TEXT_KEPT 200 /* bytes of a path, or of all arguments */

struct ranked_process {
	uint64_t key;
	size_t index;
};

static uint64_t process_cpu_ns(const struct process *p)
{
	return p->value[M_cpu];
}

static uint64_t process_peak_bytes(const struct process *p)
{
	return p->has_rss_peak ? p->rss_peak_bytes : 0;
}

/* A live process has no end yet: it ranks before all that ended, the oldest first. */
static uint64_t process_duration_ns(const struct process *p)
{
	return (p->end_epoch_ns ? p->end_epoch_ns : UINT64_MAX) - p->start_epoch_ns;
}

static int ranked_compare(const void *a, const void *b)
{
	const struct ranked_process *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return (x->index > y->index) - (x->index < y->index);
}

static void report_process_done(struct report_process *p)
{
	free(p->exe);
	free(p->args);
}

void processes_done(struct report_processes *all)
{
	for (size_t i = 0; i < all->nr; i++)
		report_process_done(&all->list[i]);
	free(all->list);
	*all = (struct report_processes){ 0 };
}

static uint64_t (*const keys[])(const struct process *) = { process_cpu_ns, process_peak_bytes,
							    process_duration_ns };

/* A process in the first third by any rank at the end is so now too. Marks all of these. */
static void processes_mark_kept(struct report_processes *all, struct ranked_process *rank,
				bool *stays)
{
	const size_t third = PROCESSES_SHOWN / 3;

	for (size_t k = 0; k < 3; k++) {
		for (size_t i = 0; i < all->nr; i++)
			rank[i] = (struct ranked_process){ keys[k](&all->list[i].p), i };
		qsort(rank, all->nr, sizeof(*rank), ranked_compare);
		for (size_t i = 0; i < all->nr && i < third; i++)
			stays[rank[i].index] = true;
		if (all->nr >= third) {
			all->least[k] = rank[third - 1].key;
			all->is_pruned = true;
		}
	}
}

/* Of equal processes, the earlier are kept. */
static bool processes_may_keep(const struct report_processes *all, const struct process *p)
{
	bool may = !all->is_pruned;

	for (size_t k = 0; k < 3; k++)
		may |= keys[k](p) > all->least[k];
	return may;
}

static int processes_prune(struct report_processes *all)
{
	struct ranked_process *rank = memory_calloc(all->nr, sizeof(*rank));
	bool *stays = memory_calloc(all->nr, sizeof(*stays));
	int err = rank && stays ? 0 : -ENOMEM;
	size_t nr = all->nr;

	if (!err) {
		processes_mark_kept(all, rank, stays);
		all->nr = 0;
		for (size_t i = 0; i < nr; i++) {
			if (stays[i])
				all->list[all->nr++] = all->list[i];
			else
				report_process_done(&all->list[i]);
		}
	}
	free(rank);
	free(stays);
	return err;
}

static int processes_make_room(struct report_processes *all)
{
	struct report_process *list;
	size_t room = all->room ? all->room * 2 : 64;

	if (all->nr < all->room)
		return 0;
	if (all->nr >= ROOM)
		return processes_prune(all);
	list = memory_realloc(all->list, room * sizeof(*list));
	if (!list)
		return -ENOMEM;
	all->list = list;
	all->room = room;
	return 0;
}

int processes_add(struct report_processes *all, const struct process *p)
{
	struct report_process *new;

	all->total++;
	if (!processes_may_keep(all, p))
		return 0;
	if (processes_make_room(all))
		return -ENOMEM;
	new = &all->list[all->nr];
	*new = (struct report_process){ .p = *p };
	new->exe = p->exe ? excerpt_keep_end(p->exe, TEXT_KEPT) : NULL;
	new->args = p->args ? excerpt_join(p->args, p->args_length, p->args_cut, TEXT_KEPT) : NULL;
	if ((p->exe && !new->exe) || (p->args && !new->args)) {
		report_process_done(new);
		return -ENOMEM;
	}
	all->nr++;
	return 0;
}

bool processes_have_timeline(const struct report_processes *all)
{
	return all->nr > 1;
}

/* Drops the processes that are not shown. Returns 0 or -ENOMEM. */
static int processes_finish(struct report_processes *all)
{
	return all->nr > PROCESSES_SHOWN ? processes_prune(all) : 0;
}

const struct report_process *processes_find_largest(const struct report_processes *all)
{
	const struct report_process *largest = NULL;

	for (size_t i = 0; i < all->nr; i++)
		if (all->list[i].p.has_rss_peak &&
		    (!largest ||
		     process_peak_bytes(&all->list[i].p) > process_peak_bytes(&largest->p)))
			largest = &all->list[i];
	return largest;
}

#define TEXT_SHOWN 200 /* maximum cost of each text */

static const enum metric_id shown[] = { M_cpu,    M_user, M_system, M_runqueue_wait,
					M_majflt, M_read, M_write };

#define NR_SHOWN (sizeof(shown) / sizeof(*shown))

/* Distinct paths, each written once, and the limit of all texts. */
struct process_texts {
	const char **exe; /* owned, sorted, distinct; the strings are not owned */
	size_t nr;
	size_t nr_of_cost[TEXT_SHOWN +
			  1]; /* number of texts per cost; the last element includes longer ones */
	size_t limit;         /* bytes of the page per text */
};

static int path_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int texts_collect_paths(struct process_texts *t, const struct report_processes *all)
{
	size_t nr = 0;

	t->exe = memory_calloc(all->nr + 1, sizeof(*t->exe));
	if (!t->exe)
		return -ENOMEM;
	for (size_t i = 0; i < all->nr; i++)
		if (all->list[i].exe)
			t->exe[nr++] = all->list[i].exe;
	qsort(t->exe, nr, sizeof(*t->exe), path_compare);
	for (size_t i = 0; i < nr; i++)
		if (!i || strcmp(t->exe[i], t->exe[t->nr - 1]) != 0)
			t->exe[t->nr++] = t->exe[i];
	return 0;
}

static void texts_count(struct process_texts *t, const char *text)
{
	size_t cost = text ? excerpt_cost(text) : 0;

	t->nr_of_cost[cost < TEXT_SHOWN ? cost : TEXT_SHOWN]++;
}

static size_t texts_cost(const struct process_texts *t, size_t limit)
{
	size_t bytes = 0;

	for (size_t cost = 0; cost <= TEXT_SHOWN; cost++)
		bytes += t->nr_of_cost[cost] * (cost < limit ? cost : limit);
	return bytes;
}

/* Short texts are kept whole. The limit of long ones is the largest with which all fit. */
static int texts_measure(struct process_texts *t, const struct report_processes *all, size_t most)
{
	int err = texts_collect_paths(t, all);

	if (err)
		return err;
	for (size_t i = 0; i < t->nr; i++)
		texts_count(t, t->exe[i]);
	for (size_t i = 0; i < all->nr; i++) {
		texts_count(t, all->list[i].p.comm);
		texts_count(t, all->list[i].args);
	}
	t->limit = TEXT_SHOWN;
	while (texts_cost(t, t->limit) > most)
		t->limit--;
	return 0;
}

void processes_add_metrics(struct metric_set *set)
{
	for (size_t i = 0; i < NR_SHOWN; i++)
		metric_put(set, shown[i]);
	metric_put(set, M_gpu);
}

bool processes_use_gpus(const struct report_processes *all)
{
	bool has = false;

	for (size_t i = 0; !has && i < all->nr; i++)
		has = all->list[i].p.gpu_memory_peak_bytes ||
		      metric_has(&all->list[i].p.have, M_gpu);
	return has;
}

static void processes_put_fields(struct jsonw *j, bool with_gpus)
{
	static const char *const names[] = { "pid",           "ppid",          "comm", "exe",
					     "args",          "start",         "end",  "ended",
					     "threads_total", "rss_peak_bytes" };

	jsonw_array(j, "fields");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		jsonw_string(j, NULL, names[i]);
	for (size_t i = 0; i < NR_SHOWN; i++)
		jsonw_string(j, NULL, metric_get(shown[i])->key);
	if (with_gpus) {
		jsonw_string(j, NULL, metric_get(M_gpu)->key);
		jsonw_string(j, NULL, "gpu_memory_peak_bytes");
	}
	jsonw_array_end(j);
}

/* Writes a negative time if an attached process started before the run. */
static void process_put_time(struct jsonw *j, uint64_t epoch_ns, uint64_t start_ns)
{
	if (epoch_ns >= start_ns)
		jsonw_decimal(j, NULL, (epoch_ns - start_ns) / 1000, 6);
	else /* in whole seconds */
		jsonw_int(j, NULL, -(int64_t)((start_ns - epoch_ns) / 1000000000));
}

/* "ended" is the exit code, the negative signal, or the state of a process that has not ended. */
static void process_put_end(struct jsonw *j, const struct process *p, uint64_t start_ns)
{
	if (p->end_epoch_ns)
		process_put_time(j, p->end_epoch_ns, start_ns);
	else
		jsonw_null(j, NULL);
	if (!p->has_ended)
		jsonw_bytes(j, NULL, p->state ? &p->state : "?", 1);
	else
		jsonw_int(j, NULL, p->signal ? -p->signal : p->exit_code);
}

static void process_put_texts(struct jsonw *j, const struct report_process *r,
			      const struct process_texts *t)
{
	const char **exe =
		r->exe ? bsearch(&r->exe, t->exe, t->nr, sizeof(*t->exe), path_compare) : NULL;

	excerpt_put(j, r->p.comm, t->limit, CUT_END);
	if (exe)
		jsonw_uint(j, NULL, (uint64_t)(exe - t->exe));
	else
		jsonw_null(j, NULL);
	if (r->args)
		excerpt_put(j, r->args, t->limit, CUT_END);
	else
		jsonw_null(j, NULL);
}

/* Times are written in microseconds. */
static void process_put_metric(struct jsonw *j, const struct process *p, enum metric_id id)
{
	uint64_t v = p->value[id];

	if (!metric_has(&p->have, id))
		jsonw_null(j, NULL);
	else if (metric_get(id)->unit == UNIT_NS)
		jsonw_decimal(j, NULL, v / 1000, metric_decimals(id) - 3);
	else
		jsonw_decimal(j, NULL, v, metric_decimals(id));
}

static void process_put_gpus(struct jsonw *j, const struct process *p)
{
	process_put_metric(j, p, M_gpu);
	if (p->gpu_memory_peak_bytes)
		jsonw_uint(j, NULL, p->gpu_memory_peak_bytes);
	else
		jsonw_null(j, NULL);
}

static void process_put_row(struct jsonw *j, const struct report_process *r,
			    const struct process_texts *t, uint64_t start_ns, bool with_gpus)
{
	const struct process *p = &r->p;

	jsonw_array(j, NULL);
	jsonw_int(j, NULL, p->pid);
	jsonw_int(j, NULL, p->ppid);
	process_put_texts(j, r, t);
	process_put_time(j, p->start_epoch_ns, start_ns);
	process_put_end(j, p, start_ns);
	jsonw_uint(j, NULL, p->threads_total);
	if (p->has_rss_peak)
		jsonw_uint(j, NULL, p->rss_peak_bytes);
	else
		jsonw_null(j, NULL);
	for (size_t i = 0; i < NR_SHOWN; i++)
		process_put_metric(j, p, shown[i]);
	if (with_gpus)
		process_put_gpus(j, p);
	jsonw_array_end(j);
}

static void texts_put_paths(struct jsonw *j, const struct process_texts *t)
{
	jsonw_array(j, "exes");
	for (size_t i = 0; i < t->nr; i++)
		excerpt_put(j, t->exe[i], t->limit, CUT_START);
	jsonw_array_end(j);
}

int processes_write(struct report_processes *all, uint64_t start_ns, size_t text_bytes,
		    struct jsonw *j)
{
	struct process_texts texts = { 0 };
	int err = processes_finish(all);
	bool with_gpus;

	if (!err)
		err = texts_measure(&texts, all, text_bytes);
	if (err)
		return err;
	with_gpus = processes_use_gpus(all);
	jsonw_object(j, "processes");
	jsonw_uint(j, "total", all->total);
	if (processes_have_timeline(all))
		jsonw_bool(j, "timeline", true);
	texts_put_paths(j, &texts);
	processes_put_fields(j, with_gpus);
	jsonw_array(j, "rows");
	for (size_t i = 0; i < all->nr; i++)
		process_put_row(j, &all->list[i], &texts, start_ns, with_gpus);
	jsonw_array_end(j);
	jsonw_object_end(j);
	free(texts.exe);
	return 0;
}
