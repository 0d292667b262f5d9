/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What books report of accounts, for the jobs that own them: callbacks of struct books_ops. What a
 * run has is also of the run that it began in.
 */
#ifndef MEASURE_REPORTS_H
#define MEASURE_REPORTS_H

#include "bpfmon/shared.h"

struct slice;

void report_total(void *job, const struct account_key *key, const struct account *total);
void report_slice(void *job, const struct slice *slice);
void report_socket(void *job, const struct socket_row *row);
void report_unread(void *job);
void report_process(void *job, const struct process_record *r);
void report_oom(void *job, const struct oom_event *e);

#endif
