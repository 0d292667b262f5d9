// SPDX-License-Identifier: BSD-2-Clause
#include "study/advise_request.h"

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB (1LL << 20)
#define MILLI 1000
#define MOST (1LL << 60) /* of any value: more is no value */

/* The text @name of @in as a number; -1: there is none. */
static int64_t variable_count(const json_t *in, const char *name)
{
	const char *text = json_string_value(json_object_get(in, name));
	char *end;
	long long value;

	if (!text || *text < '0' || *text > '9')
		return -1;
	value = strtoll(text, &end, 10);
	return *end || value > MOST / MIB ? -1 : value;
}

static int64_t number_times(const json_t *in, const char *name, double times)
{
	const json_t *number = json_object_get(in, name);
	const double value = json_is_number(number) ? json_number_value(number) * times : -1;

	return value >= 0 && value < (double)MOST ? (int64_t)value : -1;
}

/* Of the schedulers only Slurm tells, in what it calls MB. */
static int64_t memory_requested(const json_t *variables, const json_t *limits)
{
	const int64_t of_node = variable_count(variables, "SLURM_MEM_PER_NODE");
	const int64_t of_cpu = variable_count(variables, "SLURM_MEM_PER_CPU");
	const int64_t cpus = variable_count(variables, "SLURM_CPUS_ON_NODE");

	if (of_node > 0) /* 0: all of the node's */
		return of_node * MIB;
	if (of_cpu > 0 && cpus > 0 && of_cpu <= MOST / MIB / cpus)
		return of_cpu * cpus * MIB;
	return number_times(limits, "memory_max_bytes", 1);
}

static int64_t cores_requested(const json_t *variables, const json_t *limits)
{
	static const char *const names[] = { "SLURM_CPUS_ON_NODE", "PBS_NUM_PPN",
					     "LSB_DJOB_NUMPROC", "NSLOTS" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const int64_t cores = variable_count(variables, names[i]);

		if (cores > 0)
			return cores * MILLI;
	}
	return number_times(limits, "cpu_max_cores", MILLI);
}

/* All regular files that are named after the command itself, as a part of an option, too. */
static int64_t arguments_weigh(const json_t *meta)
{
	const char *folder = json_string_value(json_object_get(meta, "cwd"));
	const int at = folder ? open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	const json_t *words = json_object_get(meta, "command");
	int64_t sum = -1;
	struct stat st;

	for (size_t i = 1; at >= 0 && i < json_array_size(words); i++) {
		const char *word = json_string_value(json_array_get(words, i));
		const char *equals = word && *word == '-' ? strchr(word, '=') : NULL;

		if (!word || fstatat(at, equals ? equals + 1 : word, &st, 0) ||
		    !S_ISREG(st.st_mode) || st.st_size > MOST)
			continue;
		sum = (sum < 0 ? 0 : sum) + st.st_size;
		if (sum > MOST)
			sum = MOST;
	}
	if (at >= 0)
		close(at);
	return sum;
}

void run_request_read_meta(struct run_request *r, const char *line, const char *host)
{
	json_t *meta = json_loads(line, JSON_ALLOW_NUL, NULL);
	const json_t *variables = json_object_get(meta, "scheduler");
	const json_t *limits = json_object_get(meta, "limits");
	const char *was_on = json_string_value(json_object_get(meta, "host"));

	r->memory_bytes = memory_requested(variables, limits);
	r->milli_cores = cores_requested(variables, limits);
	if (was_on && !strcmp(was_on, host))
		r->argument_bytes = arguments_weigh(meta);
	json_decref(meta);
}

void run_request_read_summary(struct run_request *r, const char *line)
{
	json_t *summary = json_loads(line, JSON_ALLOW_NUL, NULL);

	r->needed_bytes = number_times(summary, "memory_needed_bytes", 1);
	r->write_bytes = number_times(summary, "write_bytes", 1);
	json_decref(summary);
}
