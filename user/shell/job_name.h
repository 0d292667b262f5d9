/* SPDX-License-Identifier: BSD-2-Clause */
/* The name of a job's span, from the arguments of the shell, its script and the environment. */
#ifndef SHELL_JOB_NAME_H
#define SHELL_JOB_NAME_H

#include "shell/shell_words.h"

#include <stdbool.h>

#define JOB_TAG_BYTES 256 /* key, =, value and NUL */
/*
 * Environment variable of a shell for which the wrapper has begun a span: its pid and MAKELEVEL.
 * Shells that this one starts are part of the same job.
 */
#define SHELL_VARIABLE "BPFMON_SPAN_SHELL"

struct job_name {
	char name[SPAN_NAME_BYTES];
	char tags[MAX_SPAN_TAGS][JOB_TAG_BYTES];
	size_t nr_tags;
	bool is_engines; /* named by a workflow engine or the caller: a job of its own */
};

/*
 * Names the job after the first of these: the name that the caller passed; the Snakemake or
 * Nextflow job in the script; the first program of the text; the file name of the script; "bash".
 */
void job_name_find(struct job_name *job, const struct shell_words *w);
/*
 * Returns whether the shell is a job, rather than a shell within one. @variable is the value of
 * SHELL_VARIABLE, @level that of MAKELEVEL; either may be NULL.
 */
bool job_is_new(const struct job_name *job, const char *variable, const char *level);

/*
 * Names @job after the Snakemake or Nextflow job in @text, the first bytes of a script that such an
 * engine wrote. Returns false if it is neither.
 */
bool job_script_read(struct job_name *job, const char *text);

#endif
