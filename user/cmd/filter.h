/* SPDX-License-Identifier: BSD-2-Clause */
/* What the options of `list` and `store` take. */
#ifndef CMD_FILTER_H
#define CMD_FILTER_H

#include "cmd/options.h"

/* The runs that the options of `list` or `compare` ask for. */
struct run_filter options_filter(const struct options *o);
/* Whether any of them was given. */
bool options_has_filter(const struct options *o);

int parse_filter_tag(struct options *o, const char *text);
int parse_filter_command(struct options *o, const char *text);
int parse_filter_host(struct options *o, const char *text);
int parse_filter_user(struct options *o, const char *text);
int parse_filter_state(struct options *o, const char *text);
/* A span before now (7d, 12h, 30m, 90s, 2w), or a local date: 2025-12-24, 2025-12-24 18:30. */
int parse_filter_since(struct options *o, const char *text);
/* The same: what is older. */
int parse_older_than(struct options *o, const char *text);
int parse_keep(struct options *o, const char *text);
/* 500MiB, 2G: powers of 1024. */
int parse_max_size(struct options *o, const char *text);
int parse_by_phase(struct options *o, const char *text);
int parse_order(struct options *o, const char *text);
int parse_limit(struct options *o, const char *text);

#endif
