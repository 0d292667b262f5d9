/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The jobs of the node, as its agent shows them to the user of this server: those of now by
 * its stream, those that have ended by its history. A job is named by the UUID of its run, which
 * both have.
 */
#ifndef WEB_WEB_NODE_H
#define WEB_WEB_NODE_H

#include "store/node_jobs.h"
#include "store/source.h"

#include <stdio.h>

/* Whether it is a UUID as bpfmon writes them; nothing else of a URL reaches the agent. */
bool job_ref_is_valid(const char *ref);
/*
 * The jobs of now, into @rows, for node_jobs_done() in any case; the lines of the run @uuid, unless
 * that is NULL, are written to @kept, too. A negative errno, which was logged.
 */
int node_look(const char *socket, const char *uuid, struct node_job_rows *rows, FILE *kept);
/* Whether the run @uuid is among them. */
bool node_has_job(const struct node_job_rows *rows, const char *uuid);
/* Opens what there is of it: of the history, else its last sample. -ENOENT: there is no such job
 * for this user. Errors as source_open_file(). */
int node_open_job(const char *socket, const char *uuid, struct source *s);
/* A descriptor, which does not block, with the lines of all jobs from now on; or a negative errno,
 * which was logged. */
int node_subscribe(const char *socket);

/* Appends "stalls", an object with the stalls of jobs by their runs, which the history has not. */
void node_stalls_write(const struct node_job_rows *jobs, struct jsonw *j);
/* Appends each as an object under the keys of `bpfmon list --json`. */
void node_jobs_write(const struct node_job_rows *jobs, struct jsonw *j);

#endif
