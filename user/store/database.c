// SPDX-License-Identifier: BSD-2-Clause
#include "store/database.h"

#include "store/defence.h"
#include "store/file_name.h"
#include "store/migrate.h"
#include "store/own_files.h"
#include "store/shape.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

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
