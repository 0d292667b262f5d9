// SPDX-License-Identifier: BSD-2-Clause
/*
 * Opens NVIDIA's library, or the stub that LD_LIBRARY_PATH names. Prints the errno and the reason
 * if that fails; else how long passes take, and the slow values between them.
 *
 * Usage: nvmlpass [PASSES]
 */
#include "base/clock.h"
#include "measure/nvml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PASSES 100000

static int time_compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void times_print(const char *what, uint64_t *ns, size_t nr)
{
	qsort(ns, nr, sizeof(*ns), time_compare);
	printf("%s: median %.0f us, 99 %% %.0f us, most %.0f us (%zu)\n", what,
	       (double)ns[nr / 2] / 1e3, (double)ns[nr * 99 / 100] / 1e3, (double)ns[nr - 1] / 1e3,
	       nr);
}

int main(int argc, char **argv)
{
	static uint64_t passes[MOST_PASSES], steps[MOST_PASSES];
	static struct gpu_table table;
	const size_t nr = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	size_t nr_steps = 0;
	struct nvml *n;
	char why[192];
	int err = nvml_open(&n, why, sizeof(why));

	if (err) {
		printf("%s: %s\n", strerror(-err), why);
		return 1;
	}
	for (size_t i = 0; i < nr && i < MOST_PASSES; i++) {
		const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
		uint64_t next_ns;

		table.nr_devices = table.nr_uses = table.uses_dropped = 0;
		table.why[0] = '\0';
		nvml_pass(n, &table, now_ns);
		passes[i] = clock_ns(CLOCK_MONOTONIC) - now_ns;
		while (nr_steps < MOST_PASSES) {
			const uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);

			if (!nvml_step(n, begin_ns, &next_ns))
				break;
			steps[nr_steps++] = clock_ns(CLOCK_MONOTONIC) - begin_ns;
		}
	}
	printf("%u devices, %u uses%s%s\n", table.nr_devices, table.nr_uses, *table.why ? ": " : "",
	       table.why);
	if (nr)
		times_print("pass", passes, nr < MOST_PASSES ? nr : MOST_PASSES);
	if (nr_steps)
		times_print("step", steps, nr_steps);
	nvml_close(n);
	return 0;
}
