// SPDX-License-Identifier: BSD-2-Clause
/* Prints advice as text, as JSON, and as directives of schedulers and workflow systems. */
#include "study/advice.h"

#include "text/format.h"

#include <inttypes.h>
#include <math.h>

#define MIB (1ULL << 20)
#define KIB (1ULL << 10)
#define MOST_FINE 1000  /* bytes per unit of size; smaller slopes have decimals */
#define MOST_BYTES 1e18 /* limit for values of a fitted line */
#define TAG_COLUMNS 60
#define NAME_COLUMNS 60
#define IN_MIB (100 * MIB) /* larger requests are printed in MiB */

/* Rounds up, so that the printed request suffices. */
static char *format_request(char *out, uint64_t bytes)
{
	const uint64_t unit = bytes >= IN_MIB || bytes % MIB == 0 ? MIB : KIB;
	char count[FORMAT_BYTES];

	snprintf(out, FORMAT_BYTES, "%.20s %s",
		 format_count(count, bytes / unit + (bytes % unit > 0)),
		 unit == MIB ? "MiB" : "KiB");
	return out;
}

typedef char *value_format(char *out, uint64_t value);

static void need_print(FILE *f, const char *title, const struct spread *s, uint64_t request,
		       value_format *format, value_format *request_format)
{
	const uint64_t values[] = { s->median, s->p95, s->p99, s->largest };
	char text[FORMAT_BYTES];

	fprintf(f, "  %-8s", title);
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		fprintf(f, "%12s", format(text, values[i]));
	fprintf(f, "%14s\n", request_format(text, request));
}

static char *format_cores(char *out, uint64_t milli)
{
	snprintf(out, FORMAT_BYTES, "%.2f", (double)milli / 1000);
	return out;
}

static void allocation_print(FILE *f, const char *title, const struct allocation *a)
{
	char text[FORMAT_BYTES];

	fprintf(f,
		"  %-24s%12s: %.0f %% of the reserved memory used, %.1f %% of the runs restarted\n",
		title, format_request(text, (uint64_t)ceil(a->request)), 100 * a->used,
		100 * a->retried);
}

static void retries_print(FILE *f, const struct advice *a)
{
	fputs("\n  if a run that needs more is restarted with twice the memory:\n", f);
	if (a->nr_too_large)
		fprintf(f, "  %zu of the %zu runs need%s more memory than --node-memory\n",
			a->nr_too_large, a->nr, a->nr_too_large == 1 ? "s" : "");
	if (a->nr_too_large == a->nr)
		return;
	allocation_print(f, "least waste", &a->least_waste);
	if (a->node.capacity > 0)
		allocation_print(f, "most runs per node", &a->most_runs);
}

static void use_print(FILE *f, const char *title, const struct use *u)
{
	if (!u->nr)
		return;
	fprintf(f, "  of the %s so far %.0f %% was used (%zu run%s", title, 100 * u->share, u->nr,
		u->nr == 1 ? "" : "s");
	if (u->nr_beyond)
		fprintf(f, ", %zu needed more", u->nr_beyond);
	fputs(")\n", f);
}

static void uses_print(FILE *f, const struct advice *a)
{
	if (a->memory_use.nr || a->cores_use.nr || a->gpus_use.nr)
		fputc('\n', f);
	use_print(f, "memory requested", &a->memory_use);
	use_print(f, "CPU time requested", &a->cores_use);
	use_print(f, "GPUs held", &a->gpus_use);
}

static void size_print(FILE *f, const struct advice *a)
{
	char base[FORMAT_BYTES], above[FORMAT_BYTES], slope[FORMAT_BYTES];
	const double b = a->by_size.base, each = fabs(a->by_size.slope);

	if (!a->has_size)
		return;
	if (each < MOST_FINE)
		snprintf(slope, sizeof(slope), "%.4g bytes", each);
	else
		format_bytes(slope, (uint64_t)fmin(each, MOST_BYTES));
	fprintf(f, "\n  by size: memory = %s%s %c %s x ", b < 0 ? "-" : "",
		format_bytes(base, (uint64_t)fmin(fabs(b), MOST_BYTES)),
		a->by_size.slope < 0 ? '-' : '+', slope);
	if (a->size_is_of_files)
		fputs("bytes of the files that the command names", f);
	else
		format_beginning(f, a->size_tag, TAG_COLUMNS);
	fprintf(f,
		"\n           "
		"explains %.0f %% of the variance (%zu runs); no run was more than %s above this "
		"line\n",
		100 * a->by_size.explained, a->nr_sized,
		format_bytes(above, (uint64_t)fmin(a->by_size.above, MOST_BYTES)));
}

static void certainty_print(FILE *f, const struct advice *a)
{
	fprintf(f,
		"\n  confidence: with a probability of 1 in %zu, the next run needs more than the "
		"largest so far;\n              with 95 %% confidence, the largest is enough for "
		"at least %.0f %% of such runs",
		a->nr + 1, floor(100 * a->covered));
	if (a->nr < FEW_RUNS)
		fprintf(f, ";\n              %zu run%s few: record more", a->nr,
			a->nr == 1 ? " is" : "s are");
	fputc('\n', f);
}

void advice_print_needs(FILE *f, const struct advice *a)
{
	fprintf(f, "\n  %-8s%12s%12s%12s%12s%14s\n", "", "median", "95 %", "99 %", "largest",
		"request");
	need_print(f, "memory", &a->memory, a->memory_request, format_bytes, format_request);
	need_print(f, "cores", &a->cores, a->cores_request * 1000, format_cores, format_cores);
	need_print(f, "time", &a->wall, a->wall_request, format_seconds, format_seconds);
	if (a->nr_written)
		need_print(f, "written", &a->written, a->written_request, format_bytes,
			   format_request);
	if (a->nr_gpus)
		need_print(f, "GPUs", &a->gpus, a->gpus_request * 1000, format_cores, format_cores);
	if (a->nr_gpu_memory)
		need_print(f, "GPU mem", &a->gpu_memory, a->gpu_memory_request, format_bytes,
			   format_request);
}

void advice_print(FILE *f, const struct advice *a, const char *what)
{
	if (what) {
		format_beginning(f, what, NAME_COLUMNS);
		fputs(": ", f);
	}
	fprintf(f, "%zu run%s%s", a->nr, a->nr == 1 ? "" : "s",
		a->has_names ? " of different names" : "");
	if (a->nr_incomplete)
		fprintf(f, ", %zu of them incomplete", a->nr_incomplete);
	if (a->nr_failed)
		fprintf(f, ", %zu of them failed", a->nr_failed);
	if (a->nr_left)
		fprintf(f, "; %zu left out, as they have not ended or have no values", a->nr_left);
	fputc('\n', f);
	advice_print_needs(f, a);
	uses_print(f, a);
	retries_print(f, a);
	size_print(f, a);
	certainty_print(f, a);
}

static void spread_json(struct jsonw *j, const char *name, const struct spread *s, uint64_t request,
			unsigned decimals)
{
	jsonw_object(j, name);
	jsonw_decimal(j, "median", s->median, decimals);
	jsonw_decimal(j, "p95", s->p95, decimals);
	jsonw_decimal(j, "p99", s->p99, decimals);
	jsonw_decimal(j, "largest", s->largest, decimals);
	jsonw_decimal(j, "request", request, decimals);
	jsonw_object_end(j);
}

static void share_json(struct jsonw *j, const char *key, double share)
{
	jsonw_decimal(j, key, (uint64_t)(share * 1e9 + 0.5), 9);
}

static void use_json(struct jsonw *j, const char *name, const struct use *u)
{
	if (!u->nr)
		return;
	jsonw_object(j, name);
	jsonw_uint(j, "runs", u->nr);
	jsonw_uint(j, "needed_more", u->nr_beyond);
	share_json(j, "used", u->share);
	jsonw_object_end(j);
}

static void size_json(struct jsonw *j, const struct advice *a)
{
	if (!a->has_size)
		return;
	jsonw_object(j, "by_size");
	if (!a->size_is_of_files)
		jsonw_string(j, "tag", a->size_tag);
	jsonw_uint(j, "runs", a->nr_sized);
	jsonw_int(j, "base_bytes", (int64_t)fmax(fmin(a->by_size.base, MOST_BYTES), -MOST_BYTES));
	jsonw_double(j, "bytes_per_unit", a->by_size.slope);
	share_json(j, "explained", a->by_size.explained);
	jsonw_uint(j, "most_above_bytes", (uint64_t)fmin(a->by_size.above, MOST_BYTES));
	jsonw_object_end(j);
}

static void allocation_json(struct jsonw *j, const char *name, const struct allocation *a)
{
	if (!(a->request > 0))
		return;
	jsonw_object(j, name);
	jsonw_uint(j, "rss_bytes", (uint64_t)ceil(a->request));
	share_json(j, "used", a->used);
	share_json(j, "retried", a->retried);
	jsonw_object_end(j);
}

void advice_json_members(struct jsonw *j, const struct advice *a, const char *of, uint64_t nr)
{
	jsonw_uint(j, of, nr);
	jsonw_uint(j, "left_out", a->nr_left);
	jsonw_uint(j, "failed", a->nr_failed);
	jsonw_uint(j, "incomplete", a->nr_incomplete);
	if (a->node.capacity > 0)
		jsonw_uint(j, "too_large", a->nr_too_large);
	spread_json(j, "memory_needed_bytes", &a->memory, a->memory_request, 0);
	spread_json(j, "rss_peak_bytes", &a->rss, a->memory_request, 0);
	spread_json(j, "cores", &a->cores, a->cores_request * 1000, 3);
	spread_json(j, "wall_seconds", &a->wall, a->wall_request, 9);
	if (a->nr_written)
		spread_json(j, "write_bytes", &a->written, a->written_request, 0);
	if (a->nr_gpus)
		spread_json(j, "gpus", &a->gpus, a->gpus_request * 1000, 3);
	if (a->nr_gpu_memory)
		spread_json(j, "gpu_memory_bytes", &a->gpu_memory, a->gpu_memory_request, 0);
	allocation_json(j, "least_waste", &a->least_waste);
	if (a->node.capacity > 0)
		allocation_json(j, "most_runs", &a->most_runs);
	size_json(j, a);
	use_json(j, "memory_requested", &a->memory_use);
	use_json(j, "cores_requested", &a->cores_use);
	use_json(j, "gpus_held", &a->gpus_use);
	share_json(j, "chance_beyond_largest", a->beyond);
	share_json(j, "covered", a->covered);
}

void advice_json(struct jsonw *j, const struct advice *a, const char *what)
{
	jsonw_object(j, NULL);
	jsonw_schema(j, "advise");
	if (what)
		jsonw_string(j, "of", what);
	advice_json_members(j, a, "runs", a->nr);
	jsonw_object_end(j);
	jsonw_newline(j);
}

#define MB 1000000 /* unit of Snakemake; Nextflow and Slurm use MiB */
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

/*
 * Returns the MiB of disk to request; 0 for none. Scratch files took no more than the bytes
 * written.
 */
static uint64_t request_written(const struct advice *a)
{
	return a->written_request / MIB;
}

/* --mem is per node, in MiB. */
static void slurm_lines(FILE *f, const struct advice *a)
{
	fprintf(f,
		"#SBATCH --mem=%" PRIu64 "M\n#SBATCH --cpus-per-task=%" PRIu64
		"\n#SBATCH --time=%02" PRIu64 ":%02" PRIu64 ":00\n",
		request_mebibytes(a), a->cores_request, request_minutes(a) / 60,
		request_minutes(a) % 60);
	if (request_written(a))
		fprintf(f, "#SBATCH --tmp=%" PRIu64 "M\n", request_written(a));
	if (a->gpus_request)
		fprintf(f, "#SBATCH --gpus=%" PRIu64 "\n", a->gpus_request);
}

/*
 * Sets the memory limit to the request, because memory above the request may be reclaimed at any
 * time.
 */
static void kubernetes_lines(FILE *f, const struct advice *a)
{
	const uint64_t milli = a->cores.median ? a->cores.median : 1;
	/* the plugin of each maker has a name of its own */
	const char *gpus = a->has_other_gpus ? "# GPUs, by the name that your cluster gives them"
					     : "nvidia.com/gpu";

	fprintf(f, "resources:\n  requests:\n    memory: %" PRIu64 "Mi\n    cpu: %" PRIu64 "m\n",
		request_mebibytes(a), milli);
	if (request_written(a))
		fprintf(f, "    ephemeral-storage: %" PRIu64 "Mi\n", request_written(a));
	fprintf(f, "  limits:\n    memory: %" PRIu64 "Mi\n", request_mebibytes(a));
	if (a->gpus_request) /* only among limits, which stand for requests */
		fprintf(f, "    %s: %" PRIu64 "\n", gpus, a->gpus_request);
}

/* Returns the first request that costs least if runs that need more are restarted. */
static uint64_t first_request(const struct advice *a)
{
	const struct allocation *first = a->node.capacity > 0 ? &a->most_runs : &a->least_waste;

	return first->request > 0 ? (uint64_t)ceil(first->request) : a->memory_request;
}

/*
 * Returns how often the request doubles until it reaches the whole node, or suffices for all runs.
 */
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
	if (a->gpus_request)
		fprintf(f, "accelerator = %" PRIu64 "\n", a->gpus_request);
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
	if (a->gpus_request)
		fprintf(f, "    gpu=%" PRIu64 ",\n", a->gpus_request);
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
