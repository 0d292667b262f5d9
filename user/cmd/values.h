/* SPDX-License-Identifier: BSD-2-Clause */
/* What the options of a run and of an attachment take: 0, or -EINVAL. */
#ifndef CMD_VALUES_H
#define CMD_VALUES_H

#include "cmd/options.h"

int parse_interval(struct options *o, const char *text);
int parse_duration(struct options *o, const char *text);
int parse_output(struct options *o, const char *text);
int parse_format(struct options *o, const char *text);
int parse_metrics(struct options *o, const char *text);
int parse_pss(struct options *o, const char *text);
int parse_user(struct options *o, const char *text);
int parse_wait(struct options *o, const char *text);
int parse_record_as(struct options *o, const char *text);
int parse_pid(struct options *o, const char *text);
int parse_cgroup(struct options *o, const char *text);
int parse_container(struct options *o, const char *text);
int parse_marks(struct options *o, const char *text);
int parse_metrics_udp(struct options *o, const char *text);
int parse_process_samples(struct options *o, const char *text);
int parse_max_tasks(struct options *o, const char *text);
int parse_inject_misses(struct options *o, const char *text);
int parse_inject_no_program(struct options *o, const char *text);
int parse_name(struct options *o, const char *text);
int parse_job(struct options *o, const char *text);
int parse_store(struct options *o, const char *text);

#endif
