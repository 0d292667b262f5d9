/* SPDX-License-Identifier: BSD-2-Clause */
/* What a workflow engine writes about a job into the script that it gives to a shell. */
#ifndef SHELL_JOB_SCRIPT_H
#define SHELL_JOB_SCRIPT_H

#include "shell/job_name.h"

/*
 * Names the span after the job, if the first bytes of @script, @text, are Snakemake's or
 * Nextflow's. False: they are not.
 */
bool job_script_read(struct job_name *job, const char *text);

#endif
