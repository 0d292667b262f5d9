// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/store_merge.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/progress.h"
#include "record/store/edit.h"
#include "record/store/import.h"
#include "source/source.h"
#include "store/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool file_is_database(FILE *f)
{
	static const char magic[16] = "SQLite format 3";
	char text[sizeof(magic)];
	bool is = fread(text, 1, sizeof(text), f) == sizeof(text) &&
		  !memcmp(text, magic, sizeof(magic));

	rewind(f);
	return is;
}

/* First opens the other store by itself, to check that it is one, that its schema is known and that
 * its values are valid. */
static int store_merge_database(struct store_writer *w, const char *path, struct merged *m)
{
	struct database other;
	int err = database_open(&other, path, DATABASE_READ);
	bool is_unchanging = other.is_unchanging;

	if (!err)
		err = store_check_source(&other);
	if (err)
		log_error("cannot read the store '%s': %s", path,
			  other.why[0] ? other.why : strerror(-err));
	database_close(&other);
	progress_begin("merging a store", "runs", 0);
	if (!err && (err = merge_store(&w->d, path, is_unchanging, store_take_words, m)))
		log_error("cannot merge all of the store '%s': %s", path, w->d.why);
	return err;
}

static int store_merge_lines(struct store_writer *w, FILE *f, const char *path, struct merged *m)
{
	struct import i = { .w = w, .merged = m };
	int err;

	progress_begin("merging a file", "lines", 0);
	err = import_lines(&i, f);

	if (err)
		log_error("cannot merge '%s': %s", path,
			  err == -EBADMSG || !w->d.why[0] ? source_error(err) : w->d.why);
	if (i.unreadable)
		log_warn("'%s': %" PRIu64 " lines cannot be read, and were left out", path,
			 i.unreadable);
	return err;
}

static bool file_is_store(FILE *f, const char *path)
{
	struct stat a, b;

	return !fstat(fileno(f), &a) && !stat(path, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

int store_merge_file(struct store_writer *w, const char *store, const char *path, struct merged *m)
{
	__cleanup(fclosep) FILE *f = fopen(path, "re");

	if (!f || fseek(f, 0, SEEK_SET)) {
		log_error("cannot read '%s': %s", path, strerror(errno));
		return -errno;
	}
	if (file_is_store(f, store)) { /* with *.sqlite of its folder as arguments */
		log_warn("'%s' is the store itself, and was passed over", path);
		return 0;
	}
	return file_is_database(f) ? store_merge_database(w, path, m)
				   : store_merge_lines(w, f, path, m);
}
