// SPDX-License-Identifier: BSD-2-Clause
#include "run/scheduler.h"

#include <stdlib.h>
#include <string.h>

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

/* No address and no path to credentials: a URL may hold a password, as JENKINS_URL may. */
/* clang-format off */
static const struct scheduler_row rows[] = {
	/* Slurm */
	JOB("SLURM_JOB_ID"), TITLE("SLURM_JOB_NAME"), PLAIN("SLURM_ARRAY_JOB_ID"),
	PLAIN("SLURM_ARRAY_TASK_ID"), PLAIN("SLURM_ARRAY_TASK_COUNT"), PLAIN("SLURM_ARRAY_TASK_MIN"),
	PLAIN("SLURM_ARRAY_TASK_MAX"), PLAIN("SLURM_ARRAY_TASK_STEP"), PLAIN("SLURM_STEP_ID"),
	PLAIN("SLURM_PROCID"), PLAIN("SLURM_LOCALID"), PLAIN("SLURM_NODEID"), PLAIN("SLURM_NTASKS"),
	PLAIN("SLURM_NNODES"), PLAIN("SLURM_CPUS_PER_TASK"), PLAIN("SLURM_CPUS_ON_NODE"),
	PLAIN("SLURM_MEM_PER_CPU"), PLAIN("SLURM_MEM_PER_NODE"), PLAIN("SLURM_MEM_PER_GPU"),
	PLAIN("SLURM_JOB_PARTITION"), PLAIN("SLURM_JOB_ACCOUNT"), PLAIN("SLURM_JOB_QOS"),
	PLAIN("SLURM_CLUSTER_NAME"), PLAIN("SLURM_RESTART_COUNT"),
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
	/* Kubernetes: usual names for the downward API; the host name is the pod's */
	PLAIN("POD_NAME"), PLAIN("POD_NAMESPACE"), PLAIN("NODE_NAME"),
	WITH("HOSTNAME", "KUBERNETES_SERVICE_HOST"),
	/* continuous integration */
	PLAIN("GITHUB_RUN_ID"), PLAIN("GITHUB_RUN_ATTEMPT"), PLAIN("GITHUB_JOB"),
	PLAIN("GITHUB_SHA"), PLAIN("GITHUB_REPOSITORY"), PLAIN("GITHUB_REF_NAME"),
	PLAIN("CI_JOB_ID"), PLAIN("CI_JOB_NAME"), PLAIN("CI_PIPELINE_ID"), PLAIN("CI_COMMIT_SHA"),
	PLAIN("CI_COMMIT_REF_NAME"), PLAIN("CI_PROJECT_PATH"),
	WITH("BUILD_ID", "JENKINS_URL"), WITH("JOB_BASE_NAME", "JENKINS_URL"),
	/* settings of programs */
	PLAIN("OMP_NUM_THREADS"), PLAIN("OMP_PROC_BIND"), PLAIN("OMP_PLACES"),
	PLAIN("MKL_NUM_THREADS"), PLAIN("OPENBLAS_NUM_THREADS"), PLAIN("MALLOC_ARENA_MAX"),
	PLAIN("CUDA_VISIBLE_DEVICES"), PLAIN("ROCR_VISIBLE_DEVICES"), PLAIN("CONDA_DEFAULT_ENV"),
	PLAIN("VIRTUAL_ENV"),
};
/* clang-format on */
#define NR_ROWS (sizeof(rows) / sizeof(*rows))
_Static_assert(NR_ROWS <= MAX_VARIABLES, "struct meta has room for each");

size_t scheduler_nr_rows(void)
{
	return NR_ROWS;
}

const struct scheduler_row *scheduler_row(size_t i)
{
	return &rows[i];
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
	for (size_t i = 0; i < NR_ROWS; i++) {
		const char *value = variable_value(&rows[i]);

		if (!value || (no_args && rows[i].may_hold_args))
			continue;
		m->variables[m->nr_variables].name = rows[i].name;
		variable_copy(m->variables[m->nr_variables++].value, value);
	}
}

const char *scheduler_job_id(void)
{
	for (size_t i = 0; i < NR_ROWS; i++) {
		const char *value = rows[i].is_job ? variable_value(&rows[i]) : NULL;

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
