// SPDX-License-Identifier: BSD-2-Clause
/*
 * Known input and output in DIR: odd write()s and read()s, O_DIRECT, sendfile, mmap with msync, and
 * a dirty file truncated before it is synced. Its last act but one is a single read() of its own
 * /proc/self/io, its last act a single write() of the witness with these values; the values have
 * neither of the two in them, so their sizes are written, too (see README.md).
 * Usage: iobytes DIR
 */
#include "truth.h"
#include <sys/sendfile.h>

#define MIB 1048576
#define ODD (MIB + 13)

static int dir;
static long asked_read, asked_written, reads, writes;
static char *buf;

static void file_write(int fd, size_t total, size_t chunk)
{
	for (size_t done = 0, n; done < total; done += n) {
		n = total - done < chunk ? total - done : chunk;
		if (write(fd, buf + done % 4096, n) != (ssize_t)n)
			truth_fail("write");
		asked_written += n;
		writes++;
	}
}

static void file_read(int fd, size_t total, size_t chunk)
{
	for (size_t done = 0, n; done < total; done += n) {
		n = total - done < chunk ? total - done : chunk;
		if (read(fd, buf, n) != (ssize_t)n)
			truth_fail("read");
		asked_read += n;
		reads++;
	}
}

static int file_open(const char *name, int flags)
{
	int fd = openat(dir, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | flags, 0600);

	if (fd < 0 && !(flags & O_DIRECT && errno == EINVAL))
		truth_fail("%s", name);
	return fd;
}

static void file_sync(int fd)
{
	if (fsync(fd))
		truth_fail("fsync");
}

static int file_write_direct(void)
{
	int fd = file_open("truth-direct", O_DIRECT);
	ssize_t n;

	if (fd < 0)
		return 0;
	n = write(fd, buf, MIB);
	writes++;
	if (n < 0 && errno == EINVAL)
		return 0;
	if (n != MIB)
		truth_fail("direct write");
	asked_written += MIB;
	lseek(fd, 0, SEEK_SET);
	file_read(fd, MIB, MIB);
	file_sync(fd);
	close(fd);
	return 1;
}

static void file_write_mapped(void)
{
	int fd = file_open("truth-mapped", 0);
	char *p;

	if (ftruncate(fd, MIB / 4))
		truth_fail("ftruncate");
	p = mmap(NULL, MIB / 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		truth_fail("mmap");
	memset(p, 'm', MIB / 4);
	if (msync(p, MIB / 4, MS_SYNC))
		truth_fail("msync");
	munmap(p, MIB / 4);
	file_sync(fd);
	close(fd);
}

/* The witness; `len` is padded in the text, so that the text's own length can be in it. */
static void witness_write_last(int direct_done)
{
	static const char fmt[] = "{\"processes\":1,\"threads_created\":0,\"cpu_seconds\":%.9f,%s"
				  "\"asked_read\":%ld,\"asked_reads\":%ld,\"asked_written\":%ld,"
				  "\"asked_writes\":%ld,\"direct\":%s,\"witness_read_bytes\":%zd,"
				  "\"witness_bytes\":%5d}\n";
	char io[1024], keys[1024] = "", text[2048], *save = NULL;
	size_t used = 0;
	ssize_t got;
	int fd, len = 0;

	if (mlockall(MCL_CURRENT)) /* or a page of its text is read from the disk after the witness */
		truth_fail("mlockall");
	fd = open("/proc/self/io", O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, io, sizeof(io) - 1);
	if (got <= 0)
		truth_fail("/proc/self/io");
	io[got] = 0;
	for (char *l = strtok_r(io, ":\n", &save); l; l = strtok_r(NULL, ":\n", &save))
		used += snprintf(keys + used, sizeof(keys) - used, "\"%s\":%s,", l,
				 strtok_r(NULL, ": \n", &save));
	for (int i = 0; i < 2; i++)
		len = snprintf(text, sizeof(text), fmt, i ? cpu_own_seconds() : 0, keys, asked_read,
			       reads, asked_written, writes, direct_done ? "true" : "false", got,
			       len);
	if (truth_out())
		file_write_once(truth_out(), text, len);
	_exit(0);
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"truth-odd", "truth-direct", "truth-sent",
					    "truth-mapped", "truth-cut"};
	int fd, sent, direct_done;

	if (argc != 2)
		truth_usage("iobytes DIR");
	dir = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		truth_fail("%s", argv[1]);
	buf = mmap(NULL, 2 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buf == MAP_FAILED)
		truth_fail("mmap");
	memset(buf, 'x', 2 * MIB);
	fd = file_open(names[0], 0);
	file_write(fd, ODD, 7777);
	file_sync(fd);
	lseek(fd, 0, SEEK_SET);
	file_read(fd, ODD, 9999);
	direct_done = file_write_direct();
	lseek(fd, 0, SEEK_SET);
	sent = file_open(names[2], 0);
	if (sendfile(sent, fd, NULL, MIB / 2) != MIB / 2)
		truth_fail("sendfile");
	asked_read += MIB / 2;
	asked_written += MIB / 2;
	reads++;
	writes++;
	file_sync(sent);
	close(sent);
	close(fd);
	file_write_mapped();
	fd = file_open(names[4], 0);
	file_write(fd, MIB / 4, MIB / 4);
	if (ftruncate(fd, 0))
		truth_fail("ftruncate");
	file_sync(fd);
	close(fd); /* or its blocks are freed, and pages of the file system dirtied, at the exit */
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlinkat(dir, names[i], 0);
	witness_write_last(direct_done);
}
