// SPDX-License-Identifier: BSD-2-Clause
#include "run/meta.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* clang-format off */
static const struct limit_row rows[NR_LIMITS] = {
	[LIMIT_MEMORY_MAX]      = { "memory_max_bytes", 0 },
	[LIMIT_MEMORY_HIGH]     = { "memory_high_bytes", 0 },
	[LIMIT_SWAP_MAX]        = { "swap_max_bytes", 0 },
	[LIMIT_MEMORY_SWAP_MAX] = { "memory_and_swap_max_bytes", 0 },
	[LIMIT_CPU_MAX]         = { "cpu_max_cores", 3 },
	[LIMIT_PIDS_MAX]        = { "pids_max", 0 },
	[LIMIT_AS]              = { "rlimit_as_bytes", 0 },
	[LIMIT_DATA]            = { "rlimit_data_bytes", 0 },
	[LIMIT_STACK]           = { "rlimit_stack_bytes", 0 },
	[LIMIT_FSIZE]           = { "rlimit_fsize_bytes", 0 },
	[LIMIT_CORE]            = { "rlimit_core_bytes", 0 },
	[LIMIT_MEMLOCK]         = { "rlimit_memlock_bytes", 0 },
	[LIMIT_NOFILE]          = { "rlimit_nofile", 0 },
	[LIMIT_NPROC]           = { "rlimit_nproc", 0 },
	[LIMIT_CPU_TIME]        = { "rlimit_cpu_seconds", 0 },
};
/* clang-format on */

const struct limit_row *limit_get(enum limit_id id)
{
	return &rows[id];
}

bool limit_has(const struct limits *l, enum limit_id id)
{
	return l->have >> id & 1;
}

void limit_lower(struct limits *l, enum limit_id id, uint64_t value)
{
	if (limit_has(l, id) && l->value[id] <= value)
		return;
	l->value[id] = value;
	l->have |= 1U << id;
}

bool list_next(const char **list, unsigned *first, unsigned *last)
{
	char *end;

	if (**list < '0' || **list > '9')
		return false;
	*first = *last = (unsigned)strtoul(*list, &end, 10);
	if (*end == '-')
		*last = (unsigned)strtoul(end + 1, &end, 10);
	*list = end + (*end == ',');
	return *last >= *first;
}

unsigned list_count(const char *list)
{
	unsigned count = 0, first, last;

	while (list_next(&list, &first, &last))
		count += last - first + 1;
	return *list ? 0 : count;
}

ssize_t file_read_text(const char *root, const char *path, char *out, size_t size)
{
	char full[5000];
	__cleanup(closep) int fd = -1;
	size_t used = 0;
	ssize_t n = 1;

	*out = '\0';
	if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full))
		return -ENAMETOOLONG;
	fd = open(full, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* the kernel returns some of its files in several reads */
	while (n > 0 && used < size - 1) {
		n = read(fd, out + used, size - 1 - used);
		if (n < 0) {
			*out = '\0';
			return -errno;
		}
		used += (size_t)n;
	}
	out[used] = '\0';
	return (ssize_t)used;
}

void text_copy(char *out, size_t size, const char *text, size_t n)
{
	if (n >= size)
		n = 0;
	memcpy(out, text, n);
	out[n] = '\0';
}

/* Trims blanks at both ends. */
static const char *text_trim(const char *text, size_t *n)
{
	while (*n && isspace((unsigned char)*text)) {
		text++;
		--*n;
	}
	while (*n && isspace((unsigned char)text[*n - 1]))
		--*n;
	return text;
}

int file_read_line(const char *root, const char *path, char *out, size_t size)
{
	char text[4096];
	ssize_t got = file_read_text(root, path, text, sizeof(text));
	size_t n = strcspn(text, "\n");
	const char *line = text_trim(text, &n);

	text_copy(out, size, line, n);
	if (got < 0)
		return (int)got;
	return *out ? 0 : -ENODATA;
}

const char *text_value(const char *text, const char *key, char separator, size_t *n)
{
	size_t length = strlen(key);

	while (*text) {
		size_t line = strcspn(text, "\n"), rest;
		const char *at = text + length;

		if (line > length && !memcmp(text, key, length)) {
			at += strspn(at, " \t");
			if (*at == separator) {
				rest = (size_t)(text + line - at) - 1;
				*n = rest;
				return text_trim(at + 1, n);
			}
		}
		text += line + (text[line] == '\n');
	}
	return NULL;
}

int text_number(const char *text, const char *key, char separator, uint64_t *value)
{
	size_t n;
	const char *at = text_value(text, key, separator, &n);
	char *end;
	uint64_t v;

	if (!at || !n || !isdigit((unsigned char)*at))
		return -ENODATA;
	errno = 0;
	v = strtoull(at, &end, 10);
	if (errno || end > at + n)
		return -EBADMSG;
	*value = v;
	return 0;
}

#define PLAIN(name)                                                                                \
	{                                                                                          \
		name, NULL, false, false                                                           \
	}
#define WITH(name, other)                                                                          \
	{                                                                                          \
		name, other, false, false                                                          \
	}
#define JOB(name)                                                                                  \
	{                                                                                          \
		name, NULL, true, false                                                            \
	}
#define TITLE(name)                                                                                \
	{                                                                                          \
		name, NULL, false, true                                                            \
	}

/* No addresses or paths to credentials: a URL such as JENKINS_URL may include a password. */
/* clang-format off */
static const struct scheduler_row scheduler_rows[] = {
	/* Slurm */
	JOB("SLURM_JOB_ID"), TITLE("SLURM_JOB_NAME"), PLAIN("SLURM_ARRAY_JOB_ID"),
	PLAIN("SLURM_ARRAY_TASK_ID"), PLAIN("SLURM_ARRAY_TASK_COUNT"), PLAIN("SLURM_ARRAY_TASK_MIN"),
	PLAIN("SLURM_ARRAY_TASK_MAX"), PLAIN("SLURM_ARRAY_TASK_STEP"), PLAIN("SLURM_STEP_ID"),
	PLAIN("SLURM_PROCID"), PLAIN("SLURM_LOCALID"), PLAIN("SLURM_NODEID"), PLAIN("SLURM_NTASKS"),
	PLAIN("SLURM_NNODES"), PLAIN("SLURM_CPUS_PER_TASK"), PLAIN("SLURM_CPUS_ON_NODE"),
	PLAIN("SLURM_MEM_PER_CPU"), PLAIN("SLURM_MEM_PER_NODE"), PLAIN("SLURM_MEM_PER_GPU"),
	PLAIN("SLURM_JOB_PARTITION"), PLAIN("SLURM_JOB_ACCOUNT"), PLAIN("SLURM_JOB_QOS"),
	PLAIN("SLURM_CLUSTER_NAME"), PLAIN("SLURM_RESTART_COUNT"), PLAIN("SLURM_JOB_SLUID"),
	PLAIN("SLURM_HET_SIZE"),
	/* PBS, Torque */
	JOB("PBS_JOBID"), TITLE("PBS_JOBNAME"), PLAIN("PBS_QUEUE"), PLAIN("PBS_ARRAY_INDEX"),
	PLAIN("PBS_ARRAYID"), PLAIN("PBS_NUM_NODES"), PLAIN("PBS_NUM_PPN"), PLAIN("PBS_NP"),
	PLAIN("PBS_NODENUM"), PLAIN("PBS_TASKNUM"),
	/* LSF */
	JOB("LSB_JOBID"), TITLE("LSB_JOBNAME"), PLAIN("LSB_QUEUE"), PLAIN("LSB_JOBINDEX"),
	PLAIN("LSB_DJOB_NUMPROC"),
	/* Grid Engine */
	{ "JOB_ID", "SGE_TASK_ID", true, false }, { "JOB_NAME", "SGE_TASK_ID", false, true },
	WITH("QUEUE", "SGE_TASK_ID"), WITH("NSLOTS", "SGE_TASK_ID"), PLAIN("SGE_TASK_ID"),
	PLAIN("SGE_TASK_FIRST"), PLAIN("SGE_TASK_LAST"), PLAIN("SGE_TASK_STEPSIZE"),
	PLAIN("SGE_CELL"),
	/* OAR, HTCondor */
	JOB("OAR_JOB_ID"), TITLE("OAR_JOB_NAME"), PLAIN("OAR_PROJECT_NAME"), PLAIN("OAR_ARRAY_ID"),
	PLAIN("OAR_ARRAY_INDEX"), PLAIN("_CONDOR_SLOT"), PLAIN("_CONDOR_ANCESTOR_ID"),
	/* Flux; FLUX_URI is an address */
	JOB("FLUX_JOB_ID"), PLAIN("FLUX_JOB_NNODES"), PLAIN("FLUX_JOB_SIZE"),
	PLAIN("FLUX_TASK_RANK"),
	/* Kubernetes: usual names for the downward API; the host name is the pod's */
	PLAIN("POD_NAME"), PLAIN("POD_NAMESPACE"), PLAIN("NODE_NAME"),
	WITH("HOSTNAME", "KUBERNETES_SERVICE_HOST"),
	/* continuous integration */
	JOB("GITHUB_RUN_ID"), PLAIN("GITHUB_RUN_ATTEMPT"), PLAIN("GITHUB_JOB"),
	PLAIN("GITHUB_SHA"), PLAIN("GITHUB_REPOSITORY"), PLAIN("GITHUB_REF_NAME"),
	JOB("CI_JOB_ID"), PLAIN("CI_JOB_NAME"), PLAIN("CI_PIPELINE_ID"), PLAIN("CI_COMMIT_SHA"),
	PLAIN("CI_COMMIT_REF_NAME"), PLAIN("CI_PROJECT_PATH"),
	{ "BUILD_TAG", "JENKINS_URL", true, false },
	WITH("BUILD_ID", "JENKINS_URL"), WITH("JOB_BASE_NAME", "JENKINS_URL"),
	/* settings of programs */
	PLAIN("OMP_NUM_THREADS"), PLAIN("OMP_PROC_BIND"), PLAIN("OMP_PLACES"),
	PLAIN("MKL_NUM_THREADS"), PLAIN("OPENBLAS_NUM_THREADS"), PLAIN("MALLOC_ARENA_MAX"),
	PLAIN("CUDA_VISIBLE_DEVICES"), PLAIN("ROCR_VISIBLE_DEVICES"), PLAIN("CONDA_DEFAULT_ENV"),
	PLAIN("VIRTUAL_ENV"),
};
/* clang-format on */
#define NR_SCHEDULER_ROWS (sizeof(scheduler_rows) / sizeof(*scheduler_rows))
_Static_assert(NR_SCHEDULER_ROWS <= MAX_VARIABLES, "struct meta has room for each");

size_t scheduler_nr_rows(void)
{
	return NR_SCHEDULER_ROWS;
}

const struct scheduler_row *scheduler_row(size_t i)
{
	return &scheduler_rows[i];
}

static const char *variable_value(const struct scheduler_row *row)
{
	const char *value = getenv(row->name);

	if (!value || !*value || (row->only_with && !getenv(row->only_with)))
		return NULL;
	return value;
}

static void variable_copy(char out[VARIABLE_BYTES + 1], const char *value)
{
	size_t n = strnlen(value, VARIABLE_BYTES + 1);

	if (n > VARIABLE_BYTES) {
		n = VARIABLE_BYTES;
		while (n && ((unsigned char)value[n] & 0xc0) == 0x80)
			n--; /* back to the first byte of the character */
	}
	memcpy(out, value, n);
	out[n] = '\0';
}

void scheduler_read(bool no_args, struct meta *m)
{
	for (size_t i = 0; i < NR_SCHEDULER_ROWS; i++) {
		const char *value = variable_value(&scheduler_rows[i]);

		if (!value || (no_args && scheduler_rows[i].may_hold_args))
			continue;
		m->variables[m->nr_variables].name = scheduler_rows[i].name;
		variable_copy(m->variables[m->nr_variables++].value, value);
	}
}

const char *scheduler_job_id(void)
{
	for (size_t i = 0; i < NR_SCHEDULER_ROWS; i++) {
		const char *value =
			scheduler_rows[i].is_job ? variable_value(&scheduler_rows[i]) : NULL;

		if (value && strnlen(value, VARIABLE_BYTES + 1) <= VARIABLE_BYTES)
			return value;
	}
	return NULL;
}

const char *scheduler_later_rank(void)
{
	static const char *const ranks[] = { "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK",
					     "PMI_LOCAL_RANK" };

	for (size_t i = 0; i < sizeof(ranks) / sizeof(*ranks); i++) {
		const char *value = getenv(ranks[i]);

		if (value && atol(value) > 0)
			return ranks[i];
	}
	return NULL;
}
