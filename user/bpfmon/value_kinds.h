/* SPDX-License-Identifier: BSD-2-Clause */
/* Kinds of option values: corrections for mistyped values, and completions for a shell. */
#ifndef BPFMON_VALUE_KINDS_H
#define BPFMON_VALUE_KINDS_H

#include "options/option.h"

#include <stddef.h>

/* See struct value_kind. */
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
