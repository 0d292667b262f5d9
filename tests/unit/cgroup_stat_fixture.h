/* SPDX-License-Identifier: BSD-2-Clause */
/* Cgroups of both versions, as folders of ours. Include after cmocka.h. */
#ifndef TESTS_UNIT_CGROUP_STAT_FIXTURE_H
#define TESTS_UNIT_CGROUP_STAT_FIXTURE_H

#include "measure/cgroup_stat.h"
#include "fixture.h"

#define PRESSURE(some, full)                                                                       \
	"some avg10=0.00 avg60=0.00 avg300=0.00 total=" #some "\n"                                 \
	"full avg10=0.00 avg60=0.00 avg300=0.00 total=" #full "\n"

/* A cgroup that is a plain folder, read by a run that wants everything. */
struct fake {
	struct place *place;
	struct cgroup_target cgroup;
	struct run run;
	struct cgroup_stat stat;
	struct sample sample;
};

static void put(const struct fake *k, const char *name, const char *text)
{
	place_put(k->place, name, text);
}

static int fake_make(void **state)
{
	struct fake *k = calloc(1, sizeof(*k));
	void *place;

	if (!k || place_make(&place))
		return -1;
	k->place = place;
	snprintf(k->cgroup.cg.path, sizeof(k->cgroup.cg.path), "%s", k->place->dir);
	snprintf(k->cgroup.controller, sizeof(k->cgroup.controller), "memory");
	metric_set_all(&k->run.wanted);
	metric_set_all(&k->run.usable);
	cgroup_stat_init(&k->stat);
	*state = k;
	return 0;
}

static int fake_remove(void **state)
{
	struct fake *k = *state;
	void *place = k->place;

	cgroup_stat_done(&k->stat);
	free(k);
	return place_remove(&place);
}

static int version_1(void **state)
{
	struct fake *k;

	if (fake_make(state))
		return -1;
	k = *state;
	put(k, "memory.usage_in_bytes", "1000000\n");
	put(k, "memory.max_usage_in_bytes", "3000000\n");
	put(k, "memory.kmem.usage_in_bytes", "70000\n");
	put(k, "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
	put(k, "memory.stat",
	    "cache 1\nrss 2\nshmem 3\nswap 4\n"
	    "total_cache 500000\ntotal_rss 400000\ntotal_rss_huge 9\ntotal_shmem 20000\n"
	    "total_swap 0\n");
	return 0;
}

static int version_2(void **state)
{
	struct fake *k;

	if (fake_make(state))
		return -1;
	k = *state;
	k->cgroup.cg.is_v2 = true;
	put(k, "memory.current", "1000000\n");
	put(k, "memory.peak", "3000000\n");
	put(k, "memory.swap.current", "5\n");
	put(k, "memory.events", "low 7\nhigh 8\nmax 9\noom 3\noom_kill 2\noom_group_kill 1\n");
	put(k, "memory.stat",
	    "anon_thp 9\nanon 400000\nfile_mapped 8\nfile 500000\nkernel_stack 7\nkernel 70000\n"
	    "shmem 20000\n");
	put(k, "memory.pressure", PRESSURE(1500, 500));
	put(k, "cpu.stat", "usage_usec 5000\nuser_usec 3000\nsystem_usec 2000\n");
	put(k, "dmem.current",
	    "drm/0000:03:00.0/vram0 4096\ndrm/0000:03:00.0/stolen max\n"
	    "drm/0000:04:00.0/vram 8192\n");
	put(k, "io.stat", "8:0 rbytes=100 wbytes=20 rios=1\n254:0 rbytes=11 wbytes=2 rios=1\n");
	return 0;
}

static void open_and_read(struct fake *k)
{
	cgroup_stat_open(&k->stat, &k->cgroup, &k->run);
	cgroup_stat_read(&k->stat, &k->run.usable, &k->sample);
}

static void assert_value(const struct fake *k, enum metric_id id, uint64_t value)
{
	assert_true(sample_has(&k->sample, id));
	assert_int_equal(k->sample.value[id], value);
	assert_true(metric_has(&k->run.usable, id));
}

static void assert_absent(const struct fake *k, enum metric_id id, const char *reason)
{
	assert_false(sample_has(&k->sample, id));
	assert_false(metric_has(&k->run.usable, id));
	assert_non_null(strstr(k->run.unusable[id], reason));
}

static void assert_common(const struct fake *k)
{
	assert_value(k, M_cgroup_memory, 1000000);
	assert_value(k, M_cgroup_anon, 400000);
	assert_value(k, M_cgroup_file, 500000);
	assert_value(k, M_cgroup_shmem, 20000);
	assert_value(k, M_cgroup_kernel, 70000);
	assert_value(k, M_cgroup_oom_kills, 0); /* since it was opened */
	assert_int_equal(k->run.baseline[M_cgroup_oom_kills], 2);
}

#define V1_TEST(test) cmocka_unit_test_setup_teardown(test, version_1, fake_remove)
#define V2_TEST(test) cmocka_unit_test_setup_teardown(test, version_2, fake_remove)

#endif
