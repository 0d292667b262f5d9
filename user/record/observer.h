/* SPDX-License-Identifier: BSD-2-Clause */
/* A format that samples and records are written in; and any other observer of the stream. */
#ifndef RECORD_OBSERVER_H
#define RECORD_OBSERVER_H

#include "record/output.h"
#include "wire/reader.h"

struct observer;

/* A NULL hook means the format has nothing to say at that point. */
struct observer_ops {
	const char *name;      /* as typed in --output name:path */
	const char *extension; /* of a path that means this format */
	/* Every line, parsed, and as it came: @text of @length bytes, newline included. */
	void (*line)(struct observer *s, const struct line *l, const char *text, size_t length);
	/* The end of the run, whoever made up the summary. */
	void (*end)(struct observer *s, const struct summary *total);
};

struct observer {
	const struct observer_ops *ops;
	struct output out;
	struct metric_set columns; /* csv: those of its header */
	bool has_header;
	bool has_summary; /* jsonl: it came with the stream */
};

/* NULL when there is no such format. */
const struct observer_ops *observer_find(const char *name, size_t length);
/* The format that the extension of @path means; NULL for none. */
const struct observer_ops *observer_for_path(const char *path);
/* The format at place @i, in the order of the manual; NULL after the last. */
const struct observer_ops *observer_at(size_t i);

extern const struct observer_ops text_observer, jsonl_observer, csv_observer;

#endif
