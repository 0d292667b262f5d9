/* SPDX-License-Identifier: BSD-2-Clause */
/* The subcommands: each is a file, cmd_NAME.c, and a row in subcommands.def. */
#ifndef BPFMON_SUBCOMMANDS_H
#define BPFMON_SUBCOMMANDS_H

#include "options/options.h"

#define SUBCOMMAND(name) extern const struct subcommand subcommand_##name;
#include "bpfmon/subcommands.def"

/*
 * Parsers of options with a row in value_kinds[]; the pointer is to the struct of their subcommand.
 */
int list_columns_parse(void *columns, const char *text);
int export_format_parse(void *format, const char *text);
int report_many_parse(void *many, const char *text);

/* Corrections for mistyped values, and completions for a shell; see struct value_kind. */
const char *metric_guess(const char *list, const char **bad, size_t *length);
const char *columns_guess(const char *list, const char **bad, size_t *length);
const char *many_metrics_guess(const char *list, const char **bad, size_t *length);
const char *output_format_guess(const char *text, const char **bad, size_t *length);
const char *export_format_guess(const char *text, const char **bad, size_t *length);
void completion_offer_metrics(const struct completion *c);
void completion_offer_keys(const struct completion *c);
void completion_offer_orders(const struct completion *c);
void completion_offer_many(const struct completion *c);
void completion_offer_columns(const struct completion *c);
void completion_offer_steps(const struct completion *c);
void completion_offer_formats(const struct completion *c);
void completion_offer_outputs(const struct completion *c);

#endif
