/* SPDX-License-Identifier: BSD-2-Clause */
/* The text formats of Prometheus: OpenMetrics 1.0.0, and the older 0.0.4. */
#ifndef EXPORT_OPENMETRICS_H
#define EXPORT_OPENMETRICS_H

#include "base/buffer.h"
#include "run/metric.h"

enum exposition { EXPOSITION_OPENMETRICS, EXPOSITION_PLAIN /* 0.0.4 */ };

/* All metrics of one name; its samples follow. */
struct family {
	const char *prefix; /* of the name, "bpfmon_" */
	const char *key;    /* rest of the name, without "_total" */
	const char *help;
	const char *help_end; /* appended to @help; NULL: nothing */
	enum metric_kind kind;
	enum metric_unit unit;
};

/* Appends HELP and TYPE, with the samples' name in the older format, and UNIT for OpenMetrics. */
void openmetrics_put_family(struct buffer *t, const struct family *f, enum exposition as);
/* Appends the name of the samples. */
void openmetrics_put_name(struct buffer *t, const struct family *f);
/* Appends a sample. @labels include the braces and may be empty. */
void openmetrics_put_sample(struct buffer *t, const struct family *f, const struct buffer *labels,
			    uint64_t value);
/*
 * Appends @key="@value" after "{", or after "," if @t already has a label; the caller closes the
 * brace. Characters that control a terminal become "?".
 */
void openmetrics_put_label(struct buffer *t, const char *key, const char *value);

#endif
