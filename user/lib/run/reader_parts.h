/* SPDX-License-Identifier: BSD-2-Clause */
/* What the lines that are read have in common; absent is 0. */
#ifndef RUN_READER_PARTS_H
#define RUN_READER_PARTS_H

#include "run/reader.h"

#include <jansson.h>

/* A number with so many decimals, as a whole one. False, and *@n is left: it is none, or negative,
 * or there is no room for it; without decimals, it is more than NUMBER_MAX. All numbers of a run
 * are read here: what is out of range is absent. */
bool value_read_number(const json_t *v, unsigned decimals, uint64_t *n);
uint64_t member_read_number(const json_t *o, const char *key, unsigned decimals);
/* Seconds since 1970, as published in microseconds, in ns; 0: none that there is room for. */
uint64_t member_read_epoch(const json_t *o, const char *key);
/* What has not more than 32 bits: PIDs and statuses, which may be negative; counts. */
int32_t value_read_int32(const json_t *v);
uint32_t member_read_uint32(const json_t *o, const char *key);
/* What a process, or a group of them, has used: not "processes", which there counts the group. */
void usage_read(json_t *o, uint64_t *values, struct metric_set *have);
/* Those of @set alone. */
void metrics_read_of(const struct metric_set *set, json_t *o, uint64_t *values,
		     struct metric_set *have);
void metrics_read(json_t *o, uint64_t *values, struct metric_set *have);
/* Adds the instances in the object @by, which may be NULL. */
void instances_read(const json_t *by, struct sample *s);
/* False: it is not there. */
bool member_read_bytes(const json_t *o, const char *key, uint64_t *bytes);
void comm_read(char comm[COMM_TEXT_BYTES], const json_t *o);
/* A sample or a record of a process as bpfmon writes it, of plain texts: without a tree, which is
 * dropped. False: it is another line, of which line_read() decides. (reader_plain.c) */
bool line_read_plain(struct line *l, const char *text, size_t length);
/* reader_process.c, reader_summary.c */
void process_read(struct line *l, json_t *o);
void process_sample_read(struct line *l, json_t *o);
void summary_read(struct line *l, json_t *o);
/* Sets @s to what the members of @o say; absent is 0. */
void summary_read_members(struct summary *s, const json_t *o);
/* Cuts names and tags of the line @o, and leaves @most_tags. (reader_words.c) */
void words_cut(json_t *o, size_t most_tags);
/* reader_span.c */
void span_read(struct line *l, json_t *o);

#endif
