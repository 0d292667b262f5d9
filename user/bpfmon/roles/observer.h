/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An observer of a run: a format of --output, the summary on the terminal, the store. The recorder
 * parses each line of the stream once and gives it to every observer.
 */
#ifndef ROLES_OBSERVER_H
#define ROLES_OBSERVER_H

#include "base/patience.h"
#include "bpfmon/roles/output.h"
#include "bpfmon/roles/recorder.h"
#include "run/reader.h"

struct observer;
struct recorder_options;

#define OBSERVER_SKIPPED 1

/*
 * The life of an observer, in this order. A hook may be NULL. A hook returns 0 or a negative errno:
 * then the recorder reports that once and calls no other hook but close; the other observers and
 * the command go on. All hooks run in the recorder's only thread: a hook that has to wait uses
 * observer->patience, or passes its work to a thread of its own.
 */
struct observer_ops {
	const char *name;      /* as typed in --output NAME:TARGET */
	const char *extension; /* of a path that selects this format; may be NULL */
	size_t own_bytes;      /* size of what observer->own points to */
	/*
	 * Returns the target if an option of its own requests this observer, or NULL. An observer
	 * without this hook is requested by --output alone.
	 */
	const char *(*target)(const struct recorder_options *options);
	/*
	 * Called before the command runs. Returns 0; OBSERVER_SKIPPED if the run goes on without
	 * this observer, which the hook has reported; or a negative errno to refuse the run: the
	 * hook has left nothing open and has reported the error to the launcher, except for
	 * -ENOMEM, which the recorder reports.
	 */
	int (*open)(struct observer *o, const struct recorder_options *options);
	/* Called at the first line. */
	int (*begin)(struct observer *o);
	/*
	 * Called for each line: @l as parsed, and @text of @length bytes, newline included. The
	 * line of a process may have no tree.
	 */
	int (*line)(struct observer *o, const struct line *l, const char *text, size_t length);
	/* Called when no more lines are available at the moment. */
	int (*flush)(struct observer *o);
	/*
	 * Called after the summary, which is the last line, in reverse order of opening: what a
	 * hook notes in @total (where the run is kept) can be shown by observers opened before.
	 */
	int (*end)(struct observer *o, struct summary *total);
	/* Called in any case, after failures and without begin. */
	int (*close)(struct observer *o);
};

struct observer {
	const struct observer_ops *ops;
	const char *target;        /* a path, or a name for messages; not owned */
	void *own;                 /* private to the hooks; zeroed before open, freed after close */
	struct patience *patience; /* with readers; not owned */
	bool has_failed;
};

/* Returns the observer of that name in --output, or NULL. */
const struct observer_ops *observer_find(const char *name, size_t length);
/* Returns the format that the extension of @path selects, or NULL. */
const struct observer_ops *observer_for_path(const char *path);
/*
 * Returns the end of @path from its last dot if it looks like a format's extension (.xlsx, but not
 * .1 or what mktemp generates), else NULL.
 */
const char *path_extension(const char *path);
/* Returns the observer at index @i of the table, or NULL after the last. */
const struct observer_ops *observer_at(size_t i);

extern const struct observer_ops text_observer, jsonl_observer, csv_observer, influx_observer,
	terminal_observer, live_observer, lines_observer, store_observer;

/* All observers of a run. A failure of one is reported and does not affect the others. */

struct observers {
	struct observer *all; /* owned */
	size_t nr;
};

/*
 * Opens the observers that @options request: the outputs, then those with an option of their own.
 * They wait for readers with @patience, which is not owned. Returns 0; -ECANCELED if the launcher
 * is gone; or another negative errno, reported to the launcher except for -ENOMEM. The caller calls
 * observers_close() in any case.
 */
int observers_open(struct observers *s, const struct recorder_options *options,
		   struct patience *patience);
/* Each calls the hook of that name for every observer that has not failed. */
void observers_begin(struct observers *s);
void observers_line(struct observers *s, const struct line *l, const char *text, size_t length);
void observers_flush(struct observers *s);
void observers_end(struct observers *s, struct summary *total);
/* Closes all opened observers, the failed ones too. */
void observers_close(struct observers *s);

/* Hooks shared by the observers that write text. Their private data begins with a struct output. */

static inline struct output *file_observer_output(struct observer *o)
{
	return o->own;
}

/* Opens the target path. Waits for the reader of a pipe as long as the launcher exists. */
int file_observer_open(struct observer *o, const struct recorder_options *options);
/* Gives the file its final name. */
int file_observer_begin(struct observer *o);
int file_observer_flush(struct observer *o);
int file_observer_close(struct observer *o);

#endif
