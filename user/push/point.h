/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A point: the values of one series at one time. points.c says what is in it, and its notation how
 * it is written: as a line of the line protocol, or as a record of OTLP.
 */
#ifndef PUSH_POINT_H
#define PUSH_POINT_H

#include "board/board.h"
#include "board/shown.h"
#include "push/points.h"

struct point {
	struct buffer *t;
	const struct points *p;
	const char *prefix;          /* of its names in bpfmon-exporter, as in "bpfmon_job_" */
	const struct buffer *labels; /* of the notation; NULL: none */
	uint64_t time_ns;
	uint64_t start_ns; /* its counters count from then on; 0: unknown */
	bool is_end;       /* without values: it says that there are none from now on */
	bool has_value;
	size_t begin, inner[2]; /* offsets; the latter are of the notation */
};

/* Appends nothing if the value is empty. */
typedef void (*put_tag_fn)(struct buffer *t, const char *key, const char *value, size_t length);

struct point_notation {
	bool has_starts; /* points have a start, and a series has an end */
	/* Sets the texts of @p that all points have. */
	void (*init)(struct points *p, const char *instance, const char *tags);
	put_tag_fn put_tag; /* of one series */
	void (*begin)(struct point *at);
	void (*put)(struct point *at, const struct family *f, uint64_t value);
	/* Called if there is a value. */
	void (*end)(struct point *at);
	/* Appends the row of an ended job to those of @p. */
	void (*put_ended)(struct points *p, const struct job_labels *l,
			  const struct ended_values *values, uint64_t epoch_ns);
};

extern const struct point_notation point_lines, point_otlp;

/* Appends "KEY=VALUE ..." by @put. */
void tags_put_list(struct buffer *t, const char *tags, put_tag_fn put);
/* Appends the labels of a series, never none, and those of which there are few. */
void labels_put_all(struct buffer *t, const struct job_labels *l, put_tag_fn put);
void labels_put_owner(struct buffer *t, const struct job_labels *l, put_tag_fn put);
/* A number that no integer of the notation holds is left out. */
void point_put_value(struct point *at, const struct family *f, uint64_t value);
void point_put_ended(struct point *at, const struct ended_values *values);
/* A point without a value is removed. */
void point_begin(struct point *at);
void point_end(struct point *at);

#endif
