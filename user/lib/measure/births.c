// SPDX-License-Identifier: BSD-2-Clause
#include "measure/births.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define ATTEMPTS 100

/* The number of all tasks since boot, threads included. */
static int forks_read(uint64_t *forks)
{
	__cleanup(fclosep) FILE *f = memory_fopen("/proc/stat", "re");
	__cleanup(freep) char *line = NULL;
	size_t room = 0;
	unsigned long long n;

	while (f && memory_getline(&line, &room, f) > 0) {
		if (sscanf(line, "processes %llu", &n) != 1)
			continue;
		*forks = n;
		return 0;
	}
	return -ENODATA;
}

static int told_read(const struct bpf_map *map, uint64_t *per_cpu, size_t cpus, uint64_t *told)
{
	const uint32_t zero = 0;
	int err =
		bpf_map__lookup_elem(map, &zero, sizeof(zero), per_cpu, cpus * sizeof(*per_cpu), 0);

	*told = 0;
	for (size_t i = 0; !err && i < cpus; i++)
		*told += per_cpu[i];
	return err;
}

int births_unreported(const struct bpf_map *map, uint64_t *unreported)
{
	int cpus = libbpf_num_possible_cpus();
	__cleanup(freep) uint64_t *per_cpu = cpus > 0 ? memory_calloc((size_t)cpus, 8) : NULL;
	uint64_t forks, told, again;

	if (!per_cpu)
		return -ENOMEM;
	for (int i = 0; i < ATTEMPTS; i++) {
		int err = told_read(map, per_cpu, (size_t)cpus, &told);

		if (!err)
			err = forks_read(&forks);
		if (!err)
			err = told_read(map, per_cpu, (size_t)cpus, &again);
		if (err)
			return err;
		if (told != again)
			continue;
		*unreported = forks - reported;
		return 0;
	}
	return -EAGAIN;
}
