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
 * The life of an observer, in this order; a hook that is NULL does nothing. A hook returns 0 or a
 * negative errno: then the recorder reports that, once, and calls no other hook but close; the
 * other observers and the command go on. All hooks run in the recorder's only thread: one that has
 * to wait does so by observer->patience, or gives what it has to a thread of its own.
 */
struct observer_ops {
	const char *name;      /* as typed in --output NAME:TARGET */
	const char *extension; /* of a path that selects this format; NULL: none does */
	size_t own_bytes;      /* size of what observer->own points to */
	/*
	 * The target, when an option of its own asks for this observer; NULL: none does. Without
	 * this hook an observer is asked for by --output alone.
	 */
	const char *(*target)(const struct recorder_options *options);
	/*
	 * Before the command runs. OBSERVER_SKIPPED: the run goes on without it, which has been
	 * reported. A negative errno: the run is refused; the hook has reported that to the
	 * launcher, except for -ENOMEM, which the recorder reports, and left nothing open.
	 */
	int (*open)(struct observer *o, const struct recorder_options *options);
	/* The first line has come. */
	int (*begin)(struct observer *o);
	/*
	 * Each line, as parsed, and as it came: @text of @length bytes, newline included. Records
	 * of processes may have no tree.
	 */
	int (*line)(struct observer *o, const struct line *l, const char *text, size_t length);
	/* No more lines are at hand. */
	int (*flush)(struct observer *o);
	/*
	 * After the summary, which is the last line. The last one opened is first: what it notes in
	 * @total (where the run is kept) can be shown by those opened before.
	 */
	int (*end)(struct observer *o, struct summary *total);
	/* Whatever has failed before; also without a begin, when no line came. */
	int (*close)(struct observer *o);
};

struct observer {
	const struct observer_ops *ops;
	const char *target;        /* a path, or what messages call it; not owned */
	void *own;                 /* of the hooks; zeroed before open, freed after close */
	struct patience *patience; /* with readers; not owned */
	bool has_failed;
};

/* The observer of that name in --output; NULL: there is none. */
const struct observer_ops *observer_find(const char *name, size_t length);
/* The format that the extension of @path selects; NULL: none. */
const struct observer_ops *observer_for_path(const char *path);
/* The end of @path from its last dot on, if it looks like the name of a format: .xlsx, but not .1
 * or what mktemp makes; else NULL. */
const char *path_extension(const char *path);
/* The observer at place @i of the table; NULL after the last. */
const struct observer_ops *observer_at(size_t i);

extern const struct observer_ops text_observer, jsonl_observer, csv_observer, terminal_observer,
	live_observer, lines_observer, store_observer;

/* The observers of a run, all together: a failure of one is reported, and leaves the others alone.
 */

struct observers {
	struct observer *all; /* owned */
	size_t nr;
};

/*
 * Opens those that @options ask for: the outputs, then those with an option of their own. They wait
 * for readers with @patience, which is not owned. A negative errno, reported to the launcher except
 * for -ENOMEM; -ECANCELED: the launcher is gone. observers_close() is due in any case.
 */
int observers_open(struct observers *s, const struct recorder_options *options,
		   struct patience *patience);
/* Each of these calls that hook of every observer that has not failed. */
void observers_begin(struct observers *s);
void observers_line(struct observers *s, const struct line *l, const char *text, size_t length);
void observers_flush(struct observers *s);
void observers_end(struct observers *s, struct summary *total);
/* Closes those that were opened, the failed ones too. */
void observers_close(struct observers *s);

/* Hooks shared by the observers that write text: their own data begins with a struct output. */

static inline struct output *file_observer_output(struct observer *o)
{
	return o->own;
}

/* Opens the target, a path; waits for the reader of a pipe as long as the launcher is there. */
int file_observer_open(struct observer *o, const struct recorder_options *options);
/* The file takes its name. */
int file_observer_begin(struct observer *o);
int file_observer_flush(struct observer *o);
int file_observer_close(struct observer *o);

#endif
