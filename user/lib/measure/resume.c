// SPDX-License-Identifier: BSD-2-Clause
#include "measure/resume.h"

#include "base/clock.h"
#include "base/memory.h"
#include "measure/kept.h"
#include "run/reader.h"
#include "run/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Members that are numbers: their type is a row of a table, so that each is written and read. */
struct number_row {
	const char *key;
	size_t offset;
	enum { U64, U32, FLAG, REAL } type;
};

#define NUMBER(s, member, type)                                                                    \
	{                                                                                          \
#member, offsetof(struct s, member), type                                          \
	}

/* Counts of the books when the view began. */
static const struct number_row base_numbers[] = {
	NUMBER(tally_view, base.repaired, U64),      NUMBER(tally_view, base.unrepaired, U64),
	NUMBER(tally_view, base.socket_misses, U64), NUMBER(tally_view, base.blocks_lost, U64),
	NUMBER(tally_view, base.peers_lost, U64),    NUMBER(tally_view, base.sockets_lost, U64),
};

static const struct number_row view_numbers[] = {
	NUMBER(tally_view, start_ns, U64),
	NUMBER(tally_view, epoch_less_boot_ns, U64),
	NUMBER(tally_view, stall.is_stalled, FLAG),
	NUMBER(tally_view, stall.is_reported, FLAG),
	NUMBER(tally_view, stall.checked_ns, U64),
	NUMBER(tally_view, stall.begun_ns, U64),
	NUMBER(tally_view, stall.since_ns, U64),
	NUMBER(tally_view, stall.work_ns, U64),
	NUMBER(tally_view, stall.work.busy_ns, U64),
	NUMBER(tally_view, stall.work.read_bytes, U64),
	NUMBER(tally_view, stall.work.written_bytes, U64),
};

static const struct number_row cores_numbers[] = {
	NUMBER(cores, cpus, U32),         NUMBER(cores, at_ns, U64),
	NUMBER(cores, cpu_ns, U64),       NUMBER(cores, from_ns, U64),
	NUMBER(cores, before_ns, U64),    NUMBER(cores, busy, REAL),
	NUMBER(cores, busy_before, REAL), NUMBER(cores, has_before, FLAG),
};

static const struct number_row tally_numbers[] = {
	NUMBER(tally, bound.nr_before, U64),
	NUMBER(tally, bound.since_ns, U64),
	NUMBER(tally, bound.before_ns, U64),
	NUMBER(tally, bound.last_pages, U64),
	NUMBER(tally, bound.peak_pages, U64),
	NUMBER(tally, bound.is_unknown, FLAG),
	NUMBER(tally, bound.mark_fell, FLAG),
	NUMBER(tally, forgone, U64),
	NUMBER(tally, summary.wall_ns, U64),
	NUMBER(tally, summary.cores_peak, U64),
	NUMBER(tally, summary.seen.has_cgroup, FLAG),
	NUMBER(tally, summary.seen.has_cgroup_most, FLAG),
	NUMBER(tally, summary.seen.cgroup_bytes, U64),
	NUMBER(tally, summary.seen.cgroup_elapsed_ns, U64),
	NUMBER(tally, summary.seen.cgroup_most_bytes, U64),
	NUMBER(tally, summary.seen.has_pss, FLAG),
	NUMBER(tally, summary.seen.pss_bytes, U64),
	NUMBER(tally, summary.seen.pss_elapsed_ns, U64),
	NUMBER(tally, summary.seen.covered_rss_bytes, U64),
	NUMBER(tally, summary.seen.unread_rss_bytes, U64),
	NUMBER(tally, summary.seen.sample_rss_bytes, U64),
	NUMBER(tally, summary.seen.unmapped_bytes, U64),
};

static const struct number_row place_numbers[] = {
	NUMBER(job, account.tree, U64),
	NUMBER(job, account.cgroup, U64),
	NUMBER(job, heir, U64),
};

static const struct number_row job_numbers[] = {
	NUMBER(job, unread, U64),
	NUMBER(job, seeded_roots, U64),
	NUMBER(job, host_pressure.some_0_us, U64),
	NUMBER(job, host_pressure.full_0_us, U64),
	NUMBER(job, needed.cgroup.base_bytes, U64),
	NUMBER(job, needed.cgroup.base_most_bytes, U64),
	NUMBER(job, needed.cgroup.checked_bytes, U64),
	NUMBER(job, needed.machine_shared_bytes, U64),
	NUMBER(job, needed.mapped_bytes, U64),
	NUMBER(job, waits.off_ns, U64),
	NUMBER(job, pushed.counts.marks, U64),
	NUMBER(job, pushed.counts.metrics, U64),
	NUMBER(job, pushed.counts.dropped, U64),
	NUMBER(job, pushed.counts.refused, U64),
	NUMBER(job, pushed.counts.malformed, U64),
	NUMBER(job, pushed.has_come, FLAG),
};

#define NUMBERS(rows) rows, sizeof(rows) / sizeof(*(rows))

static void numbers_keep(const void *of, const struct number_row *rows, size_t nr, struct jsonw *j)
{
	for (size_t i = 0; i < nr; i++) {
		const void *at = (const char *)of + rows[i].offset;

		switch (rows[i].type) {
		case U64:
			jsonw_uint(j, rows[i].key, *(const uint64_t *)at);
			break;
		case U32:
			jsonw_uint(j, rows[i].key, *(const uint32_t *)at);
			break;
		case FLAG:
			jsonw_bool(j, rows[i].key, *(const bool *)at);
			break;
		case REAL:
			jsonw_double(j, rows[i].key, *(const double *)at);
			break;
		}
	}
}

static void numbers_resume(void *of, const struct number_row *rows, size_t nr, const json_t *o)
{
	for (size_t i = 0; i < nr; i++) {
		const json_t *v = json_object_get(o, rows[i].key);
		void *at = (char *)of + rows[i].offset;

		switch (rows[i].type) {
		case U64:
			*(uint64_t *)at = (uint64_t)json_integer_value(v);
			break;
		case U32:
			*(uint32_t *)at = (uint32_t)json_integer_value(v);
			break;
		case FLAG:
			*(bool *)at = json_is_true(v);
			break;
		case REAL:
			*(double *)at = json_number_value(v);
			break;
		}
	}
}

static void cores_keep(const struct cores *c, struct jsonw *j)
{
	jsonw_object(j, "cores");
	numbers_keep(c, NUMBERS(cores_numbers), j);
	jsonw_object_end(j);
}

static void counts_keep(struct jsonw *j, const char *key, const uint64_t *counts, size_t nr)
{
	jsonw_array(j, key);
	for (size_t i = 0; i < nr; i++)
		jsonw_uint(j, NULL, counts[i]);
	jsonw_array_end(j);
}

static void counts_resume(const json_t *array, uint64_t *counts, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		counts[i] = (uint64_t)json_integer_value(json_array_get(array, i));
}

/* Texts, as addresses exceed the numbers of JSON. */
static void holdings_keep(const struct holdings *all, struct jsonw *j, const char *key)
{
	char text[160];

	jsonw_array(j, key);
	for (size_t i = 0; i < all->nr; i++) {
		const struct holding *h = &all->all[i];

		snprintf(text, sizeof(text),
			 "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIx64 " %d %d %d",
			 h->start_ns, h->end_ns, h->pages, h->serial, h->mm, h->shares,
			 h->has_record, h->is_carried);
		jsonw_string(j, NULL, text);
	}
	jsonw_array_end(j);
}

static int holdings_resume(struct holdings *all, const json_t *array)
{
	size_t nr = json_array_size(array);

	if (!nr)
		return 0;
	all->all = memory_calloc(nr, sizeof(*all->all));
	if (!all->all)
		return -ENOMEM;
	all->room = nr;
	for (size_t i = 0; i < nr; i++) {
		const char *text = json_string_value(json_array_get(array, i));
		struct holding *h = &all->all[all->nr];
		int shares, has_record, is_carried;

		if (!text ||
		    sscanf(text,
			   "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNx64 " %d %d %d",
			   &h->start_ns, &h->end_ns, &h->pages, &h->serial, &h->mm, &shares,
			   &has_record, &is_carried) != 8)
			return -EBADMSG;
		h->shares = shares;
		h->has_record = has_record;
		h->is_carried = is_carried;
		all->nr++;
	}
	return 0;
}

void tally_keep(const struct tally *t, struct jsonw *j, const char *key)
{
	struct jsonw line = { 0 };

	jsonw_object(j, key);
	write_summary(&line, &t->summary);
	if (!line.failed)
		jsonw_bytes(j, "summary", line.text, line.used);
	j->failed |= line.failed;
	jsonw_done(&line);
	kept_write_account(j, "removed", &t->removed);
	holdings_keep(&t->bound.held, j, "held");
	holdings_keep(&t->bound.carried, j, "carried");
	numbers_keep(t, NUMBERS(tally_numbers), j);
	cores_keep(&t->summary.cores, j);
	jsonw_object_end(j);
}

static int summary_resume(struct summary *sum, const json_t *text)
{
	const bool has_oom_kills = sum->has_oom_kills;
	struct line line = { 0 };
	int err = line_read(&line, json_string_value(text) ? json_string_value(text) : "",
			    json_string_length(text));

	if (!err && line.kind != LINE_SUMMARY)
		err = -EBADMSG;
	if (!err) {
		summary_done(sum);
		*sum = line.summary;
		sum->has_oom_kills = has_oom_kills;
		line.summary = (struct summary){ 0 };
	}
	line_done(&line);
	return err;
}

/*
 * Makes an account of what is in the summary. Its processes count as moved out, as those that are
 * alive are counted again in the new books.
 */
static void account_of_summary(struct account *a, const struct summary *sum)
{
	const uint64_t *value = sum->total.value;

	*a = (struct account){ 0 };
#define TASK_METRIC(base, ...) a->base = value[M_##base];
#define SPLIT_METRIC TASK_METRIC
#define ACCOUNT_METRIC TASK_METRIC
#define NET_METRIC(base, ...) a->calls.base = value[M_##base];
#include "bpfmon/metrics.def"
	a->roots = sum->processes_total > a->forks ? sum->processes_total - a->forks : 0;
	a->processes = a->threads = 0;
	if (a->exits > a->forks + a->roots)
		a->exits = a->forks + a->roots;
	a->moved_out = a->forks + a->roots - a->exits;
}

int tally_resume(struct tally *t, const json_t *o, bool same_books)
{
	int err = summary_resume(&t->summary, json_object_get(o, "summary"));

	if (same_books)
		kept_read_account(json_object_get(o, "removed"), &t->removed);
	else
		account_of_summary(&t->removed, &t->summary);
	if (!err)
		err = holdings_resume(&t->bound.held, json_object_get(o, "held"));
	if (!err)
		err = holdings_resume(&t->bound.carried, json_object_get(o, "carried"));
	numbers_resume(t, NUMBERS(tally_numbers), o);
	numbers_resume(&t->summary.cores, NUMBERS(cores_numbers), json_object_get(o, "cores"));
	return err;
}

void summary_set_gap(struct summary *sum, const char *gap)
{
	sum->complete = false;
	snprintf(sum->reason, sizeof(sum->reason), "%s", gap);
}

/* Losses that this process counts, and the kernel does not, are added to the details lost. */
void tally_view_keep(struct tally_view *v, struct jsonw *j, const char *key)
{
	const uint64_t forgone = v->tally.forgone;

	v->tally.forgone += growth_since(v->books->unnamed, v->base.unnamed) +
			    growth_since(v->books->rows.lost, v->base.rows_lost);
	jsonw_object(j, key);
	jsonw_string(j, "id", v->run->id);
	jsonw_uint(j, "start_epoch_ns", v->run->start_epoch_ns);
	jsonw_uint(j, "elapsed_ns", v->smp.elapsed_ns);
	counts_keep(j, "losses", v->base.loss, NR_LOSSES);
	numbers_keep(v, NUMBERS(base_numbers), j);
	numbers_keep(v, NUMBERS(view_numbers), j);
	cores_keep(&v->cores, j);
	tally_keep(&v->tally, j, "tally");
	block_io_keep(&v->block_io, j);
	energy_part_keep(&v->energy, &v->books->energy, j);
	gpu_tally_keep(&v->tally.gpu, &v->books->gpus, j);
	jsonw_object_end(j);
	v->tally.forgone = forgone;
}

int tally_view_resume(struct tally_view *v, const json_t *o, bool same_books)
{
	const char *id = json_string_value(json_object_get(o, "id"));

	if (!id || strlen(id) >= sizeof(v->run->id))
		return -EBADMSG;
	snprintf(v->run->id, sizeof(v->run->id), "%s", id);
	v->run->start_epoch_ns = (uint64_t)json_integer_value(json_object_get(o, "start_epoch_ns"));
	if (same_books) {
		counts_resume(json_object_get(o, "losses"), v->base.loss, NR_LOSSES);
		numbers_resume(v, NUMBERS(base_numbers), o);
	}
	numbers_resume(v, NUMBERS(view_numbers), o);
	numbers_resume(&v->cores, NUMBERS(cores_numbers), json_object_get(o, "cores"));
	block_io_resume(&v->block_io, json_object_get(o, "block_io"), same_books);
	energy_part_begin(&v->energy, &v->books->energy, false);
	energy_part_resume(&v->energy, &v->books->energy, json_object_get(o, "energy"));
	v->tally.forgone +=
		gpu_tally_resume(&v->tally.gpu, &v->books->gpus, json_object_get(o, "gpus")) != 0;
	return tally_resume(&v->tally, json_object_get(o, "tally"), same_books);
}

static const struct number_row span_numbers[] = {
	NUMBER(live_span, id, U64),
	NUMBER(live_span, parent, U64),
	NUMBER(live_span, pid, U32),
	NUMBER(live_span, in_place, FLAG),
	NUMBER(live_span, start_epoch_ns, U64),
	NUMBER(live_span, account.tree, U64),
	NUMBER(live_span, account.cgroup, U64),
	NUMBER(live_span, before.tree, U64),
	NUMBER(live_span, before.cgroup, U64),
	NUMBER(live_span, serial, U64),
	NUMBER(live_span, start_boot_ns, U64),
	NUMBER(live_span, end_boot_ns, U64),
	NUMBER(live_span, left_serial, U64),
	NUMBER(live_span, is_kept, FLAG),
	NUMBER(live_span, has_ended, FLAG),
	NUMBER(live_span, nr_records, U64),
};

/* Its own usage so far, which new books do not have. */
static void span_put_totals(struct live_span *s)
{
	struct account own = s->tally.totals;

	account_add(&own, &s->tally.removed);
	tally_put_totals(&s->tally, &s->tally.summary.total, &own);
	s->tally.summary.processes_total = processes_born(&own);
}

static void live_spans_keep(const struct spans *all, struct jsonw *j)
{
	jsonw_uint(j, "last_span", all->last_id);
	jsonw_array(j, "spans");
	for (size_t i = 0; i < all->nr; i++) {
		struct live_span *s = all->all[i];

		span_put_totals(s);
		jsonw_object(j, NULL);
		jsonw_string(j, "name", s->label.name);
		jsonw_array(j, "tags");
		for (size_t k = 0; k < s->label.nr_tags; k++)
			jsonw_string(j, NULL, s->label.tags[k]);
		jsonw_array_end(j);
		numbers_keep(s, NUMBERS(span_numbers), j);
		tally_keep(&s->tally, j, "tally");
		gpu_tally_keep(&s->tally.gpu, &all->view->books->gpus, j);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
}

/* Copies name and tags to s->text, into which the label points. Returns 0 or a negative errno. */
static int label_resume(struct live_span *s, const json_t *o)
{
	const char *name = json_string_value(json_object_get(o, "name")), *tag;
	const json_t *tags = json_object_get(o, "tags");
	size_t bytes = name ? strlen(name) + 1 : 0;
	char *at;

	for (size_t i = 0; i < json_array_size(tags); i++)
		bytes += json_string_length(json_array_get(tags, i)) + 1;
	if (!name || json_array_size(tags) > MAX_SPAN_TAGS)
		return -EBADMSG;
	s->text = at = memory_calloc(1, bytes);
	if (!at)
		return -ENOMEM;
	s->label.name = at;
	at = stpcpy(at, name) + 1;
	for (size_t i = 0; i < json_array_size(tags); i++) {
		tag = json_string_value(json_array_get(tags, i));
		s->label.tags[s->label.nr_tags++] = at;
		at = stpcpy(at, tag ? tag : "") + 1;
	}
	return 0;
}

static int span_resume(struct spans *all, struct live_span *s, const json_t *o, bool same_books)
{
	int err;

	tally_init(&s->tally, all->view->tally.usable);
	s->tally.summary.has_oom_kills = all->view->tally.summary.has_oom_kills;
	all->all[all->nr++] = s;
	numbers_resume(s, NUMBERS(span_numbers), o);
	for (size_t i = 0; s->parent && i + 1 < all->nr; i++)
		if (all->all[i]->id == s->parent)
			s->above = all->all[i];
	if (s->above) {
		s->depth = s->above->depth + 1;
		s->above->nr_within++;
	}
	err = label_resume(s, o);
	if (!err)
		err = tally_resume(&s->tally, json_object_get(o, "tally"), same_books);
	if (!err)
		err = gpu_tally_resume(&s->tally.gpu, &all->view->books->gpus,
				       json_object_get(o, "gpus"));
	if (err || !same_books)
		return err;
	return books_own(all->view->books, &s->account, all->owner);
}

/* New books have no accounts of spans, which therefore end here. */
static void spans_end(struct spans *all, uint64_t end_boot_ns)
{
	for (size_t i = 0; i < all->nr; i++) {
		all->all[i]->has_ended = true;
		all->all[i]->end_boot_ns = end_boot_ns;
		all->all[i]->tally.summary.complete = false;
	}
	while (spans_write_left(all))
		;
}

static int spans_resume(struct spans *all, const json_t *o, bool same_books)
{
	const json_t *kept = json_object_get(o, "spans");
	size_t nr = json_array_size(kept);
	int err = 0;

	all->last_id = (uint64_t)json_integer_value(json_object_get(o, "last_span"));
	if (!nr)
		return 0;
	all->all = memory_calloc(nr, sizeof(struct live_span *));
	if (!all->all)
		return -ENOMEM;
	all->room = all->nr_left = nr;
	for (size_t i = 0; !err && i < nr; i++) {
		struct live_span *s = memory_calloc(1, sizeof(*s));

		err = s ? span_resume(all, s, json_array_get(kept, i), same_books) : -ENOMEM;
	}
	if (!same_books)
		spans_end(all, clock_ns(CLOCK_BOOTTIME));
	return err;
}

static void processes_keep(const struct job *job, struct jsonw *j)
{
	const struct row_list *rows = &job->view.tally.rows;

	jsonw_array(j, "processes");
	for (size_t i = 0; i < rows->nr; i++) {
		if (rows->all[i]->end_boot_ns)
			continue;
		jsonw_uint(j, NULL, rows->all[i]->pid);
		jsonw_uint(j, NULL, rows->all[i]->start_boot_ns);
	}
	jsonw_array_end(j);
}

/* Moves the processes of the run, which the new books have found, to its account. */
static int processes_resume(struct job *job, const json_t *array)
{
	size_t nr = json_array_size(array) / 2;
	struct known_pid *pids = memory_calloc(nr + 1, sizeof(*pids));
	int err;

	if (!pids)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		pids[i].pid = (pid_t)json_integer_value(json_array_get(array, 2 * i));
		pids[i].start_boot_ns =
			(uint64_t)json_integer_value(json_array_get(array, 2 * i + 1));
	}
	err = job_rejoin(job, pids, nr);
	free(pids);
	return err;
}

static void limits_keep(const struct job *job, struct jsonw *j)
{
	jsonw_array(j, "limits_hit");
	for (unsigned i = 0; i < job->spec->nr_limits; i++)
		jsonw_bool(j, NULL, job->limits.is_hit[i]);
	jsonw_array_end(j);
}

/* A soft limit is reported once. A hard one is exceeded again, and the run is ended again. */
static void limits_resume(struct job *job, const json_t *hit)
{
	for (unsigned i = 0; i < job->spec->nr_limits; i++)
		job->limits.is_hit[i] =
			job->spec->limits[i].is_soft && json_is_true(json_array_get(hit, i));
}

void job_keep(struct job *job, struct jsonw *j, const char *key)
{
	jsonw_object(j, key);
	tally_view_keep(&job->view, j, "view");
	numbers_keep(job, NUMBERS(place_numbers), j);
	numbers_keep(job, NUMBERS(job_numbers), j);
	kept_write_account(j, "baseline", &job->baseline);
	counts_keep(j, "waits", job->waits.ns, NR_WAITED);
	limits_keep(job, j);
	live_spans_keep(&job->spans, j);
	processes_keep(job, j);
	jsonw_object_end(j);
}

static int accounts_resume(struct job *job, const struct job_spec *spec, struct books *books,
			   const json_t *o, bool same_books)
{
	const struct account_key *key = &job->account;

	job_reopen(job, spec, books);
	if (!same_books)
		return processes_resume(job, json_object_get(o, "processes"));
	numbers_resume(job, NUMBERS(place_numbers), o);
	job->above = books_owner(books, &(struct account_key){ job->heir, key->cgroup });
	return books_own(books, key, job);
}

int job_resume(struct job *job, const struct job_spec *spec, struct books *books, const json_t *o,
	       bool same_books)
{
	int err = accounts_resume(job, spec, books, o, same_books);
	const json_t *waits = json_object_get(o, "waits");

	numbers_resume(job, NUMBERS(job_numbers), o);
	if (same_books)
		kept_read_account(json_object_get(o, "baseline"), &job->baseline);
	limits_resume(job, json_object_get(o, "limits_hit"));
	if (json_array_size(waits) == NR_WAITED)
		counts_resume(waits, job->waits.ns, NR_WAITED);
	if (!err)
		err = tally_view_resume(&job->view, json_object_get(o, "view"), same_books);
	return err ? err : spans_resume(&job->spans, o, same_books);
}
