/* SPDX-License-Identifier: BSD-2-Clause */
/* The name of the span of a job, by the arguments of a shell, its script and the environment. */
#ifndef SHELL_JOB_NAME_H
#define SHELL_JOB_NAME_H

#include "shell/shell_words.h"

#include <stdbool.h>

#define JOB_TAG_BYTES 256 /* key, equals sign, value, NUL */
/*
 * Set for a shell whose span the wrapper has begun: its process, and its MAKELEVEL. A shell that a
 * job starts in turn is part of that job.
 */
#define SHELL_VARIABLE "BPFMON_SPAN_SHELL"

struct job_name {
	char name[SPAN_NAME_BYTES];
	char tags[MAX_SPAN_TAGS][JOB_TAG_BYTES];
	size_t nr_tags;
	bool is_engines; /* a workflow engine or the caller has named it: it is a job of its own */
};

/*
 * In this order: the name that the caller gives; that of Snakemake's or Nextflow's job, which the
 * script has; the first program of the text; the script's file name; "bash".
 */
void job_name_find(struct job_name *job, const struct shell_words *w);
/*
 * Whether it is a job, and no shell within one, where @variable is the value of SHELL_VARIABLE and
 * @level that of MAKELEVEL; either may be NULL.
 */
bool job_is_new(const struct job_name *job, const char *variable, const char *level);

/* What a workflow engine writes about a job into the script that it gives to a shell. */

/*
 * Names the span after the job, if the first bytes of @script, @text, are Snakemake's or
 * Nextflow's. False: they are not.
 */
bool job_script_read(struct job_name *job, const char *text);

#endif
