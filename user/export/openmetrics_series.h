/* SPDX-License-Identifier: BSD-2-Clause */
/* The instances of an export in OpenMetrics: each is a series with a label of its dimension. */
#ifndef EXPORT_OPENMETRICS_SERIES_H
#define EXPORT_OPENMETRICS_SERIES_H

#include "export/batch.h"

/*
 * The series of @i in the run of @b that is read now, made if it is new; its labels are those of
 * the run, @labels of @bytes, and one more. NULL: it has no name that the format takes, or there
 * are too many, or, and b->text.failed is set, there is no memory.
 */
struct instance_series *series_get(struct export_batch *b, const struct instance *i,
				   const char *labels, size_t bytes);
/* Whether it is the first of its dimension. */
bool series_is_first(const struct export_batch *b, size_t at);

#endif
