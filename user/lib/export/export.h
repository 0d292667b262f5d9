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

/* The runs that go into one export, and what its documents must know of all of them. */

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

#define EXPORT_DOCUMENTS 2

/* Receives @length bytes of a document, in order; a negative errno ends the export. */
typedef int (*export_fn)(void *context, const char *text, size_t length);

/* A run that is exported, and what was read of it beforehand. */
struct exporter {
	struct source *source;      /* not owned */
	struct export_batch *batch; /* not owned; the caller's where there are several runs */
	json_t *meta;               /* owned */
	uint64_t start_epoch_ns;
	struct metric_set wanted;
	struct summary total; /* owned */
	bool is_folded;       /* the run has no summary: @total was computed from its lines */
	uint64_t unreadable;  /* lines that were left out */
	struct buffer text;   /* owned; what has not been passed on yet */
	struct jsonw json;    /* owned; the line that is being written */
	void *state;          /* of the format, while it writes a document */
	export_fn pass;
	void *context;
	bool is_refused; /* the error is one of @pass, not of reading */
};

/* One file of a format; some formats have two. */
struct export_document {
	const char *suffix;                /* added to the path of the export */
	int (*write)(struct exporter *e);  /* of e->batch, the run that is its turn */
	int (*survey)(struct exporter *e); /* what @write needs to know of a run before the first
					    * is written; NULL: nothing */
};

struct export_format {
	const char *name; /* as typed in --format */
	const char *help;
	bool takes_several; /* one file holds several runs, and its readers know them apart */
	struct export_document documents[EXPORT_DOCUMENTS]; /* the end: one without a function */
};

/* Reads what all formats need; @s is borrowed until export_close(), which is needed in any case.
 * Errors are those of source_each(), and -ENOMEM. For one of several runs set e->batch then. */
int export_open(struct exporter *e, struct source *s);
void export_close(struct exporter *e);
/* Writes one document through @pass. 0, or a negative errno, which is that of @pass if
 * e->is_refused. */
int export_write(struct exporter *e, const struct export_document *d, export_fn pass,
		 void *context);

/* NULL when there is no such format. */
const struct export_format *export_find(const char *name);
/* The format at place @i, in the order of the manual; NULL after the last. */
const struct export_format *export_at(size_t i);

/* For formats: passes the text on once it has grown large. 0, or a negative errno. */
int export_flush_full(struct exporter *e);
/* The text of @key in the meta line; NULL: there is none. */
const char *export_meta_text(const struct exporter *e, const char *key);
/* The number of @key in "system" of the meta line; 0: there is none. */
uint64_t export_system_number(const struct exporter *e, const char *key);
/* Writes "bpfmon VERSION", the version that recorded the run; returns @out. */
const char *export_version(const struct exporter *e, char *out, size_t size);
/* Appends the words of the command with blanks between, inert; false: the run has no command. */
bool export_command(const struct exporter *e, struct buffer *t);

extern const struct export_format jsonl_export, csv_export, spans_csv_export, document_export,
	influx_export, openmetrics_export, prmon_export, gnu_time_export, psrecord_export,
	psrecord_plain_export, rmonitor_export, snakemake_export, nextflow_export;

#endif
