/* SPDX-License-Identifier: BSD-2-Clause */
/* The runs that go into one export, and what its documents must know of all of them. */
#ifndef EXPORT_BATCH_H
#define EXPORT_BATCH_H

#include "base/buffer.h"
#include "run/metric.h"
#include "run/summary_field.h"
#include "store/source.h"

#include <jansson.h>
#include <stdio.h>

struct exporter;
struct export_format;

/* An instance of a run whose values are written at the end. */
struct instance_series {
	size_t run; /* which of the batch */
	char dimension[DIMENSION_BYTES], name[INSTANCE_BYTES];
	struct buffer labels; /* owned */
	struct metric_set have;
};

struct export_batch {
	size_t nr, at; /* runs, and which of them is being written */
	bool is_many;  /* each row says which run it is of; also where one was found of many */
	json_t *seen;  /* owned; the UUIDs of the runs, as keys; NULL: none yet */
	struct metric_set have;            /* columns, of all runs */
	bool has_field[NR_SUMMARY_FIELDS]; /* the same of spans */
	FILE *kept;                     /* owned; of formats that write all at the end, or NULL */
	struct buffer text;             /* owned; the same */
	struct instance_series *series; /* owned; the same: the instances that there are */
	size_t nr_series;
};

/*
 * Reads what the format @f must know of a run before the first one is written, and counts it. 0;
 * -EEXIST: the batch has that run already, which is not counted; or an error of source_each(), or
 * -ENOMEM.
 */
int export_batch_add(struct export_batch *b, const struct export_format *f, struct source *s);
void export_batch_done(struct export_batch *b);

/* For formats, where a batch is_many: the titles of the columns that say which run a row is of, and
 * their cells; with the comma behind them. */
void batch_put_titles(const struct export_batch *b, struct buffer *t);
void batch_put_cells(struct exporter *e);
bool batch_is_last(const struct export_batch *b);

#endif
