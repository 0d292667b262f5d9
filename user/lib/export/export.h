/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes recorded runs in the formats of other programs. */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include "base/buffer.h"
#include "base/json.h"
#include "run/metric.h"
#include "run/summary_field.h"
#include "store/source.h"

#include <jansson.h>
#include <stdio.h>

/* Runs that go into one export, and what its documents need to know of all of them. */

struct exporter;
struct export_format;

/* An instance of a run whose values are written at the end. */
struct instance_series {
	size_t run; /* index of the run in the batch */
	char dimension[DIMENSION_BYTES], name[INSTANCE_BYTES];
	struct buffer labels; /* owned */
	struct metric_set have;
};

struct export_batch {
	size_t nr, at;          /* number of runs, and index of the current one */
	bool is_many;           /* each row names its run; also if one run was selected from many */
	json_t *seen;           /* owned; UUIDs of the runs as keys; NULL: none yet */
	struct metric_set have; /* columns for metrics of any run */
	bool has_field[NR_SUMMARY_FIELDS]; /* columns for fields of spans of any run */
	FILE *kept;         /* owned; rows of a format that writes everything at the end, or NULL */
	struct buffer text; /* owned; labels of such a format */
	struct instance_series *series; /* owned; instances of such a format */
	size_t nr_series;
};

/*
 * Adds a run before the first one is written, and lets the format @f survey it. Returns 0, -EEXIST
 * if the batch already has the run, -ENOMEM, or an error of source_each(). On error the run is not
 * counted.
 */
int export_batch_add(struct export_batch *b, const struct export_format *f, struct source *s);
void export_batch_done(struct export_batch *b);

/* Append titles or cells of the columns that name a row's run, with commas, if is_many. */
void batch_put_titles(const struct export_batch *b, struct buffer *t);
void batch_put_cells(struct exporter *e);
bool batch_is_last(const struct export_batch *b);

#define EXPORT_DOCUMENTS 2

/* Receives @length bytes of a document, in order. A negative errno ends the export. */
typedef int (*export_fn)(void *context, const char *text, size_t length);

/* A run that is exported, and data that was read of it beforehand. */
struct exporter {
	struct source *source;      /* not owned */
	struct export_batch *batch; /* not owned; set by the caller if there are several runs */
	json_t *meta;               /* owned */
	uint64_t start_epoch_ns;
	struct metric_set wanted;
	struct summary total; /* owned */
	bool is_folded;       /* the run has no summary: @total was computed from its lines */
	uint64_t unreadable;  /* number of lines that were skipped */
	struct buffer text;   /* owned; output not passed on yet */
	struct jsonw json;    /* owned; current line */
	void *state;          /* of the format, while it writes a document */
	export_fn pass;
	void *context;
	bool is_refused; /* the error is from @pass, not from reading */
};

/* A file of a format; some formats have two. */
struct export_document {
	const char *suffix;                /* appended to the path of the export */
	int (*write)(struct exporter *e);  /* writes the run e->batch->at */
	int (*survey)(struct exporter *e); /* surveys a run before the first write */
};

struct export_format {
	const char *name; /* as typed in --format */
	const char *help;
	bool takes_several; /* a file may hold several runs that its readers can tell apart */
	struct export_document documents[EXPORT_DOCUMENTS]; /* ends with one without functions */
};

/*
 * Reads what all formats need. @s must live until export_close(), which the caller must call even
 * after an error. Returns 0, -ENOMEM or an error of source_each(). For one of several runs set
 * e->batch afterwards.
 */
int export_open(struct exporter *e, struct source *s);
void export_close(struct exporter *e);
/* Writes a document through @pass. Returns 0 or a negative errno, of @pass if e->is_refused. */
int export_write(struct exporter *e, const struct export_document *d, export_fn pass,
		 void *context);

/* Returns NULL if there is no such format. */
const struct export_format *export_find(const char *name);
/* Returns format @i in the order of the manual, or NULL after the last. */
const struct export_format *export_at(size_t i);

/* For formats: pass the text on, always or if it is large. Return 0 or a negative errno. */
int export_flush(struct exporter *e);
int export_flush_full(struct exporter *e);
/* Returns the text of @key in the meta line, or NULL. */
const char *export_meta_text(const struct exporter *e, const char *key);
/* Returns the number of @key in "system" of the meta line, or 0. */
uint64_t export_system_number(const struct exporter *e, const char *key);
/* Writes "bpfmon VERSION" of the version that recorded the run to @out, and returns @out. */
const char *export_version(const struct exporter *e, char *out, size_t size);
/* Appends the command, made harmless for a terminal. Returns false if the run has none. */
bool export_command(const struct exporter *e, struct buffer *t);

extern const struct export_format jsonl_export, csv_export, spans_csv_export, document_export,
	influx_export, openmetrics_export, prmon_export, gnu_time_export, psrecord_export,
	psrecord_plain_export, rmonitor_export, snakemake_export, nextflow_export;

/* InfluxDB's line protocol of a run while it goes on; the format influx is that of stored ones. */

struct influx_live;

/*
 * Begins with the run's meta line. Points go to @pass as lines, when they are flushed or many.
 * Returns NULL if out of memory; the caller calls influx_live_free().
 */
struct influx_live *influx_live_new(const struct line *meta, export_fn pass, void *context);
/* Adds the points of a line. Returns 0 or a negative errno, as of @pass. */
int influx_live_put(struct influx_live *l, const struct line *line);
/* Passes on what there is. Returns 0 or a negative errno, as of @pass. */
int influx_live_flush(struct influx_live *l);
/* Does nothing with NULL. */
void influx_live_free(struct influx_live *l);

#endif
