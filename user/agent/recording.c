// SPDX-License-Identifier: BSD-2-Clause
#include "agent/recording.h"
#include "base/jansson_memory.h"
#include "base/memory.h"
#include "run/rewriter.h"

#include "base/clock.h"
#include "base/message.h"
#include "base/line_stream.h"
#include "base/log.h"
#include "store/edit.h"
#include "store/remove.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_LINE_BYTES (8UL << 20)
#define SOONEST_NS (400 * NSEC_PER_MSEC) /* between two transactions */
#define LATEST_NS NSEC_PER_SEC           /* from a line to its transaction */
#define RETRY_NS (5 * NSEC_PER_SEC)      /* after a failed transaction */
#define SILENT_NS (300 * NSEC_PER_SEC)   /* after which a run without a line counts as lost */
#define MOST_ENDED 10000                 /* runs that wait for space on the disk */
#define MOST_FAILURES 3                  /* of a run before it is given up */
#define ATTEMPTS_AT_END 10

struct recording {
	const struct history_options *o;
	int stream_fd, control_fd;
	struct line_stream lines;
	struct line line;
	struct open_runs runs;
	struct store_writer writer;
	struct retention retention;
	bool is_open, is_failing, is_batch_end;
	uint64_t due_ns, last_ns; /* CLOCK_MONOTONIC: the next transaction, and the last one */
	uint64_t kept, lost;      /* runs */
	uint64_t reported_kept, reported_lost;
};

static struct open_run *run_of_line(struct recording *r)
{
	const char *uuid = json_string_value(json_object_get(r->line.tree, "run"));
	struct open_run *run = uuid ? open_runs_find(&r->runs, uuid) : NULL;

	if (uuid && !run)
		run = open_runs_add(&r->runs, uuid);
	if (run)
		run->last_line_ns = clock_ns(CLOCK_MONOTONIC);
	return run;
}

/* Returns the line without the key "run" of the stream; NULL if out of memory. */
static char *line_of_run(const struct line *line)
{
	struct jsonw j = { 0 };
	char *text;

	json_object_del(line->tree, "run");
	rewrite_line(&j, line);
	text = j.failed || !j.text ? NULL
				   : memory_strndup(j.text, j.used - 1); /* without the newline */
	jsonw_done(&j);
	return text;
}

/* A step of Slurm is a span of its job: users look for the job, as in sacct. */
static void run_note_folding(struct open_run *run, const json_t *meta)
{
	const json_t *job = json_object_get(meta, "node_job");
	const char *kind = json_string_value(json_object_get(job, "kind"));
	const char *within = json_string_value(json_object_get(job, "within"));

	if (kind && within && !strcmp(kind, "slurm-step") && strlen(within) < UUID_BYTES)
		snprintf(run->folded_into, sizeof(run->folded_into), "%s", within);
}

/* Returns whether the run has become a span of its job. Otherwise it is kept as a run. */
static bool run_fold(struct recording *r, struct open_run *run)
{
	struct open_run *job = open_runs_find(&r->runs, run->folded_into);
	json_t *meta = job && job->meta && !job->summary
			       ? jansson_loads(run->meta, JSON_ALLOW_NUL, NULL)
			       : NULL;
	const json_t *label = json_object_get(meta, "node_job");
	const char *name = json_string_value(json_object_get(label, "name"));
	bool is_folded;

	is_folded = name && open_run_take_step(job, member_read_epoch(meta, "start_time"), name,
					       line_of_run(&r->line));
	json_decref(meta);
	if (!is_folded)
		run->folded_into[0] = '\0';
	run->is_folded = is_folded;
	return is_folded;
}

static void history_keep_meta(struct recording *r, const char *text, size_t n)
{
	struct open_run *run = line_check_meta(&r->line) ? NULL : run_of_line(r);
	const json_t *interval = json_object_get(r->line.tree, "interval_seconds");
	char *copy;

	if (!run || (run->meta && !strncmp(run->meta, text, n) && !run->meta[n]))
		return;
	copy = memory_strndup(text, n);
	if (!copy)
		return;
	run->has_new_meta |= run->meta != NULL;
	free(run->meta);
	run->meta = copy;
	run_note_folding(run, r->line.tree);
	run->interval_ns = (uint64_t)(json_number_value(interval) * NSEC_PER_SEC);
	run->is_searched = run->kept.id != 0;
}

static void history_keep_sample(struct recording *r)
{
	struct open_run *run = run_of_line(r);

	if (!run || run->summary || run->folded_into[0])
		return;
	open_run_take_sample(run, &r->line.sample);
}

static void history_keep_summary(struct recording *r)
{
	struct open_run *run = run_of_line(r);

	if (!run || run->summary)
		return;
	run->elapsed_ns = r->line.summary.wall_ns;
	if (run->folded_into[0] && run_fold(r, run))
		return;
	if (r->runs.nr_ended < MOST_ENDED)
		open_run_take_summary(run, line_of_run(&r->line));
	r->lost += !run->summary;
	r->runs.nr_ended += run->summary != NULL;
}

static void history_take_line(void *context, const char *text, size_t n)
{
	struct recording *r = context;
	const char *kind;

	if (!text || line_read(&r->line, text, --n)) /* too long a line is skipped */
		return;
	if (!r->due_ns)
		r->due_ns = clock_ns(CLOCK_MONOTONIC) + LATEST_NS;
	kind = json_string_value(json_object_get(r->line.tree, "kind"));
	if (r->line.kind == LINE_META)
		history_keep_meta(r, text, n);
	else if (r->line.kind == LINE_SAMPLE)
		history_keep_sample(r);
	else if (r->line.kind == LINE_SUMMARY)
		history_keep_summary(r);
	else if (kind && !strcmp(kind, "agent")) /* the last line of an interval */
		r->is_batch_end = true;
}

/* Reads lines for at most @wait_ms. Returns 1, 0 at the end of the stream, or a negative errno. */
static int history_read(struct recording *r, int wait_ms)
{
	struct pollfd p = { .fd = r->stream_fd, .events = POLLIN };
	int err;

	if (poll(&p, 1, wait_ms) <= 0)
		return 1;
	err = line_stream_read(&r->lines, r->stream_fd, history_take_line, r);
	if (err == -ENODATA)
		return 0;
	return err ? err : 1;
}

static int due_runs_write(struct recording *r)
{
	int err = 0;

	for (struct open_run *run = r->runs.first; !err && run; run = run->next) {
		if (!open_run_is_due(run, r->o->min_ns))
			continue;
		err = open_run_write(run, &r->writer);
		/* a fault of one run must not hold up the others */
		if (err == -EIO || err == -ESTALE || err == -EFBIG)
			run->failures++;
	}
	store_writer_select(&r->writer, NULL);
	return err;
}

/* Returns whether the run can be removed from the list. */
static bool run_is_over(struct recording *r, const struct open_run *run, bool is_committed)
{
	if (run->failures >= MOST_FAILURES) { /* the fault is this run's own */
		r->lost++;
		return true;
	}
	if (run->summary && is_committed) {
		r->kept += run->kept.id != 0;
		r->lost += !run->kept.id;
		return true;
	}
	return run->has_vanished && is_committed;
}

/* Returns whether a run is silent for so long that its summary must have been lost. */
static bool run_is_silent(const struct open_run *run)
{
	uint64_t silent_ns = clock_ns(CLOCK_MONOTONIC) - run->last_line_ns;

	return silent_ns > SILENT_NS && silent_ns / 3 > run->interval_ns;
}

static void runs_settle(struct recording *r, bool is_committed)
{
	struct open_run **at = &r->runs.first;

	while (*at) {
		bool was_touched = (*at)->is_touched;

		if (was_touched)
			open_run_settle(*at, is_committed);
		if (run_is_over(r, *at, is_committed && was_touched))
			open_runs_remove(&r->runs, at);
		else
			at = &(*at)->next;
	}
}

/* Returns whether the run has ended, and is a span or was too short. */
static bool run_is_not_kept(const struct open_run *run, uint64_t min_ns)
{
	return run->is_folded || (run->has_vanished && run->folded_into[0]) ||
	       (run->summary && run->elapsed_ns < min_ns && !run->kept.id);
}

/* Removes ended runs that are not kept. Returns whether any run has something to write. */
static bool runs_have_due(struct recording *r)
{
	struct open_run **at = &r->runs.first;
	bool has_due = false;

	while (*at) {
		if (run_is_not_kept(*at, r->o->min_ns)) {
			open_runs_remove(&r->runs, at);
			continue;
		}
		(*at)->has_vanished |= run_is_silent(*at);
		has_due |= open_run_is_due(*at, r->o->min_ns);
		at = &(*at)->next;
	}
	return has_due;
}

static int transaction_make(struct recording *r)
{
	int err = r->is_open ? 0 : store_writer_open(&r->writer, r->o->store);

	if (!err && !r->is_open) {
		err = open_runs_prepare(&r->writer.d);
		if (err)
			store_writer_close(&r->writer);
	}
	r->is_open = !err;
	if (!err)
		err = store_writer_begin(&r->writer);
	if (!err)
		err = due_runs_write(r);
	return err ? err : store_writer_commit(&r->writer, 0);
}

static void transaction_report(struct recording *r, int err)
{
	const char *why = r->writer.d.why[0] ? r->writer.d.why : strerror(-err);

	if (err == -EAGAIN)
		return;
	if (err && !r->is_failing)
		log_warn("cannot write the history to the store '%s': %s; retrying", r->o->store,
			 why);
	else if (!err && r->is_failing)
		log_warn("writing the history again; %llu jobs are missing in it",
			 (unsigned long long)r->lost);
	if (r->is_failing != (err != 0) || r->kept != r->reported_kept ||
	    r->lost != r->reported_lost)
		control_send(r->control_fd, CONTROL_KEPT, (int)r->lost, r->kept, err ? why : "");
	r->is_failing = err != 0;
	r->reported_kept = r->kept;
	r->reported_lost = r->lost;
}

/*
 * Rolls back. After an error that waiting does not fix, the file is opened anew: it may be another
 * one.
 */
static void transaction_undo(struct recording *r, int err)
{
	if (!r->is_open)
		return;
	store_writer_undo(&r->writer);
	if (err == -EAGAIN)
		return;
	store_writer_close(&r->writer);
	r->is_open = false;
}

static int history_write(struct recording *r)
{
	int err = runs_have_due(r) || !r->is_open ? transaction_make(r) : 0;

	r->last_ns = clock_ns(CLOCK_MONOTONIC);
	r->due_ns = err ? r->last_ns + (err == -EAGAIN ? SOONEST_NS : RETRY_NS) : 0;
	r->is_batch_end = false;
	if (err)
		transaction_undo(r, err);
	runs_settle(r, !err);
	if (!err) /* a failure loses nothing */
		retention_step(&r->retention, &r->writer.d);
	transaction_report(r, err);
	return err;
}

/* Returns the time to wait for the stream; -1: until a line comes; 0: time to write. */
static int history_wait_ms(const struct recording *r)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), due_ns = r->due_ns;

	if (r->is_batch_end && !r->is_failing)
		due_ns = r->last_ns + SOONEST_NS;
	if (!due_ns)
		return -1;
	return due_ns > now_ns ? (int)((due_ns - now_ns) / NSEC_PER_MSEC) + 1 : 0;
}

static void history_record(struct recording *r)
{
	struct timespec pause = { .tv_nsec = SOONEST_NS };
	int got = 1;

	while (got > 0) {
		int wait_ms = history_wait_ms(r);

		if (wait_ms)
			got = history_read(r, wait_ms);
		else
			history_write(r);
	}
	if (got < 0)
		log_warn("the history process cannot read from the agent: %s", strerror(-got));
	for (int i = 0; i < ATTEMPTS_AT_END && history_write(r) == -EAGAIN; i++)
		nanosleep(&pause, NULL);
}

int recording_run(const struct history_options *o, int stream_fd, int control_fd, bool is_again)
{
	struct recording *r = memory_calloc(1, sizeof(*r)); /* too large for the stack */

	if (!r)
		return -ENOMEM;
	r->o = o;
	r->lines.most = MOST_LINE_BYTES;
	r->stream_fd = stream_fd;
	r->control_fd = control_fd;
	r->due_ns = 1; /* so that a store that cannot be opened is reported at once */
	retention_init(&r->retention, o->keep_ns, o->keep_bytes);
	if (is_again) /* the previous process may have read part of a line */
		control_send(control_fd, CONTROL_GREET, 0, 0, NULL);
	history_record(r);
	if (r->is_open)
		store_writer_close(&r->writer);
	open_runs_done(&r->runs);
	line_done(&r->line);
	line_stream_done(&r->lines);
	free(r);
	return 0;
}

#define MOST_RUNS 100000
static size_t bucket_of(const char *uuid)
{
	uint32_t h = 2166136261U;

	for (; *uuid; uuid++)
		h = (h ^ (unsigned char)*uuid) * 16777619U;
	return h % OPEN_RUN_BUCKETS;
}

struct open_run *open_runs_find(const struct open_runs *all, const char *uuid)
{
	struct open_run *run = all->buckets[bucket_of(uuid)];

	while (run && strcmp(run->uuid, uuid) != 0)
		run = run->in_bucket;
	return run;
}

struct open_run *open_runs_add(struct open_runs *all, const char *uuid)
{
	struct open_run **bucket = &all->buckets[bucket_of(uuid)];
	struct open_run *run = all->nr < MOST_RUNS && strlen(uuid) < UUID_BYTES
				       ? memory_calloc(1, sizeof(*run))
				       : NULL;

	if (!run)
		return NULL;
	snprintf(run->uuid, sizeof(run->uuid), "%s", uuid);
	run->in_bucket = *bucket;
	*bucket = run;
	run->next = all->first;
	all->first = run;
	all->nr++;
	return run;
}

void open_runs_remove(struct open_runs *all, struct open_run **at)
{
	struct open_run *run = *at, **in = &all->buckets[bucket_of(run->uuid)];

	while (*in != run)
		in = &(*in)->in_bucket;
	*in = run->in_bucket;
	*at = run->next;
	all->nr--;
	all->nr_ended -= run->summary != NULL;
	open_run_free(run);
}

void open_runs_done(struct open_runs *all)
{
	while (all->first)
		open_runs_remove(all, &all->first);
}

#define STEP_NS (100 * NSEC_PER_MSEC) /* most time in which lines are not read */
#define PERIOD_NS (60 * NSEC_PER_SEC)
#define DAY_NS (24ULL * 3600 * NSEC_PER_SEC)
#define STEADY_NS (6ULL * 3600 * NSEC_PER_SEC) /* by then the clock has been set */
#define CLOCK_STEP_NS ((int64_t)(60 * NSEC_PER_SEC))
#define PAGES_AT_ONCE 500

struct retaining {
	const struct retention *r;
	bool looks_for_old;
	uint64_t before_ns; /* epoch */
	uint64_t until_ns;  /* CLOCK_MONOTONIC */
	bool has_more;
};

void retention_init(struct retention *r, uint64_t keep_ns, uint64_t keep_bytes)
{
	*r = (struct retention){ .keep_ns = keep_ns, .keep_bytes = keep_bytes };
	identity_self(r->self);
}

/* Returns the bytes in use, or with @with_free the size of the file. */
static int pages_measure(struct database *d, bool with_free, uint64_t *bytes)
{
	int64_t pages, unused = 0, size = 0;
	int err = database_number(d, &pages, NULL, "PRAGMA page_count");

	if (!err && !with_free)
		err = database_number(d, &unused, NULL, "PRAGMA freelist_count");
	if (!err)
		err = database_number(d, &size, NULL, "PRAGMA page_size");
	*bytes = err ? 0 : (uint64_t)((pages - unused) * size);
	return err;
}

#define NOT_OPEN "(ended OR ifnull(writer, '') <> %Q)"

static int run_find_removable(struct database *d, const struct retaining *g, int64_t *id,
			      bool *is_none)
{
	uint64_t used;
	int err = pages_measure(d, false, &used);

	*is_none = true;
	if (!err && used > g->r->keep_bytes)
		err = database_number(d, id, is_none,
				      "SELECT id FROM run WHERE " NOT_OPEN " ORDER BY id LIMIT 1",
				      g->r->self);
	else if (!err && g->looks_for_old)
		err = database_number(d, id, is_none,
				      "SELECT id FROM run WHERE seen_time_ns < %lld AND " NOT_OPEN
				      " ORDER BY id LIMIT 1",
				      (long long)g->before_ns, g->r->self);
	return err;
}

static int runs_remove_excess(struct database *d, void *context)
{
	struct retaining *g = context;
	bool is_none = false;
	int64_t id;
	int err = 0;

	while (!err && !(err = run_find_removable(d, g, &id, &is_none)) && !is_none) {
		if (clock_ns(CLOCK_MONOTONIC) > g->until_ns) {
			g->has_more = true;
			break;
		}
		err = remove_head(d, id);
		if (!err)
			err = remove_rows(d, id);
	}
	return err;
}

/* New runs reuse the space of removed ones; only the excess is given back. */
static int space_trim(struct retention *r, struct database *d)
{
	uint64_t file, used = 0;
	int err = pages_measure(d, true, &file);

	if (!err)
		err = pages_measure(d, false, &used);
	if (err || file == used || (file <= r->keep_bytes && used >= file / 2))
		return err;
	return database_runf(d, "PRAGMA incremental_vacuum(%d)", PAGES_AT_ONCE);
}

static bool clock_is_steady(struct retention *r, uint64_t epoch_ns)
{
	uint64_t boot_ns = clock_ns(CLOCK_BOOTTIME);
	int64_t of_boot_ns = (int64_t)(epoch_ns - boot_ns), step_ns;

	step_ns = of_boot_ns - r->epoch_of_boot_ns;
	if (!r->steady_since_ns || step_ns > CLOCK_STEP_NS || step_ns < -CLOCK_STEP_NS) {
		r->epoch_of_boot_ns = of_boot_ns;
		r->steady_since_ns = boot_ns;
	}
	return boot_ns - r->steady_since_ns >= STEADY_NS;
}

/*
 * Sets @are if the store has a run of each kept day before @epoch_ns, so that the clock cannot have
 * jumped.
 */
static int days_are_complete(const struct retention *r, struct database *d, uint64_t epoch_ns,
			     bool *are)
{
	int64_t days = 0, kept = (int64_t)(r->keep_ns / DAY_NS);
	int err = database_number(d, &days, NULL,
				  "SELECT count(DISTINCT (%lld - seen_time_ns) / %lld) FROM run "
				  "WHERE seen_time_ns > %lld AND seen_time_ns <= %lld",
				  (long long)epoch_ns, (long long)DAY_NS,
				  (long long)(epoch_ns - r->keep_ns), (long long)epoch_ns);

	*are = kept > 1 && days >= kept; /* a single day would prove nothing */
	return err;
}

/* A clock that is ahead would make all runs too old. */
static int age_is_known(struct retention *r, struct database *d, uint64_t epoch_ns, bool *is_known)
{
	*is_known = clock_is_steady(r, epoch_ns);
	if (*is_known || epoch_ns <= r->keep_ns)
		return 0;
	return days_are_complete(r, d, epoch_ns, is_known);
}

int retention_step(struct retention *r, struct database *d)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), epoch_ns = clock_ns(CLOCK_REALTIME), used;
	struct retaining g = { .r = r,
			       .before_ns = epoch_ns > r->keep_ns ? epoch_ns - r->keep_ns : 0,
			       .until_ns = now_ns + STEP_NS };
	bool is_due = now_ns >= r->due_ns;
	int err = pages_measure(d, false, &used);

	if (!err && is_due)
		err = age_is_known(r, d, epoch_ns, &g.looks_for_old);
	if (!err && (g.looks_for_old || used > r->keep_bytes))
		err = database_transact(d, runs_remove_excess, &g);
	if (!g.has_more && is_due)
		r->due_ns = now_ns + PERIOD_NS;
	return err ? err : space_trim(r, d);
}
