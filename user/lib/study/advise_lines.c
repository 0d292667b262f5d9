// SPDX-License-Identifier: BSD-2-Clause
/* Advice as the lines that ask for it, to be copied. */
#include "study/print.h"

#include <inttypes.h>
#include <math.h>

#define MIB (1ULL << 20)
#define MB 1000000 /* as Snakemake has it; Nextflow's and Slurm's are MIB */
#define MINUTE_NS 60000000000ULL

const char *const advice_for_words[NR_FOR] = {
	[FOR_SLURM] = "slurm",
	[FOR_KUBERNETES] = "k8s",
	[FOR_NEXTFLOW] = "nextflow",
	[FOR_SNAKEMAKE] = "snakemake",
};

static uint64_t request_minutes(const struct advice *a)
{
	return a->wall_request / MINUTE_NS;
}

static uint64_t request_mebibytes(const struct advice *a)
{
	return a->memory_request / MIB;
}

/* What was written is the most that scratch files can have taken; 0: nothing to ask for. */
static uint64_t request_written(const struct advice *a)
{
	return a->written_request / MIB;
}

/* --mem is per node, in what Slurm calls MB. */
static void slurm_lines(FILE *f, const struct advice *a)
{
	fprintf(f,
		"#SBATCH --mem=%" PRIu64 "M\n#SBATCH --cpus-per-task=%" PRIu64
		"\n#SBATCH --time=%02" PRIu64 ":%02" PRIu64 ":00\n",
		request_mebibytes(a), a->cores_request, request_minutes(a) / 60,
		request_minutes(a) % 60);
	if (request_written(a))
		fprintf(f, "#SBATCH --tmp=%" PRIu64 "M\n", request_written(a));
}

/* Of memory the limit is the request: what is above it may be taken away at any time. */
static void kubernetes_lines(FILE *f, const struct advice *a)
{
	const uint64_t milli = a->cores.median ? a->cores.median : 1;

	fprintf(f, "resources:\n  requests:\n    memory: %" PRIu64 "Mi\n    cpu: %" PRIu64 "m\n",
		request_mebibytes(a), milli);
	if (request_written(a))
		fprintf(f, "    ephemeral-storage: %" PRIu64 "Mi\n", request_written(a));
	fprintf(f, "  limits:\n    memory: %" PRIu64 "Mi\n", request_mebibytes(a));
}

/* For what starts a run that needs more again: the first request that is cheapest then. */
static uint64_t first_request(const struct advice *a)
{
	const struct allocation *first = a->node.capacity > 0 ? &a->most_runs : &a->least_waste;

	return first->request > 0 ? (uint64_t)ceil(first->request) : a->memory_request;
}

/* How often it is doubled until a run gets all that a node has, or what is enough for all of them,
 * and some more. */
static unsigned first_retries(const struct advice *a)
{
	double most = (double)a->memory_request, now = 2 * (double)first_request(a);
	unsigned retries = 1;

	if (a->node.capacity > 0)
		most = fmin(most, a->node.capacity);
	while (now < most) {
		now *= 2;
		retries++;
	}
	return retries;
}

static uint64_t in_units(uint64_t bytes, uint64_t unit)
{
	return bytes / unit + (bytes % unit > 0);
}

static void nextflow_memory(FILE *f, const struct advice *a)
{
	const uint64_t first = in_units(first_request(a), MIB);

	if (a->node.capacity > 0)
		fprintf(f,
			"memory = { [%" PRIu64 ".MB * (2 ** (task.attempt - 1)), %" PRIu64
			".MB].min() }\n",
			first, (uint64_t)(a->node.capacity / (double)MIB));
	else
		fprintf(f, "memory = { %" PRIu64 ".MB * (2 ** (task.attempt - 1)) }\n", first);
}

static void nextflow_lines(FILE *f, const struct advice *a)
{
	fprintf(f, "cpus = %" PRIu64 "\n", a->cores_request);
	nextflow_memory(f, a);
	fprintf(f,
		"time = { %" PRIu64 ".min * task.attempt }\nerrorStrategy = 'retry'\n"
		"maxRetries = %u\n",
		request_minutes(a), first_retries(a));
	if (request_written(a))
		fprintf(f, "disk = '%" PRIu64 " MB'\n", request_written(a));
}

static void snakemake_memory(FILE *f, const struct advice *a)
{
	const uint64_t first = in_units(first_request(a), MB);

	fputs("    mem_mb=lambda wildcards, attempt: ", f);
	if (a->node.capacity > 0)
		fprintf(f, "min(%" PRIu64 " * 2 ** (attempt - 1), %" PRIu64 "),\n", first,
			(uint64_t)a->node.capacity / MB);
	else
		fprintf(f, "%" PRIu64 " * 2 ** (attempt - 1),\n", first);
}

static void snakemake_lines(FILE *f, const struct advice *a)
{
	fprintf(f, "threads: %" PRIu64 "\nretries: %u\nresources:\n", a->cores_request,
		first_retries(a));
	snakemake_memory(f, a);
	fprintf(f, "    runtime=lambda wildcards, attempt: %" PRIu64 " * attempt,\n",
		request_minutes(a));
	if (request_written(a))
		fprintf(f, "    disk_mb=%" PRIu64 ",\n", in_units(a->written_request, MB));
}

void advice_lines(FILE *f, const struct advice *a, enum advice_for to)
{
	static void (*const lines[NR_FOR])(FILE *, const struct advice *) = {
		[FOR_SLURM] = slurm_lines,
		[FOR_KUBERNETES] = kubernetes_lines,
		[FOR_NEXTFLOW] = nextflow_lines,
		[FOR_SNAKEMAKE] = snakemake_lines,
	};

	if (lines[to])
		lines[to](f, a);
}
