// SPDX-License-Identifier: BSD-2-Clause
/* Advises what to request for a part of a run, such as a job of a workflow, from its spans. */
#include "study/advice.h"

#include "base/memory.h"
#include "run/span_sums.h"
#include "text/format.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIB (1ULL << 20)
#define MOST_NAMES 4096 /* spans of further names are left out */
#define NAME_COLUMNS 60

static struct span_group *span_group_append(struct span_groups *groups, const char *name)
{
	size_t room = groups->room ? groups->room * 2 : 16;
	struct span_group *g;

	if (groups->nr == groups->room) {
		g = memory_reallocarray(groups->all, room, sizeof(*g));
		if (!g)
			return NULL;
		groups->all = g;
		groups->room = room;
	}
	g = &groups->all[groups->nr];
	*g = (struct span_group){ .name = memory_strdup(name), .last_run = SIZE_MAX };
	if (!g->name)
		return NULL;
	groups->nr++;
	return g;
}

static struct span_group *span_group_find(struct span_groups *groups, const char *name)
{
	for (size_t i = 0; i < groups->nr; i++)
		if (!strcmp(groups->all[i].name, name))
			return &groups->all[i];
	return NULL;
}

static int64_t span_number(const struct summary *s, enum span_value v)
{
	uint64_t value;

	return span_value_get(s, v, &value) && value <= INT64_MAX ? (int64_t)value : -1;
}

/* A peak that is 0 is not in the line of a run either. */
static void span_take_gpus(struct run_request *r, const struct summary *used)
{
	for (size_t i = 0; i < used->total.nr_instances; i++)
		r->has_other_gpus |= !strcmp(used->total.instances[i].dimension, "gpu") &&
				     !gpu_is_of_nvidia(used->total.instances[i].name);
	if (used->gpus_held_peak)
		r->gpus_held = (int64_t)used->gpus_held_peak;
	if (used->gpus_used_peak)
		r->milli_gpus = (int64_t)used->gpus_used_peak;
	if (used->gpu_memory_peak_bytes)
		r->gpu_bytes = (int64_t)used->gpu_memory_peak_bytes;
	if (summary_has_total(used, M_gpu))
		r->gpu_ns = (int64_t)used->total.value[M_gpu];
}

static int span_group_add(struct span_group *g, const struct span *s, const struct answer *answer)
{
	const struct summary *used = &s->used;
	size_t room = g->requests_room ? g->requests_room * 2 : 16, at = g->spans.nr;
	int64_t peak = span_number(used, SPAN_PEAK), upper = span_number(used, SPAN_PEAK_UPPER);
	const struct stored_run run = {
		.state = s->end_epoch_ns ? RUN_FINISHED : RUN_UNFINISHED,
		.is_complete = used->complete,
		.exit_code = used->has_status ? used->exit_code : -1,
		.signal = used->has_status ? used->signal : -1,
		.wall_ns = span_number(used, SPAN_WALL),
		.cpu_ns = span_number(used, SPAN_CPU),
		.rss_peak_bytes = peak > 0 ? peak : upper,
	};
	struct run_request *requests;

	if (at == g->requests_room) {
		requests = memory_reallocarray(g->requests, room, sizeof(*requests));
		if (!requests)
			return -ENOMEM;
		g->requests = requests;
		g->requests_room = room;
	}
	g->requests[at] = RUN_REQUEST_UNKNOWN;
	g->requests[at].needed_bytes = (int64_t)answer->needed.bytes;
	g->requests[at].write_bytes = span_number(used, SPAN_WRITTEN);
	span_take_gpus(&g->requests[at], used);
	return stored_runs_append(&g->spans, &run);
}

/* Requests are rounded, so they may be equal where the memory is not. */
static bool answer_is_larger(const struct answer *a, const struct answer *than)
{
	if (a->request_bytes != than->request_bytes)
		return a->request_bytes > than->request_bytes;
	return a->needed.bytes > than->needed.bytes;
}

int span_groups_add(struct span_groups *groups, const struct span *s, size_t run)
{
	struct span_group *g = span_group_find(groups, s->label.name);
	struct answer answer;

	if (!g && groups->nr == MOST_NAMES) {
		groups->left_out++;
		return 0;
	}
	if (!g)
		g = span_group_append(groups, s->label.name);
	if (!g)
		return -ENOMEM;
	if (g->last_run != run)
		g->nr_runs++;
	g->last_run = run;
	answer_of_span(&answer, &s->used);
	if (s->end_epoch_ns && answer_is_larger(&answer, &g->answer))
		g->answer = answer;
	return span_group_add(g, s, &answer);
}

static int span_group_compare(const void *a, const void *b)
{
	return strcmp(((const struct span_group *)a)->name, ((const struct span_group *)b)->name);
}

void span_groups_sort(struct span_groups *groups)
{
	if (groups->nr)
		qsort(groups->all, groups->nr, sizeof(*groups->all), span_group_compare);
}

void span_groups_done(struct span_groups *groups)
{
	for (size_t i = 0; i < groups->nr; i++) {
		free(groups->all[i].name);
		free(groups->all[i].requests);
		stored_runs_done(&groups->all[i].spans);
	}
	free(groups->all);
	*groups = (struct span_groups){ 0 };
}

/*
 * Adds the margin of the request to a first request, which has none. If it is for the largest span
 * it becomes the request.
 */
static void allocation_add_margin(struct allocation *first, const struct advice *a)
{
	const double most = (double)a->memory_request;

	if (first->request >= (double)a->memory.largest)
		first->request = most;
	else
		first->request = fmin(first->request * (100 + ANSWER_MARGIN_PERCENT) / 100, most);
}

int span_group_advise(const struct span_group *g, const struct node *node, struct advice *a)
{
	const struct advice_from from = { .requests = g->requests,
					  .nr_requests = g->spans.nr,
					  .node = *node };
	int err = advice_make(a, &g->spans, &from);

	if (err)
		return err;
	if (g->answer.basis != REQUEST_NONE)
		a->memory_request = (g->answer.request_bytes + MIB - 1) / MIB * MIB;
	allocation_add_margin(&a->least_waste, a);
	allocation_add_margin(&a->most_runs, a);
	return 0;
}

static void span_advice_head(FILE *f, const struct span_group *g, const struct advice *a)
{
	char count[FORMAT_BYTES];

	format_beginning(f, *g->name ? g->name : "(no name)", NAME_COLUMNS);
	fprintf(f, ": %s span%s", format_count(count, a->nr), a->nr == 1 ? "" : "s");
	fprintf(f, " of %s run%s", format_count(count, g->nr_runs), g->nr_runs == 1 ? "" : "s");
	if (a->nr_failed)
		fprintf(f, ", %zu failed", a->nr_failed);
	if (a->nr_incomplete)
		fprintf(f, ", %zu incomplete", a->nr_incomplete);
	if (a->nr_left)
		fprintf(f, "; %zu not used: not ended, or without values", a->nr_left);
	fputs("; memory ", f);
	answer_request_text(f, &g->answer);
	fputc('\n', f);
}

void span_advice_print(FILE *f, const struct span_group *g, const struct advice *a,
		       enum advice_for to)
{
	if (to)
		fputs(to == FOR_NEXTFLOW ? "// " : "# ", f);
	span_advice_head(f, g, a);
	if (to)
		advice_lines(f, a, to);
	else
		advice_print_needs(f, a);
}

void span_advice_json(struct jsonw *j, const struct span_group *g, const struct advice *a)
{
	jsonw_object(j, NULL);
	jsonw_string(j, "name", g->name);
	jsonw_uint(j, "spans", a->nr);
	advice_json_members(j, a, "runs", g->nr_runs);
	jsonw_bool(j, "request_is_least", g->answer.is_least);
	jsonw_object_end(j);
}
