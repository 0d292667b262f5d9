// SPDX-License-Identifier: BSD-2-Clause
/* Replies with the small curves of the list of runs: cores in use over the time of each run. */
#include "base/clock.h"
#include "base/json.h"
#include "store/source.h"
#include "web/pack.h"
#include "web/web.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SPARK_POINTS 40
#define MOST_SPARKS 100
#define SPARKS_NS (2 * NSEC_PER_SEC) /* the curves of later runs are then left out */

struct spark {
	uint64_t wall_ns;
	uint64_t at_ns, cpu_ns; /* of the sample before */
	double cores[SPARK_POINTS];
};

/* Spreads the CPU time since the sample before over the part of the curve that it took. */
static int spark_take(void *context, struct line *l)
{
	struct spark *s = context;
	const struct sample *smp = &l->sample;
	double per_point = (double)s->wall_ns / SPARK_POINTS, used, from, to;

	if (!metric_has(&smp->have, M_cpu) || smp->elapsed_ns <= s->at_ns)
		return 0;
	used = (double)(smp->value[M_cpu] - s->cpu_ns) / (double)(smp->elapsed_ns - s->at_ns);
	from = (double)s->at_ns / per_point;
	to = (double)smp->elapsed_ns / per_point;
	if (smp->value[M_cpu] < s->cpu_ns)
		used = 0;
	for (int i = (int)from; i < SPARK_POINTS && i < to; i++) {
		double begin = from > i ? from : i, end = to < i + 1 ? to : i + 1;

		s->cores[i] += used * (end - begin);
	}
	s->at_ns = smp->elapsed_ns;
	s->cpu_ns = smp->value[M_cpu];
	return 0;
}

struct sparks {
	struct run_finder finder;
	struct source source; /* stays open while runs are in the same store */
	struct jsonw json;
	uint64_t begun_ns;
	size_t nr;
};

static int sparks_open(struct source *s, const char *path, const struct stored_run *run)
{
	int err;

	if (s->ops && source_switch_stored(s, path, run->id, run->state))
		return 0;
	if (s->ops)
		source_close(s);
	*s = (struct source){ 0 };
	err = source_open_stored(s, path, run->id, run->state);
	s->is_coarse = true;
	return err;
}

static int spark_read(struct sparks *all, struct spark *s, const char *path,
		      const struct stored_run *run)
{
	struct metric_set only = { 0 };
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);
	int err;

	*s = (struct spark){ .wall_ns = run->wall_ns > 0 ? (uint64_t)run->wall_ns : 0 };
	if (run->state == RUN_RUNNING && now_ns > run->start_epoch_ns)
		s->wall_ns = now_ns - run->start_epoch_ns;
	if (!s->wall_ns)
		return -ENODATA;
	metric_put(&only, M_cpu);
	err = sparks_open(&all->source, path, run);
	all->source.only = &only;
	if (!err)
		err = source_each(&all->source, PART(LINE_SAMPLE), spark_take, s);
	all->source.only = NULL;
	return err || !s->at_ns ? -ENODATA : 0;
}

static void spark_write(const struct spark *s, const char *ref, struct jsonw *j)
{
	jsonw_array(j, ref);
	for (int i = 0; i < SPARK_POINTS; i++)
		jsonw_decimal(j, NULL, (uint64_t)(s->cores[i] * 1000), 3);
	jsonw_array_end(j);
}

static enum MHD_Result sparks_add(void *context, enum MHD_ValueKind kind, const char *key,
				  const char *ref)
{
	struct sparks *all = context;
	struct stored_run run = { 0 };
	struct spark spark;
	const char *path;

	(void)kind;
	if (strcmp(key, "run") != 0 || !ref || !run_ref_is_valid(ref) || all->nr++ >= MOST_SPARKS ||
	    clock_ns(CLOCK_MONOTONIC) - all->begun_ns > SPARKS_NS)
		return MHD_YES;
	if (!run_finder_find(&all->finder, ref, &run, &path) &&
	    !spark_read(all, &spark, path, &run))
		spark_write(&spark, ref, &all->json);
	stored_run_done(&run);
	return MHD_YES;
}

struct MHD_Response *reply_sparks(struct web *w, struct MHD_Connection *c, unsigned *status)
{
	struct sparks all = { .begun_ns = clock_ns(CLOCK_MONOTONIC) };
	struct MHD_Response *r;

	if (run_finder_begin(&all.finder, &w->store))
		return NULL;
	jsonw_object(&all.json, NULL);
	MHD_get_connection_values(c, MHD_GET_ARGUMENT_KIND, sparks_add, &all);
	jsonw_object_end(&all.json);
	if (all.source.ops)
		source_close(&all.source);
	run_finder_done(&all.finder);
	r = reply_json(c, &all.json);
	jsonw_done(&all.json);
	*status = MHD_HTTP_OK;
	return r;
}
