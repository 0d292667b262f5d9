// SPDX-License-Identifier: BSD-2-Clause
#include "store/database.h"

#include "run/process.h"
#include "store/column.h"
#include "store/defence.h"
#include "store/own_files.h"
#include "store/schema.h"
#include "store/shape.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* From the schema and the columns that a file has to those that we write. */

/* Refuses what another program or a newer bpfmon has made; *@version of what may be used. */
static int database_check(struct database *d, int64_t *version)
{
	int64_t application = 0, nr_tables = 0;
	int err = database_number(d, &nr_tables, NULL, "SELECT count(*) FROM sqlite_master");

	if (!err)
		err = database_number(d, &application, NULL, "PRAGMA application_id");
	if (!err)
		err = database_number(d, version, NULL, "PRAGMA user_version");
	if (err)
		return err;
	if (application != SCHEMA_APPLICATION && (application || nr_tables)) {
		snprintf(d->why, sizeof(d->why),
			 "it is another program's database; name another file with --store");
		return -EMEDIUMTYPE;
	}
	d->version = *version;
	if (*version < 0)
		return database_error(d, SQLITE_CORRUPT);
	if (*version <= STORE_SCHEMA)
		return 0;
	snprintf(d->why, sizeof(d->why),
		 "a newer bpfmon has made it (schema %lld, this one knows %d): use that, or name "
		 "another file with --store",
		 (long long)*version, STORE_SCHEMA);
	return -EPROTONOSUPPORT;
}

/* The tables with columns of metrics. */
static const struct {
	const char *table, *view;
	void (*wanted)(struct metric_set *set);
	size_t have; /* where a database keeps those that the file has; 0: nowhere */
} tables[] = {
	{ "sample", "samples", metric_set_all, offsetof(struct database, sample_columns) },
	{ "block", NULL, metric_set_all, 0 },
	{ "process", "processes", columns_of_process, offsetof(struct database, process_columns) },
	{ "process_sample", "process_samples", process_sample_metrics,
	  offsetof(struct database, process_sample_columns) },
	{ "span", "spans", columns_of_span, 0 },
	{ "instance", "instances", metric_set_all, offsetof(struct database, instance_columns) },
};
#define NR_TABLES (sizeof(tables) / sizeof(*tables))

/* Reads which columns of metrics the file has. */
static int database_columns(struct database *d)
{
	struct metric_set wanted;
	int rc = SQLITE_OK;

	for (size_t t = 0; rc == SQLITE_OK && t < NR_TABLES; t++) {
		struct metric_set *have = (void *)((char *)d + tables[t].have);

		if (!tables[t].have)
			continue;
		rc = columns_read(d->db, tables[t].table, have);
		tables[t].wanted(&wanted);
		/* others have the name of a metric, which is of samples: execs */
		for (size_t i = 0; i < METRIC_WORDS; i++)
			have->bits[i] &= wanted.bits[i];
	}
	return database_error(d, rc);
}

static bool schema_is_current(const struct database *d, int64_t version)
{
	struct metric_set wanted;

	for (size_t t = 0; t < NR_TABLES; t++) {
		const struct metric_set *have = (const void *)((const char *)d + tables[t].have);

		tables[t].wanted(&wanted);
		for (size_t i = 0; tables[t].have && i < METRIC_WORDS; i++)
			if (wanted.bits[i] & ~have->bits[i])
				return false;
	}
	return version == STORE_SCHEMA;
}

static int columns_add_missing(struct database *d, bool is_new)
{
	struct metric_set wanted, have;
	int rc = SQLITE_OK;

	for (size_t t = 0; rc == SQLITE_OK && t < NR_TABLES; t++) {
		rc = columns_read(d->db, tables[t].table, &have);
		tables[t].wanted(&wanted);
		if (rc == SQLITE_OK)
			rc = columns_add(d->db, tables[t].table, tables[t].view, &wanted, &have,
					 is_new);
	}
	return database_error(d, rc);
}

static int steps_make(struct database *d, void *context)
{
	int64_t version = 0;
	int err = database_check(d, &version);
	const bool is_new = !version; /* all its tables are made here */

	(void)context;
	for (; !err && version < STORE_SCHEMA; version++)
		err = database_error(d, schema_step(d->db, (int)version));
	if (!err)
		d->version = version;
	return err ? err : columns_add_missing(d, is_new);
}

static int schema_migrate(struct database *d)
{
	int err = database_transact(d, steps_make, NULL);

	return err ? err : database_columns(d);
}

/* Adds what is missing, in one transaction; a second process finds it done. */
static int database_migrate(struct database *d, int64_t version)
{
	return schema_is_current(d, version) ? 0 : schema_migrate(d);
}

/* What SQLite takes a file by, and the files beside it. */

/* The path as a URI with the parameters @how; by sqlite3_free(). NULL without memory. */
static char *uri_of(const char *path, const char *how)
{
	sqlite3_str *s = sqlite3_str_new(NULL);

	/* with a folder before it :memory: is a file, too */
	sqlite3_str_appendall(s, path[0] == '/' ? "file:" : "file:./");
	while (path[0] == '/' && path[1] == '/') /* what follows two is taken for a host */
		path++;
	for (; *path; path++)
		if (strchr("%?#", *path))
			sqlite3_str_appendf(s, "%%%02X", (unsigned char)*path);
		else
			sqlite3_str_appendchar(s, 1, *path);
	sqlite3_str_appendf(s, "?%s", how);
	return sqlite3_str_finish(s);
}

/* Whether changes are in the write-ahead log beside it. */
static bool has_log(const char *path)
{
	char *log = sqlite3_mprintf("%s-wal", path);
	struct stat st;
	bool has = !log || (!stat(log, &st) && st.st_size);

	sqlite3_free(log);
	return has;
}

/* The ending of what lies beside @path, where SQLite looks for a journal or log, and is no file:
 * a pipe would be waited for. NULL: there is none. */
static const char *beside_that_is_no_file(const char *path)
{
	static const char *const endings[] = { "-journal", "-wal", "-shm" };
	char whole[PATH_MAX], name[PATH_MAX + 16];
	struct stat st;

	if (!realpath(path, whole)) /* SQLite looks beside the file that a link leads to */
		return NULL;
	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		snprintf(name, sizeof(name), "%s%s", whole, endings[i]);
		if (!lstat(name, &st) && !S_ISREG(st.st_mode))
			return endings[i];
	}
	return NULL;
}

#define BUSY_MS 1500 /* that long a statement waits for another writer */
#define CACHE_KIB 1024
#define UNCHANGING "mode=ro&immutable=1"

bool database_is_local(unsigned long magic)
{
	static const unsigned long local[] = {
		EXT4_SUPER_MAGIC,     XFS_SUPER_MAGIC,           BTRFS_SUPER_MAGIC,
		TMPFS_MAGIC,          F2FS_SUPER_MAGIC,          OVERLAYFS_SUPER_MAGIC,
		RAMFS_MAGIC,          REISERFS_SUPER_MAGIC,      0x2fc12fc1 /* zfs */,
		0x3153464a /* jfs */, 0xca451a4e /* bcachefs */,
	};

	for (size_t i = 0; i < sizeof(local) / sizeof(*local); i++)
		if (magic == local[i])
			return true;
	return false;
}

static int database_fail(struct database *d, int err)
{
	snprintf(d->why, sizeof(d->why), "%s", strerror(-err));
	return err;
}

int database_attach(struct database *d, const char *path, bool is_unchanging)
{
	char *uri = uri_of(path, is_unchanging ? UNCHANGING : "mode=ro");
	int err = uri ? database_runf(d, "ATTACH %Q AS other", uri) : database_fail(d, -ENOMEM);

	sqlite3_free(uri);
	return err;
}

/* What is found on the way to @path, once for all: the folder stays open as long as the store. */
static int database_find_file(struct database *d, const char *path, bool make_folders)
{
	int err = path_end_find(&d->at, path, make_folders);

	if (err && d->at.why)
		snprintf(d->why, sizeof(d->why), "%s", d->at.why);
	else if (err)
		return database_fail(d, err);
	return err;
}

/* An empty file where there is none: for its user alone. */
static int database_make_file(struct database *d)
{
	int fd;

	if (d->at.fd >= 0)
		return 0;
	fd = openat(d->at.folder, d->at.name,
		    O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
	if (fd < 0)
		return database_fail(d, -errno);
	close(fd);
	return 0;
}

/* In a folder that any user may write to. */
static int owner_check(struct database *d)
{
	if (!path_end_is_foreign(&d->at))
		return 0;
	snprintf(d->why, sizeof(d->why),
		 "it belongs to another user and lies in a folder that everybody may write to; "
		 "name another one with --store");
	return -EPERM;
}

static int database_prepare_to_write(struct database *d)
{
	struct statfs fs;
	bool is_local = !fstatfs(d->at.folder, &fs) && database_is_local((unsigned long)fs.f_type);
	char sql[200];
	int64_t version;
	int err;

	/* only a file that is being made takes the first; it gives space back when runs are
	 * removed. A commit stays, also when the machine goes down */
	snprintf(sql, sizeof(sql),
		 "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA synchronous=FULL; PRAGMA cache_spill=OFF; "
		 "PRAGMA cache_size=-%d",
		 CACHE_KIB);
	err = database_run(d, sql);
	if (!err)
		err = database_check(d, &version);
	if (!err && version)
		err = shape_check(d, version);
	/* while others have it open, another mode is refused; then theirs is ours */
	if (!err)
		sqlite3_exec(d->db,
			     is_local ? "PRAGMA journal_mode=WAL" : "PRAGMA journal_mode=DELETE",
			     NULL, NULL, NULL);
	if (!err)
		err = database_columns(d);
	if (!err)
		err = database_migrate(d, version);
	return err;
}

static int database_prepare_to_read(struct database *d)
{
	int64_t version;
	int err = database_check(d, &version);

	if (!err && !version) {
		snprintf(d->why, sizeof(d->why), "nothing is in it yet");
		return -ENODATA;
	}
	if (!err)
		err = shape_check(d, version);
	return err ? err : database_columns(d);
}

/* A pipe would be waited for, a device be written to. */
static int file_check_kind(struct database *d, const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return database_fail(d, -errno);
	if (S_ISDIR(st.st_mode))
		return database_fail(d, -EISDIR);
	if (S_ISREG(st.st_mode))
		return 0;
	snprintf(d->why, sizeof(d->why), "it is not a file; name one with --store");
	return -ENOTBLK;
}

static int files_check_beside(struct database *d, const char *path)
{
	const char *ending = beside_that_is_no_file(path);

	if (!ending)
		return 0;
	snprintf(d->why, sizeof(d->why), "what lies beside it as '%s' is not a file; remove that",
		 ending);
	return -ENOTBLK;
}

/*
 * Root writes to no file of another user: SQLite would make, open and remove files beside it by
 * their names, in a folder where that user may put anything.
 */
static int root_check(struct database *d)
{
	if (geteuid() || d->at.fd < 0 || !d->at.st.st_uid)
		return 0;
	snprintf(d->why, sizeof(d->why),
		 "it belongs to user %u, and root does not write to it: do so as that user, or "
		 "name another file with --store",
		 (unsigned)d->at.st.st_uid);
	return -EPERM;
}

static int database_open_file(struct database *d, const char *path, const char *how, int flags,
			      const char *files)
{
	int err = file_check_kind(d, path), rc;
	char *uri;

	/* in a folder that is open to all own_files() looks at them as they are opened */
	if (!err && !(files && path_end_is_open_to_all(&d->at)))
		err = files_check_beside(d, path);
	if (err)
		return err;
	uri = uri_of(path, how);
	if (!uri)
		return database_error(d, SQLITE_NOMEM);
	rc = sqlite3_open_v2(uri, &d->db, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, files);
	sqlite3_free(uri);
	if (rc == SQLITE_OK) {
		sqlite3_extended_result_codes(d->db, 1);
		rc = sqlite3_busy_timeout(d->db, BUSY_MS);
	}
	if (rc == SQLITE_OK && flags & SQLITE_OPEN_READONLY)
		defence_bound(d, path, NULL);
	if (rc == SQLITE_OK)
		rc = defence_set_up(d->db);
	return database_error(d, rc);
}

static int database_open_to_read(struct database *d, const char *path)
{
	int err = access(path, R_OK)
			  ? database_fail(d, -errno)
			  : database_open_file(d, path, "mode=ro", SQLITE_OPEN_READONLY, NULL);

	return err ? err : database_prepare_to_read(d);
}

/*
 * To read a file with a write-ahead log takes a second file beside it. Where that cannot be made
 * no process writes, either: unless a log was left there, the file is all there is.
 */
static int database_open_unchanging(struct database *d, const char *path)
{
	int err;

	sqlite3_close(d->db);
	d->db = NULL;
	if (has_log(path)) {
		snprintf(d->why, sizeof(d->why),
			 "its last changes are in a log beside it, and to read that takes the "
			 "right to write in its folder; copy both to another one");
		return -EROFS;
	}
	d->is_unchanging = true;
	err = database_open_file(d, path, UNCHANGING, SQLITE_OPEN_READONLY, NULL);
	return err ? err : database_prepare_to_read(d);
}

/*
 * Where the disk has no room for the second file a log can be read with its index in memory, which
 * takes a lock that only who may write can have: nothing is written.
 */
static int database_open_on_full_disk(struct database *d, const char *path)
{
	struct stat st;
	int err;

	if (!has_log(path))
		return database_open_unchanging(d, path);
	if (stat(path, &st) || st.st_uid != geteuid()) {
		snprintf(d->why, sizeof(d->why),
			 "its disk is full, and its last changes are in a log beside it; free some "
			 "space there, or copy both to another disk");
		return -ENOSPC;
	}
	sqlite3_close(d->db);
	d->db = NULL;
	err = database_open_file(d, path, "mode=rw", SQLITE_OPEN_READWRITE, NULL);
	if (err)
		return err;
	defence_bound(d, path, NULL);
	sqlite3_db_config(d->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	err = database_run(d, "PRAGMA locking_mode=EXCLUSIVE; PRAGMA query_only=ON");
	return err ? err : database_prepare_to_read(d);
}

static int database_open_found(struct database *d)
{
	char path[64 + NAME_MAX];

	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", d->at.folder, d->at.name);
	return database_open_file(d, path, "mode=rw", SQLITE_OPEN_READWRITE, own_files());
}

static int database_open_to_write(struct database *d, const char *path, enum database_mode mode)
{
	int err = database_find_file(d, path, mode == DATABASE_WRITE);

	if (!err)
		err = owner_check(d);
	if (!err)
		err = root_check(d);
	if (!err && mode == DATABASE_WRITE)
		err = database_make_file(d);
	if (!err)
		err = database_open_found(d);
	return err ? err : database_prepare_to_write(d);
}

int database_open(struct database *d, const char *path, enum database_mode mode)
{
	int err;

	*d = (struct database){ .bytes_left = UINT64_MAX };
	err = mode == DATABASE_READ ? database_open_to_read(d, path)
				    : database_open_to_write(d, path, mode);
	if (err == -ENOENT && mode == DATABASE_READ && !access(path, R_OK))
		err = database_open_unchanging(d, path);
	if ((err == -ENOSPC || err == -EDQUOT) && mode == DATABASE_READ)
		err = database_open_on_full_disk(d, path);
	if (err)
		database_close(d);
	return err;
}

void database_close(struct database *d)
{
	sqlite3_close(d->db);
	d->db = NULL;
	path_end_done(&d->at);
}
