/* SPDX-License-Identifier: BSD-2-Clause */
/* The stub of NVIDIA's library (tests/nvml/stub.c), a script for it, and passes over it. */
#ifndef TESTS_UNIT_NVML_FIXTURE_H
#define TESTS_UNIT_NVML_FIXTURE_H

#include "base/clock.h"
#include "measure/nvml.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define S NSEC_PER_SEC
#define MIB (1ULL << 20)
#define MOST_STEPS 20000

#define GPU_A                                                                                      \
	"gpu GPU-a NVIDIA H200\nutilization 40 20\nmemory 1048576 16777216\npower 350000\n"        \
	"clock 1980\nreasons 0x0\nenergy 1000\necc 2\n"
#define GPU_B "gpu GPU-b NVIDIA H200\nutilization 0 0\nmemory 0 16777216\n"

struct fixture {
	void *stub; /* it stays loaded: so it is found by its name */
	char folder[32], path[64];
	struct nvml *nvml;
	struct gpu_table *table;
	uint64_t now_ns;
	char why[192];
};

/* Loads a stub: "nvml" or "nvml-old", which the Makefile puts beside the tests. */
static inline void *stub_load(const char *name)
{
	char self[512], path[640], *end;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	void *stub;

	assert_true(n > 0);
	self[n] = '\0';
	for (int up = 0; up < 2; up++) {
		end = strrchr(self, '/');
		assert_non_null(end);
		*end = '\0';
	}
	snprintf(path, sizeof(path), "%s/%s/libnvidia-ml.so.1", self, name);
	stub = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!stub)
		print_message("%s\n", dlerror());
	assert_non_null(stub);
	return stub;
}

/* What the library answers from now on. */
static inline void script(struct fixture *f, const char *text)
{
	char next[80];
	FILE *out;

	snprintf(next, sizeof(next), "%s.new", f->path);
	out = fopen(next, "we");
	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(rename(next, f->path), 0);
}

static inline int fixture_make_with(void **state, const char *stub)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->table = calloc(1, sizeof(*f->table));
	assert_non_null(f->table);
	strcpy(f->folder, "/tmp/bpfmon-nvml-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	snprintf(f->path, sizeof(f->path), "%s/script", f->folder);
	setenv("BPFMON_NVML_SCRIPT", f->path, 1);
	f->stub = stub_load(stub);
	*state = f;
	return 0;
}

static inline int fixture_make(void **state)
{
	return fixture_make_with(state, "nvml");
}

static inline int fixture_free(void **state)
{
	struct fixture *f = *state;

	nvml_close(f->nvml);
	dlclose(f->stub);
	unlink(f->path);
	rmdir(f->folder);
	unsetenv("BPFMON_NVML_SCRIPT");
	free(f->table);
	free(f);
	return 0;
}

static inline void nvml_opens(struct fixture *f, const char *text)
{
	script(f, text);
	assert_int_equal(nvml_open(&f->nvml, f->why, sizeof(f->why)), 0);
	f->now_ns = clock_ns(CLOCK_MONOTONIC);
}

/* A pass so much later, into an empty table. */
static inline struct gpu_table *pass_after(struct fixture *f, uint64_t ns)
{
	f->now_ns += ns;
	memset(f->table, 0, sizeof(*f->table));
	nvml_pass(f->nvml, f->table, f->now_ns);
	return f->table;
}

/* Reads all values that are due. */
static inline uint64_t steps_make(struct fixture *f)
{
	uint64_t next_ns = 0;
	int nr = 0;

	while (nvml_step(f->nvml, f->now_ns, &next_ns))
		assert_true(++nr < MOST_STEPS);
	assert_true(next_ns > f->now_ns && next_ns <= f->now_ns + S);
	return next_ns;
}

/* A pass, what is due after it, and a pass that has it. */
static inline struct gpu_table *pass_whole(struct fixture *f, uint64_t after_ns)
{
	pass_after(f, after_ns);
	steps_make(f);
	return pass_after(f, 0);
}

static inline const struct gpu_device *device_of(const struct gpu_table *t, const char *name)
{
	for (size_t i = 0; i < t->nr_devices; i++)
		if (!strcmp(t->devices[i].name, name))
			return &t->devices[i];
	return NULL;
}

static inline const struct gpu_use *use_of(const struct gpu_table *t, const char *name,
					   uint32_t pid)
{
	for (size_t i = 0; i < t->nr_uses; i++)
		if (t->uses[i].pid == pid && !strcmp(t->devices[t->uses[i].device].name, name))
			return &t->uses[i];
	return NULL;
}

#endif
