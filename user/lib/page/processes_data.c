// SPDX-License-Identifier: BSD-2-Clause
/* The processes that are shown, as the page's data. All their texts share a number of bytes. */
#include "page/processes.h"

#include "page/excerpt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_SHOWN 200 /* of one of them */

/* The counters that are shown of each. */
static const enum metric_id shown[] = { M_cpu,    M_user, M_system, M_runqueue_wait,
					M_majflt, M_read, M_write };

#define NR_SHOWN (sizeof(shown) / sizeof(*shown))

/* The paths, each of which is written once, and the limit for all texts. */
struct process_texts {
	const char **exe; /* owned, the strings are not; sorted, each once */
	size_t nr;
	size_t nr_of_cost[TEXT_SHOWN + 1]; /* texts of each cost; the last: or of more */
	size_t limit;                      /* bytes of the page that each text is cut to */
};

static int path_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int texts_collect_paths(struct process_texts *t, const struct report_processes *all)
{
	size_t nr = 0;

	t->exe = calloc(all->nr + 1, sizeof(*t->exe));
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

/* Short texts are kept whole, the limit for long ones is the largest with which all fit. */
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
}

static void processes_put_fields(struct jsonw *j)
{
	static const char *const names[] = { "pid",           "ppid",          "comm", "exe",
					     "args",          "start",         "end",  "ended",
					     "threads_total", "rss_peak_bytes" };

	jsonw_array(j, "fields");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		jsonw_string(j, NULL, names[i]);
	for (size_t i = 0; i < NR_SHOWN; i++)
		jsonw_string(j, NULL, metric_get(shown[i])->key);
	jsonw_array_end(j);
}

/* Negative where an attached process started before the run. */
static void process_put_time(struct jsonw *j, uint64_t epoch_ns, uint64_t start_ns)
{
	if (epoch_ns >= start_ns)
		jsonw_decimal(j, NULL, (epoch_ns - start_ns) / 1000, 6);
	else /* whole seconds will do */
		jsonw_int(j, NULL, -(int64_t)((start_ns - epoch_ns) / 1000000000));
}

/* "ended" is its exit code, its signal as a negative number, or its state where it goes on. */
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

/* Of times microseconds will do. */
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

static void process_put_row(struct jsonw *j, const struct report_process *r,
			    const struct process_texts *t, uint64_t start_ns)
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

	if (!err)
		err = texts_measure(&texts, all, text_bytes);
	if (err)
		return err;
	jsonw_object(j, "processes");
	jsonw_uint(j, "total", all->total);
	if (all->nr > 1) /* of one process the table says all */
		jsonw_bool(j, "timeline", true);
	texts_put_paths(j, &texts);
	processes_put_fields(j);
	jsonw_array(j, "rows");
	for (size_t i = 0; i < all->nr; i++)
		process_put_row(j, &all->list[i], &texts, start_ns);
	jsonw_array_end(j);
	jsonw_object_end(j);
	free(texts.exe);
	return 0;
}
