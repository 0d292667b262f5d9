/* SPDX-License-Identifier: BSD-2-Clause */
/* A run that was kept, in the formats of other programs. */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include "base/json.h"
#include "base/buffer.h"
#include "source/source.h"

#include <jansson.h>

#define EXPORT_DOCUMENTS 2

/* Takes @length bytes of a document, in order; a negative errno ends it. */
typedef int (*export_fn)(void *context, const char *text, size_t length);

/* A run that is exported, and what is known of it beforehand. */
struct exporter {
	struct source *source; /* not owned */
	json_t *meta;          /* owned */
	uint64_t start_epoch_ns;
	struct metric_set wanted;
	struct summary total; /* owned; folded where the run has none: */
	bool is_folded;
	uint64_t unreadable; /* lines that were left out */
	struct buffer text;  /* owned; what has not been passed on yet */
	struct json json;    /* owned; of the line that is being made */
	void *state;         /* of the document that is being written */
	export_fn pass;
	void *context;
	bool is_refused; /* not reading failed but @pass */
};

/* Some formats are more than one file. */
struct export_document {
	const char *suffix; /* of its path */
	int (*write)(struct exporter *e);
};

struct export_format {
	const char *name; /* as typed in --format */
	const char *help;
	struct export_document documents[EXPORT_DOCUMENTS]; /* one without a function ends them */
};

/* Reads what all formats need. Errors are those of source_each(), and -ENOMEM. */
int export_open(struct exporter *e, struct source *s);
void export_close(struct exporter *e);
/* Writes one document through @pass. A negative errno: of @pass where e->is_refused. */
int export_write(struct exporter *e, const struct export_document *d, export_fn pass,
		 void *context);

/* NULL when there is no such format. */
const struct export_format *export_find(const char *name);
/* The format at place @i, in the order of the manual; NULL after the last. */
const struct export_format *export_at(size_t i);

/* For the formats: passes on what has come together, where that is much. 0, or an error. */
int export_flush_full(struct exporter *e);
/* The text at the top of the meta under @key; NULL: there is none. */
const char *export_meta_text(const struct exporter *e, const char *key);
/* The number at meta.system under @key; 0: there is none. */
uint64_t export_system_number(const struct exporter *e, const char *key);
/* Writes "bpfmon VERSION", of the one that recorded the run; returns @out. */
const char *export_version(const struct exporter *e, char *out, size_t size);
/* The words of the command and blanks between, inert; false: it was left out. */
bool export_command(const struct exporter *e, struct buffer *t);

extern const struct export_format jsonl_export, csv_export, document_export, influx_export,
	openmetrics_export, prmon_export, gnu_time_export, psrecord_export, psrecord_plain_export,
	rmonitor_export;

#endif
