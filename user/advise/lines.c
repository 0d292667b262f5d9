// SPDX-License-Identifier: BSD-2-Clause
/* Advice as the lines that ask for it, to be copied. */
#include "advise/print.h"

#include <inttypes.h>

#define MIB (1ULL << 20)
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

static void nextflow_lines(FILE *f, const struct advice *a)
{
	fprintf(f,
		"cpus = %" PRIu64 "\nmemory = { %" PRIu64 ".MB * (2 ** (task.attempt - 1)) }\n"
		"time = { %" PRIu64 ".min * task.attempt }\nerrorStrategy = 'retry'\n",
		a->cores_request, request_mebibytes(a), request_minutes(a));
	if (request_written(a))
		fprintf(f, "disk = '%" PRIu64 " MB'\n", request_written(a));
}

static void snakemake_lines(FILE *f, const struct advice *a)
{
	fprintf(f,
		"threads: %" PRIu64 "\nresources:\n    mem_mb=lambda wildcards, attempt: %" PRIu64
		" * 2 ** (attempt - 1),\n    runtime=lambda wildcards, attempt: %" PRIu64
		" * attempt,\n",
		a->cores_request, request_mebibytes(a), request_minutes(a));
	if (request_written(a))
		fprintf(f, "    disk_mb=%" PRIu64 ",\n", request_written(a));
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
