/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parsers of rows for recording: the pointer is to struct recording_options where nothing else is
 * said. 0, or -EINVAL.
 */
#ifndef BPFMON_RECORDING_VALUES_H
#define BPFMON_RECORDING_VALUES_H

int interval_parse(void *interval_ns, const char *text);
/* Of a name or a job: const char *, not empty; -ENAMETOOLONG: it has RUN_WORD_BYTES. */
int run_word_parse(void *value, const char *text);
int output_parse(void *recording, const char *text);
/* The name of a format of outputs, or a template of the summary. */
int format_parse(void *recording, const char *text);
int metrics_parse(void *recording, const char *text);
/* @text may be NULL: the default. */
int net_peers_parse(void *number, const char *text);
int pss_parse(void *ppm, const char *text);
int stalled_after_parse(void *ns, const char *text);
int stalled_below_parse(void *ppm, const char *text);
int process_samples_parse(void *number, const char *text);
int record_as_parse(void *as_root, const char *text);
int if_unavailable_parse(void *recording, const char *text);
/* 'exact': nothing less will do. */
int require_parse(void *recording, const char *text);
int max_tasks_parse(void *number, const char *text);
int inject_misses_parse(void *permille, const char *text);
int inject_slow_pss_parse(void *ms, const char *text);
/* NAME, which is refused when it is loaded, NAME:attach, or a type of programs. */
int inject_no_program_parse(void *refusals, const char *text);

#endif
