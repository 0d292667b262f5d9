/* SPDX-License-Identifier: BSD-2-Clause */
/* The id of a job of the node, such as "slurm/815", as people read and type it. */
#ifndef RUN_JOB_ID_H
#define RUN_JOB_ID_H

#include <stdbool.h>
#include <stddef.h>

#define JOB_ID_BYTES 512   /* of any id */
#define JOB_HASH_DIGITS 64 /* of a container */

/*
 * Copies @id with 12 of the 64 digits of each container, and "?" for characters that control a
 * terminal. Returns @out, which has @size bytes.
 */
char *job_id_format(char *out, size_t size, const char *id);
/* Returns whether @id is @text, or job_id_format() makes @text of it. */
bool job_id_is(const char *id, const char *text);
/*
 * Copies @text with "*" after each part that has 12 digits, as job_id_format() leaves: a pattern
 * for the ids that it means. Returns @out, or NULL if @text has no such part or is too long.
 */
const char *job_id_pattern(char *out, size_t size, const char *text);

#endif
