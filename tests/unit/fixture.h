/* SPDX-License-Identifier: BSD-2-Clause */
/* What several tests share: a place for files, and a run whose every value is known. */
#ifndef TESTS_UNIT_FIXTURE_H
#define TESTS_UNIT_FIXTURE_H

#include "run/process.h"
#include "run/run.h"
#include "run/sample.h"
#include "run/summary.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB (1ULL << 20)
#define START_NS 1763690000123456000ULL

/* A folder of a test's own; the test knows it as *state. */
struct place {
	char dir[64];
	char path[96]; /* of the one file most tests need; not there yet */
};

static inline int place_make(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	if (!p)
		return -1;
	snprintf(p->dir, sizeof(p->dir), "/tmp/bpfmon-unit-XXXXXX");
	if (!mkdtemp(p->dir))
		return -1;
	snprintf(p->path, sizeof(p->path), "%s/out", p->dir);
	*state = p;
	return 0;
}

static inline int place_remove(void **state)
{
	struct place *p = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", p->dir);
	free(p);
	return system(command);
}

#define PLACE_TEST(test) cmocka_unit_test_setup_teardown(test, place_make, place_remove)

static inline void file_write(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	if (!f)
		abort();
	fputs(text, f);
	fclose(f);
}

/* Writes a file of that name into the place. */
static inline void place_put(const struct place *p, const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	file_write(path, text);
}

/* The whole of a file, to be freed; NULL: there is none. */
static inline char *file_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *text;
	ssize_t n;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st))
		abort();
	text = calloc(1, (size_t)st.st_size + 1);
	if (!text)
		abort();
	n = pread(fd, text, (size_t)st.st_size, 0);
	if (n != st.st_size)
		abort();
	close(fd);
	return text;
}

static inline void fixture_run(struct run *r)
{
	static char *command[] = { "make", "-j8", "say \"hi\"", NULL };

	*r = (struct run){
		.id = "00112233-4455-4677-8899-aabbccddeeff",
		.command = command,
		.cwd = "/home/ada/src",
		.user = "ada",
		.uid = 1000,
		.host = "lovelace",
		.kernel = "Linux 6.18.0 x86_64",
		.cpus = 2,
		.memory_bytes = 8ULL << 30,
		.start_epoch_ns = START_NS,
		.interval_ns = 100000000,
	};
	metric_set_all(&r->wanted);
	metric_set_all(&r->usable);
	r->usable.bits[M_swap / 64] &= ~(1ULL << M_swap % 64);
	r->unusable[M_swap] = "this kernel does not say";
}

/* Every metric but swap, each of another value. */
static inline void fixture_values(uint64_t *value, struct metric_set *have, uint64_t factor)
{
	metric_set_all(have);
	have->bits[M_swap / 64] &= ~(1ULL << M_swap % 64);
	for (uint64_t i = 0; i < NR_METRICS; i++)
		value[i] = (i + 1) * 1000 * factor;
	value[M_cpu] = 1234567891 * factor;
	value[M_user] = 1000000000 * factor;
	value[M_system] = 234567891 * factor;
	value[M_runqueue_wait] = 5000000 * factor;
	value[M_lifetime] = 4000000000 * factor;
	value[M_blkio_delay] = 800000000 * factor;
	value[M_thrashing_delay] = 200000000 * factor;
	value[M_reclaim_delay] = 100000000 * factor;
	value[M_rss] = 3 * MIB * factor;
	value[M_pss] = 2 * MIB * factor;
	value[M_uss] = MIB * factor;
	value[M_vms] = 40 * MIB * factor;
	value[M_cores] = 1500 * factor;
	value[M_cgroup_memory] = 4 * MIB * factor;
	value[M_cgroup_anon] = MIB * factor;
	value[M_cgroup_file] = 2 * MIB * factor;
	value[M_cgroup_oom_kills] = 0;
	value[M_swap] = 0;
}

/* The first lacks the cores, which need two. */
static inline void fixture_sample(struct sample *s, uint64_t nth)
{
	*s = (struct sample){ .elapsed_ns = nth * 100000000 };
	fixture_values(s->value, &s->have, nth + 1);
	if (!nth)
		s->have.bits[M_cores / 64] &= ~(1ULL << M_cores % 64);
}

static inline void fixture_process(struct process *p)
{
	static const char args[] = "cc\0-c\0a b.c";

	*p = (struct process){
		.pid = 4242,
		.ns_pid = 7,
		.ppid = 4241,
		.uid = 1000,
		.comm = "cc",
		.exe = "/usr/bin/cc",
		.args = args,
		.args_length = sizeof(args),
		.start_epoch_ns = START_NS + 1000000,
		.end_epoch_ns = START_NS + 51000000,
		.has_ended = true,
		.exit_code = 3,
		.threads_total = 2,
		.execs = 1,
		.has_rss_peak = true,
		.rss_peak_exact = true,
		.rss_peak_bytes = 5 * MIB,
	};
	p->value[M_cpu] = 42000001;
	metric_put(&p->have, M_cpu);
	p->value[M_read] = 2 * MIB;
	metric_put(&p->have, M_read);
	p->value[M_write] = 0;
	metric_put(&p->have, M_write);
}

/* A live process of which nearly nothing is known. */
static inline void fixture_live_process(struct process *p)
{
	*p = (struct process){
		.pid = 4243,
		.ns_pid = 4243,
		.ppid = 1,
		.comm = "fifteen letters", /* and its NUL: 16 */
		.start_epoch_ns = START_NS,
		.state = 'S',
		.threads_total = 1,
	};
}

static inline void fixture_costs(struct summary *s)
{
	s->collector = (struct role_cost){ .cpu_ns = 2500000, .rss_bytes = 6 * MIB };
	s->recorder = (struct role_cost){ .cpu_ns = 1500000, .rss_bytes = 2 * MIB };
	s->map_bytes = 4 * MIB;
	s->drains = 3;
	s->drain_ns_total = 600000;
	s->drain_ns_max = 300000;
	s->drain_ns_median = 200000;
	s->has_pss_cost = true;
	s->pss = (struct pss_cost){ .reads = 9, .postponed = 4, .skipped = 1 };
	s->pss.ns_total = 2000001;
	s->pss.ns_max = 700000;
}

/* Two samples, two processes, all well. To be summary_done(). */
static inline void fixture_summary(struct summary *s)
{
	struct sample first, second;
	struct process ended, live;

	*s = (struct summary){ .complete = true, .has_status = true, .outlived = 1 };
	s->has_oom_kills = true;
	s->limit = (struct limit_hit){ .text = "rss<2GiB",
				       .is_end = true,
				       .unit = UNIT_BYTES,
				       .value = 3ULL << 30,
				       .elapsed_ns = 1500000000,
				       .has_process = true,
				       .pid = 4711,
				       .comm = "grow" };
	fixture_sample(&first, 0);
	fixture_sample(&second, 1);
	summary_add_sample(s, &first);
	summary_add_sample(s, &second);
	fixture_process(&ended);
	fixture_live_process(&live);
	live.value[M_cpu] = 3000000;
	live.have = ended.have;
	if (summary_add_process(s, &ended) || summary_add_process(s, &live))
		abort();
	fixture_costs(s);
	s->has_cgroup_peak = true;
	s->cgroup_peak_bytes = 9 * MIB;
	summary_finish(s);
}

#endif
