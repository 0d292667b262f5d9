/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The jobs of the node that the agent shows to the user of this server: running jobs from its
 * stream, ended ones from its history. The UUID of the run identifies a job in both.
 */
#ifndef WEB_WEB_NODE_H
#define WEB_WEB_NODE_H

#include "store/node_jobs.h"
#include "store/source.h"

#include <stdio.h>

/* Returns true for a UUID as bpfmon writes it. Nothing else of a URL reaches the agent. */
bool job_ref_is_valid(const char *ref);
/*
 * Reads the running jobs into @rows. If @uuid is not NULL, copies the lines of that run to @kept.
 * The caller calls node_jobs_done() in any case. Returns 0, or a negative errno that was logged.
 */
int node_read_jobs(const char *socket, const char *uuid, struct node_job_rows *rows, FILE *kept);
/* Returns true if a line of the agent's stream is of the run @uuid. Does not parse the line. */
bool node_line_is_of(const char *text, size_t length, const char *uuid);
bool node_has_job(const struct node_job_rows *rows, const char *uuid);
/*
 * Opens a job from the history, else its latest sample. Returns 0, -ENOENT if there is no such job
 * for this user, or an error of source_open_file().
 */
int node_open_job(const char *socket, const char *uuid, struct source *s);
/*
 * Returns a non-blocking descriptor with the lines of all jobs from now on, or a negative errno
 * that was logged.
 */
int node_subscribe(const char *socket);

/* Appends "stalls", an object of run UUID to stall. The history has no stalls. */
void node_stalls_write(const struct node_job_rows *jobs, struct jsonw *j);
/* Appends each job as an object with the keys of `bpfmon list --json`. */
void node_jobs_write(const struct node_job_rows *jobs, struct jsonw *j);

#endif
