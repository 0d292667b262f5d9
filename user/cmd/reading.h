/* SPDX-License-Identifier: BSD-2-Clause */
/* What the options of export, compare and report take: 0, or -EINVAL. */
#ifndef CMD_READING_H
#define CMD_READING_H

#include "cmd/options.h"

int parse_export_format(struct options *o, const char *text);
int parse_export_path(struct options *o, const char *text);
int parse_by(struct options *o, const char *text);
int parse_baseline(struct options *o, const char *text);
int parse_html(struct options *o, const char *text);
int parse_fail_if(struct options *o, const char *text);
int parse_report_path(struct options *o, const char *text);
int parse_report_format(struct options *o, const char *text);

#endif
