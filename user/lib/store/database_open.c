// SPDX-License-Identifier: BSD-2-Clause
#include "store/database_open.h"

#include "base/memory.h"
#include "store/schema.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/*
 * Returns the name of a VFS for sqlite3_open_v2() that protects the files of a store; NULL without
 * memory. It uses a path that begins with /proc/self/fd/ as it is, without following links. In a
 * folder that any user may write to, the store, its journal, its log and the log's index are
 * created, or must be regular files of the effective user or root with one link: SQLite would
 * replay a journal that another user has planted. Super-journals are neither opened nor removed.
 * Everything else is left to SQLite.
 */
static const char *own_files(void);

/*
 * Refuses databases of other programs and other schema versions. *@is_new is set if the file is
 * empty.
 */
static int database_check(struct database *d, bool *is_new)
{
	int64_t application = 0, nr_tables = 0, version = 0;
	int err = database_number(d, &nr_tables, NULL, "SELECT count(*) FROM sqlite_master");

	if (!err)
		err = database_number(d, &application, NULL, "PRAGMA application_id");
	if (!err)
		err = database_number(d, &version, NULL, "PRAGMA user_version");
	if (err)
		return err;
	if (application != SCHEMA_APPLICATION && (application || nr_tables)) {
		snprintf(d->why, sizeof(d->why),
			 "it is the database of another program; use another file with --store");
		return -EMEDIUMTYPE;
	}
	*is_new = !version && !nr_tables;
	if (version < 0)
		return database_error(d, SQLITE_CORRUPT);
	if (version == STORE_SCHEMA || *is_new)
		return 0;
	snprintf(d->why, sizeof(d->why),
		 "another version of bpfmon created it (schema %lld instead of %d); use another "
		 "file with --store; to keep its runs, export each with that version and merge the "
		 "files",
		 (long long)version, STORE_SCHEMA);
	return -EPROTONOSUPPORT;
}

/* The members of struct database that hold the metric columns of each table. */
static const struct {
	const char *table;
	size_t have;
} metric_members[] = {
	{ "sample", offsetof(struct database, sample_columns) },
	{ "process", offsetof(struct database, process_columns) },
	{ "process_sample", offsetof(struct database, process_sample_columns) },
	{ "instance", offsetof(struct database, instance_columns) },
};
#define NR_METRIC_MEMBERS (sizeof(metric_members) / sizeof(*metric_members))

/* Reads which metric columns the file has. *@lacks_any is set if one is missing. */
static int columns_find(struct database *d, bool *lacks_any)
{
	struct metric_set wanted;
	int rc = SQLITE_OK;

	*lacks_any = false;
	for (size_t t = 0; rc == SQLITE_OK && t < NR_METRIC_MEMBERS; t++) {
		struct metric_set *have = (void *)((char *)d + metric_members[t].have);

		rc = columns_read(d->db, metric_members[t].table, have);
		run_table_find(metric_members[t].table)->metrics(&wanted);
		for (size_t i = 0; i < METRIC_WORDS; i++) {
			/*
			 * a plain column may have the key of a metric that the table does not store
			 */
			have->bits[i] &= wanted.bits[i];
			*lacks_any |= wanted.bits[i] & ~have->bits[i];
		}
	}
	return database_error(d, rc);
}

/*
 * Checks the schema again within the transaction, because another process may have created the
 * tables.
 */
static int tables_make(struct database *d, void *context)
{
	bool is_new;
	int err = database_check(d, &is_new);

	(void)context;
	if (err)
		return err;
	return database_error(d, is_new ? schema_make(d->db, true) : schema_add_columns(d->db));
}

static int tables_complete(struct database *d, bool is_new)
{
	bool lacks_any = true;
	int err = is_new ? 0 : columns_find(d, &lacks_any);

	if (!err && lacks_any)
		err = database_transact(d, tables_make, NULL);
	return !err && lacks_any ? columns_find(d, &lacks_any) : err;
}

/*
 * Returns a URI for @path with the parameters @how, to be freed by sqlite3_free(); NULL without
 * memory.
 */
static char *uri_of(const char *path, const char *how)
{
	sqlite3_str *s = sqlite3_str_new(NULL);

	/* "./" makes a file of the name :memory:, too */
	sqlite3_str_appendall(s, path[0] == '/' ? "file:" : "file:./");
	while (path[0] == '/' && path[1] == '/') /* SQLite takes the part after "//" for a host */
		path++;
	for (; *path; path++)
		if (strchr("%?#", *path))
			sqlite3_str_appendf(s, "%%%02X", (unsigned char)*path);
		else
			sqlite3_str_appendchar(s, 1, *path);
	sqlite3_str_appendf(s, "?%s", how);
	return sqlite3_str_finish(s);
}

/* Returns whether a write-ahead log with changes exists. */
static bool has_log(const char *path)
{
	char *log = sqlite3_mprintf("%s-wal", path);
	struct stat st;
	bool has = !log || (!stat(log, &st) && st.st_size);

	sqlite3_free(log);
	return has;
}

/*
 * Returns the suffix of a journal or log that is not a regular file, because SQLite would block on
 * a FIFO; NULL if there is none.
 */
static const char *sidecar_find_irregular(const char *path)
{
	static const char *const endings[] = { "-journal", "-wal", "-shm" };
	char whole[PATH_MAX], name[PATH_MAX + 16];
	struct stat st;

	if (!memory_realpath(path, whole)) /* SQLite appends the suffixes to the target of a link */
		return NULL;
	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		snprintf(name, sizeof(name), "%s%s", whole, endings[i]);
		if (!lstat(name, &st) && !S_ISREG(st.st_mode))
			return endings[i];
	}
	return NULL;
}

#define BUSY_MS 1500 /* how long a statement waits for other writers */
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
	/* local file systems do not deny root */
	if (err == -EACCES && !geteuid())
		snprintf(d->why, sizeof(d->why),
			 "%s, although bpfmon is root: it may be on NFS with root_squash; name a "
			 "store on a local disk with --store",
			 strerror(-err));
	else
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

/* Resolves @path once, and keeps its folder open as long as the store. */
static int database_find_file(struct database *d, const char *path, bool make_folders)
{
	int err = path_end_find(&d->at, path, make_folders);

	if (err && d->at.why)
		snprintf(d->why, sizeof(d->why), "%s", d->at.why);
	else if (err)
		return database_fail(d, err);
	return err;
}

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

/* Refuses a file of another user in a folder that any user may write to. */
static int owner_check(struct database *d)
{
	if (!path_end_is_foreign(&d->at))
		return 0;
	snprintf(d->why, sizeof(d->why),
		 "it belongs to another user, in a world-writable directory; use another one with "
		 "--store");
	return -EPERM;
}

static int database_prepare_to_write(struct database *d)
{
	struct statfs fs;
	bool is_local = !fstatfs(d->at.folder, &fs) && database_is_local((unsigned long)fs.f_type);
	char sql[200];
	bool is_new;
	int err;

	/*
	 * auto_vacuum acts only on a new file, and lets pages return to the file system when runs
	 * are removed. synchronous=FULL: a commit survives a crash of the machine.
	 */
	snprintf(sql, sizeof(sql),
		 "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA synchronous=FULL; PRAGMA cache_spill=OFF; "
		 "PRAGMA cache_size=-%d",
		 CACHE_KIB);
	err = database_run(d, sql);
	if (!err)
		err = database_check(d, &is_new);
	if (!err && !is_new)
		err = schema_check(d);
	/* This fails while another process has the file open; its journal mode is used then. */
	if (!err)
		sqlite3_exec(d->db,
			     is_local ? "PRAGMA journal_mode=WAL" : "PRAGMA journal_mode=DELETE",
			     NULL, NULL, NULL);
	return err ? err : tables_complete(d, is_new);
}

static int database_prepare_to_read(struct database *d)
{
	bool is_new, lacks_any;
	int err = database_check(d, &is_new);

	if (!err && is_new) {
		snprintf(d->why, sizeof(d->why), "it is empty");
		return -ENODATA;
	}
	if (!err)
		err = schema_check(d);
	return err ? err : columns_find(d, &lacks_any);
}

/* Accepts only regular files: SQLite would block on a FIFO, or write to a device. */
static int file_check_kind(struct database *d, const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return database_fail(d, -errno);
	if (S_ISDIR(st.st_mode))
		return database_fail(d, -EISDIR);
	if (S_ISREG(st.st_mode))
		return 0;
	snprintf(d->why, sizeof(d->why), "it is not a regular file; use another one with --store");
	return -ENOTBLK;
}

static int files_check_beside(struct database *d, const char *path)
{
	const char *ending = sidecar_find_irregular(path);

	if (!ending)
		return 0;
	snprintf(d->why, sizeof(d->why), "'%s' beside it is not a regular file; remove it", ending);
	return -ENOTBLK;
}

/*
 * Refuses, for root, a file of another user: SQLite creates, opens and removes files beside it by
 * name, in a folder where that user may create anything.
 */
static int root_check(struct database *d)
{
	if (geteuid() || d->at.fd < 0 || !d->at.st.st_uid)
		return 0;
	snprintf(d->why, sizeof(d->why),
		 "it belongs to user %u, and root does not write to it; run the command as that "
		 "user, or use another file with --store",
		 (unsigned)d->at.st.st_uid);
	return -EPERM;
}

static int database_open_file(struct database *d, const char *path, const char *how, int flags,
			      const char *files)
{
	int err = file_check_kind(d, path), rc;
	char *uri;

	/* in a folder that any user may write to, own_files() checks them as they are opened */
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
 * Opens a file in a read-only folder as immutable. Reading with a write-ahead log needs an index
 * file beside it; where that cannot be created no process can write either, and without a log the
 * file is complete.
 */
static int database_open_unchanging(struct database *d, const char *path)
{
	int err;

	sqlite3_close(d->db);
	d->db = NULL;
	if (has_log(path)) {
		snprintf(d->why, sizeof(d->why),
			 "its last changes are in a log beside it, and reading that needs write "
			 "permission in the directory; copy both to another directory");
		return -EROFS;
	}
	d->is_unchanging = true;
	err = database_open_file(d, path, UNCHANGING, SQLITE_OPEN_READONLY, NULL);
	return err ? err : database_prepare_to_read(d);
}

/*
 * Opens a file on a full disk, which has no room for the index of the log: an exclusive lock, which
 * requires opening for writing, keeps the index in memory. Nothing is written.
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
			 "space, or copy both to another disk");
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

#define FOUND "/proc/self/fd/" /* prefix of a path in a folder that path_end_find() opened */

static sqlite3_vfs *below, own;

static bool path_is_found(const char *path)
{
	return path && !strncmp(path, FOUND, strlen(FOUND));
}

static bool path_is_open_to_all(const char *path)
{
	char folder[64];
	struct stat st;

	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
	return stat(folder, &st) || st.st_mode & S_IWOTH;
}

/*
 * Checks the owner by opening the file. Other users cannot take over its name afterwards: the
 * folder is sticky, or cannot be protected.
 */
static bool file_is_own(const char *path, bool is_made)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	int fd = open(path, is_made ? flags | O_CREAT : flags, 0600);
	struct stat st;
	bool is;

	if (fd < 0)
		return errno == ENOENT;
	is = !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
	     (!st.st_uid || st.st_uid == geteuid());
	close(fd);
	return is;
}

static bool path_may_open(const char *path, int flags)
{
	const bool is_made = flags & SQLITE_OPEN_CREATE;
	char index[4096];
	size_t n = strlen(path);

	if (!path_is_open_to_all(path))
		return true;
	if (!file_is_own(path, is_made))
		return false;
	if (!(flags & SQLITE_OPEN_WAL) || n < strlen("-wal") || n >= sizeof(index))
		return !(flags & SQLITE_OPEN_WAL);
	snprintf(index, sizeof(index), "%.*s-shm", (int)(n - strlen("-wal")), path);
	return file_is_own(index, is_made);
}

static int own_open(sqlite3_vfs *v, const char *path, sqlite3_file *file, int flags, int *given)
{
	/* a journal may name any file as its super-journal, which SQLite would then remove */
	if (flags & SQLITE_OPEN_SUPER_JOURNAL ||
	    (path_is_found(path) && !path_may_open(path, flags))) {
		file->pMethods = NULL;
		return SQLITE_PERM;
	}
	return below->xOpen(v, path, file, flags, given);
}

static int own_full_path(sqlite3_vfs *v, const char *path, int size, char *out)
{
	if (!path_is_found(path))
		return below->xFullPathname(v, path, size, out);
	return snprintf(out, (size_t)size, "%s", path) < size ? SQLITE_OK : SQLITE_CANTOPEN;
}

static void register_own(void)
{
	if (sqlite3_initialize() != SQLITE_OK)
		return;
	below = sqlite3_vfs_find(NULL);
	if (!below)
		return;
	own = *below;
	own.pNext = NULL;
	own.zName = "bpfmon-own-files";
	own.xOpen = own_open;
	own.xFullPathname = own_full_path;
	if (sqlite3_vfs_register(&own, 0) != SQLITE_OK)
		own.zName = NULL;
}

static const char *own_files(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_own);
	return own.zName;
}
