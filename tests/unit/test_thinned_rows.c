// SPDX-License-Identifier: BSD-2-Clause
/* How few samples of a run of a node are stored, and what they still say. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "open_run_fixture.h"

/* What the samples of a run were, to compare its rows with. */
struct oracle {
	uint64_t cpu, forks, rss_peak, processes_peak, elapsed_ns, seed;
};

static uint64_t draw(struct oracle *o, uint64_t below)
{
	o->seed = o->seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (o->seed >> 33) % below;
}

/* Gives the run its next sample: now and then one like the last, for a while. */
static void put_random(struct open_run *run, struct oracle *o, bool is_idle, struct sample *smp)
{
	const uint64_t passed_ns = NSEC_PER_SEC + draw(o, 1000);

	smp->elapsed_ns = o->elapsed_ns += passed_ns;
	if (!is_idle) {
		sample_set(smp, M_cpu, o->cpu += draw(o, NSEC_PER_SEC));
		sample_set(smp, M_forks, o->forks += draw(o, 3));
		sample_set(smp, M_rss, draw(o, 1ULL << 40));
		sample_set(smp, M_processes, draw(o, 100));
	}
	sample_set(smp, M_lifetime, o->elapsed_ns);
	if (smp->value[M_rss] > o->rss_peak)
		o->rss_peak = smp->value[M_rss];
	if (smp->value[M_processes] > o->processes_peak)
		o->processes_peak = smp->value[M_processes];
	open_run_take_sample(run, smp);
}

/* The last row has the totals. */
static void assert_rows_are_of(const char *path, const struct oracle *o)
{
	assert_in_range(ask(path, "SELECT count(*) FROM sample"), 1, MOST_SAMPLES);
	assert_int_equal(ask(path, "SELECT max(elapsed_ns) FROM sample"), o->elapsed_ns);
	assert_int_equal(ask(path, "SELECT cpu_ns FROM sample ORDER BY elapsed_ns DESC"), o->cpu);
	assert_int_equal(ask(path, "SELECT forks FROM sample ORDER BY elapsed_ns DESC"), o->forks);
	assert_int_equal(ask(path, "SELECT max(rss_bytes) FROM sample"), o->rss_peak);
	assert_int_equal(ask(path, "SELECT max(processes) FROM sample"), o->processes_peak);
	assert_int_equal(ask(path, "SELECT lifetime_ns FROM sample ORDER BY elapsed_ns DESC"),
			 o->elapsed_ns);
	assert_int_equal(ask(path, "SELECT count(*) FROM (SELECT cpu_ns, lag(cpu_ns) OVER"
				   " (ORDER BY elapsed_ns) AS before FROM sample)"
				   " WHERE before > cpu_ns"),
			 0);
}

/*
 * Writes as the recorder does, of whose transactions one of @undone is undone and one of @killed is
 * the last one of a process.
 */
static void live(struct place *p, struct oracle *o, unsigned samples, unsigned undone,
		 unsigned killed)
{
	struct open_run *run = run_with_meta(UUID_1, META_OF("01", ""));
	struct sample smp = { 0 };
	unsigned idle = 0;

	begin(p->path);
	for (unsigned i = 0; i < samples; i++) {
		idle = idle ? idle - 1 : draw(o, 20) ? 0 : (unsigned)draw(o, 300);
		put_random(run, o, idle > 0, &smp);
		if (!open_run_is_due(run, 0))
			continue;
		assert_int_equal(open_run_write(run, &w), 0);
		store_writer_select(&w, NULL);
		if (draw(o, undone) == 0) {
			store_writer_undo(&w);
			open_run_settle(run, false);
			assert_int_equal(store_writer_begin(&w), 0);
			continue;
		}
		commit();
		assert_true(ask(p->path, "SELECT count(*) FROM sample") <= MOST_SAMPLES);
		if (draw(o, killed) == 0 && !run->is_dirty) {
			open_runs_done(&runs);
			run = run_with_meta(UUID_1, META_OF("01", ""));
		}
	}
	open_run_take_summary(run, strdup(SUMMARY));
	runs.nr_ended++;
	assert_int_equal(open_run_write(run, &w), 0);
	commit();
	end();
}

static void rows_of_any_run_are_few_with_its_totals_and_maxima(void **state)
{
	struct place *p = *state;

	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct oracle o = { .seed = seed };

		live(p, &o, 40U << seed % 8, 30, 60);
		assert_rows_are_of(p->path, &o);
		tell(p->path, "DELETE FROM run; DELETE FROM run_text; DELETE FROM sample;"
			      "DELETE FROM signature");
	}
}

static void idle_run_has_two_rows_for_any_time(void **state)
{
	struct place *p = *state;
	struct open_run *run = run_with_meta(UUID_1, META_OF("01", ""));
	struct oracle o = { .seed = 1 };
	struct sample smp = { 0 };

	begin(p->path);
	put_random(run, &o, false, &smp);
	assert_int_equal(open_run_write(run, &w), 0);
	commit();
	for (unsigned i = 1; i <= 10000; i++) {
		put_random(run, &o, true, &smp);
		if (!open_run_is_due(run, 0))
			continue;
		assert_int_equal(i % 60, 0); /* now and then its progress */
		assert_int_equal(open_run_write(run, &w), 0);
		commit();
		assert_int_equal(ask(p->path, "SELECT wall_ns FROM run"), o.elapsed_ns);
	}
	assert_int_equal(ask(p->path, "SELECT count(*) FROM sample"), 1);
	put_random(run, &o, false, &smp);
	assert_true(open_run_is_due(run, 0));
	assert_int_equal(open_run_write(run, &w), 0);
	commit();
	end();
	assert_int_equal(ask(p->path, "SELECT count(*) FROM sample"), 3);
	assert_int_equal(ask(p->path, "SELECT count(*) FROM sample AS a JOIN sample AS b"
				      " WHERE b.elapsed_ns > a.elapsed_ns + 9999000000000"
				      " AND a.cpu_ns = b.cpu_ns AND a.rss_bytes = b.rss_bytes"),
			 1);
	assert_rows_are_of(p->path, &o);
}

static void sample_is_stored_after_seconds_however_old_the_run_is(void **state)
{
	struct place *p = *state;
	struct open_run *run = run_with_meta(UUID_1, META_OF("01", ""));
	struct oracle o = { .seed = 1 };
	struct sample smp = { 0 };

	begin(p->path);
	for (unsigned i = 0; i < 8000; i++) {
		put_random(run, &o, false, &smp);
		assert_true(run->elapsed_ns - run->kept_ns < 8 * NSEC_PER_SEC);
		if (!open_run_is_due(run, 0))
			continue;
		assert_int_equal(open_run_write(run, &w), 0);
		commit();
	}
	assert_true(run->step_ns > 30 * NSEC_PER_SEC);
	end();
}

/* The metrics of a job of a node by default. */
static const enum metric_id of_node[] = {
	M_cpu,       M_user,    M_system,  M_runqueue_wait, M_minflt,
	M_majflt,    M_nvcsw,   M_nivcsw,  M_rchar,         M_wchar,
	M_syscr,     M_syscw,   M_read,    M_write,         M_cancelled_write,
	M_lifetime,  M_forks,   M_execs,   M_exits,         M_threads_created,
	M_processes, M_threads, M_rss,     M_rss_anon,      M_rss_file,
	M_rss_shmem, M_swap,    M_hugetlb, M_page_tables,   M_vms,
	M_cores,
};

#define MIB (1ULL << 20)
#define JOBS_OF_A_LENGTH 4

/* A sample of a busy job each second, as long as real ones are in the store. */
static void put_busy(struct open_run *run, struct oracle *o, struct sample *smp)
{
	smp->elapsed_ns += NSEC_PER_SEC;
	for (size_t i = 0; i < sizeof(of_node) / sizeof(*of_node); i++) {
		const struct metric *m = metric_get(of_node[i]);
		uint64_t most = m->unit == UNIT_NS      ? NSEC_PER_SEC
				: m->unit == UNIT_BYTES ? MIB
							: 999;

		if (m->kind == KIND_COUNTER)
			sample_set(smp, of_node[i], smp->value[of_node[i]] + draw(o, most));
		else
			sample_set(smp, of_node[i],
				   draw(o, m->unit == UNIT_BYTES ? 1024 * MIB : 999));
	}
	open_run_take_sample(run, smp);
}

/* Stores a job of Slurm with three steps. */
static void store_job(struct oracle *o, unsigned number, uint64_t seconds, const char *filler)
{
	struct summary sum = { .complete = true, .samples = 1, .wall_ns = seconds * NSEC_PER_SEC };
	char uuid[UUID_BYTES], meta[4096];
	struct jsonw j = { 0 };
	struct open_run *run;
	struct sample smp = { 0 };

	snprintf(uuid, sizeof(uuid), UUID "%02u", number);
	snprintf(meta, sizeof(meta),
		 "{\"kind\":\"meta\",\"schema\":\"bpfmon/1\",\"run\":\"%s\",\"start_time\":1,"
		 "\"filler\":\"%.3100s\"}",
		 uuid, filler);
	run = run_with_meta(uuid, meta);
	for (uint64_t s = 0; s < seconds; s++) {
		put_busy(run, o, &smp);
		if (open_run_is_due(run, 0)) {
			assert_int_equal(open_run_write(run, &w), 0);
			open_run_settle(run, true);
		}
	}
	sum.total = smp;
	write_summary(&j, &sum);
	for (unsigned i = 0; i < 3; i++)
		assert_true(open_run_take_step(run, 1, "1.batch", strndup(j.text, j.used)));
	open_run_take_summary(run, strndup(j.text, j.used));
	jsonw_done(&j);
	runs.nr_ended++;
	assert_int_equal(open_run_write(run, &w), 0);
	commit();
	open_runs_done(&runs);
}

/* The table "disk per day" of docs/NODE.md has these figures. */
static void job_takes_few_bytes_however_long_it_is(void **state)
{
	static const struct {
		uint64_t seconds, most_kib;
	} jobs[] = { { 10, 24 }, { 60, 40 }, { 600, 80 }, { 3600, 80 }, { 24 * 3600, 80 } };
	static char filler[4096];
	struct place *p = *state;
	struct oracle o = { .seed = 1 };
	int64_t before, after;

	memset(filler, 'x', sizeof(filler) - 1);
	begin(p->path);
	for (size_t i = 0; i < sizeof(jobs) / sizeof(*jobs); i++) {
		before = ask(p->path, "PRAGMA page_count") - ask(p->path, "PRAGMA freelist_count");
		for (unsigned k = 0; k < JOBS_OF_A_LENGTH; k++)
			store_job(&o, (unsigned)(10 + i * JOBS_OF_A_LENGTH + k), jobs[i].seconds,
				  filler);
		after = ask(p->path, "PRAGMA page_count") - ask(p->path, "PRAGMA freelist_count");
		after = (after - before) * ask(p->path, "PRAGMA page_size") / JOBS_OF_A_LENGTH /
			1024;
		print_message("a job of %6u s: %lld KiB\n", (unsigned)jobs[i].seconds,
			      (long long)after);
		assert_in_range(after, 1, jobs[i].most_kib);
	}
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(rows_of_any_run_are_few_with_its_totals_and_maxima),
		PLACE_TEST(idle_run_has_two_rows_for_any_time),
		PLACE_TEST(sample_is_stored_after_seconds_however_old_the_run_is),
		PLACE_TEST(job_takes_few_bytes_however_long_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
