/* SPDX-License-Identifier: BSD-2-Clause */
/* The jobs of a node as a table. */
#ifndef TEXT_JOBS_TEXT_H
#define TEXT_JOBS_TEXT_H

#include "store/node_jobs.h"

#include <stdio.h>

enum job_order { JOBS_BY_CPU, JOBS_BY_CORES, JOBS_BY_MEMORY, JOBS_BY_START, JOBS_BY_NAME };

/* Sorts the rows. The row of the node comes first in any order. */
void node_jobs_sort(struct node_job_rows *rows, enum job_order order);
/*
 * Writes one line per job, with its age at @now_epoch_ns, up to @width columns wide if the ids of
 * jobs can be cut to that.
 */
void node_jobs_table(FILE *f, const struct node_job_rows *rows, uint64_t now_epoch_ns,
		     size_t width);
/*
 * Formats the GPUs that the job uses and holds: "1.42 of 2", or "0.00 of 2, 2 idle" if some are
 * without work; "-" if it holds none. Returns @out.
 */
#define JOB_GPUS_BYTES 80
char *job_gpus_format(char out[JOB_GPUS_BYTES], const struct node_job_row *r);
/* Writes that the user named @user has no job. */
void node_jobs_none(FILE *f, const struct node_job_rows *rows, const char *user);
/* Returns true if each row is a job of the user named @user. */
bool node_jobs_are_of(const struct node_job_rows *rows, const char *user);
/* Writes below a list that it has only the jobs of the user named @user. */
void own_jobs_note(FILE *f, const char *user);

#endif
