// SPDX-License-Identifier: BSD-2-Clause
/* Files of the kernel with numbers: smaps_rollup, those of a cgroup, pressure; their parsers are
 * not public. */
#include "fuzz.h"

/* clang-format off */
#include "base/procstat.c"
#include "measure/cgroup_stat.c"
/* clang-format on */
#include "measure/pressure.h"

static void read_values_of(const char *text)
{
	uint64_t value;

	for (size_t i = 0; i < NR_VALUES; i++)
		for (int version = 0; version < 2; version++)
			if (values[i].at[version].find)
				values[i].at[version].find(text, values[i].at[version].key, &value);
}

static void read_pressure(const char *path)
{
	struct metric_set usable;
	struct sample smp = { 0 };
	struct pressure p;

	metric_set_all(&usable);
	if (!pressure_open(&p, path)) {
		pressure_read(&p, &usable, M_cgroup_io_pressure_some, M_cgroup_io_pressure_full,
			      &smp);
		pressure_restart(&p);
	}
	pressure_done(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[32], *text = fuzz_text(data, size);
	int fd = fuzz_file(data, size, path);
	struct smaps out;

	smaps_read_file(path, &out);
	read_pressure(path);
	read_values_of(text);
	close(fd);
	free(text);
	return 0;
}
