// SPDX-License-Identifier: BSD-2-Clause
/* Block I/O of a cgroup v2 with the io controller, whose io.stat is the witness: also of what is
 * written back when the process has ended. */
#include "guest.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROOT "/sys/fs/cgroup"
#define GROUP ROOT "/bpfmon-block"
#define FILE_PATH DISK "/block"
#define PART (64 * 1024)
#define PARTS 128

/* The sum over devices of the numbers after KEY. */
static long long stat_sum(const char *key)
{
	char line[512];
	long long sum = 0;
	FILE *f = fopen(GROUP "/io.stat", "re");

	while (f && fgets(line, sizeof(line), f)) {
		const char *at = strstr(line, key);

		sum += at ? atoll(at + strlen(key)) : 0;
	}
	if (f)
		fclose(f);
	return sum;
}

/* What is in the page cache is only made dirty; the rest waits for the disk. */
static void file_fill(int flags)
{
	char *part = aligned_alloc(4096, PART);
	int fd = open(FILE_PATH, O_RDWR | O_CREAT | O_CLOEXEC | flags, 0600);

	if (fd < 0 || !part)
		_exit(1);
	memset(part, 7, PART);
	for (int i = 0; i < PARTS; i++)
		if (pwrite(fd, part, PART, (off_t)i * PART) != PART)
			_exit(2);
	for (int i = 0; flags & O_DIRECT && i < PARTS; i++)
		if (pread(fd, part, PART, (off_t)i * PART) != PART)
			_exit(3);
	_exit(0);
}

static void in_group(int flags)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (!word_write(GROUP "/cgroup.procs", "0"))
			_exit(4);
		file_fill(flags);
	}
	waitpid(pid, &status, 0);
	expect(!status, "the writer ended with %#x", (unsigned)status);
}

static long long histogram_sum(const struct run *r, const char *direction)
{
	const json_t *disk, *pair;
	const char *name;
	long long sum = 0;
	size_t i;

	json_object_foreach(json_object_get(r->summary, "block_latency"), name, disk)
		json_array_foreach(json_object_get(disk, direction), i, pair)
			sum += json_integer_value(json_array_get(pair, 1));
	return sum;
}

static void check_block(const struct run *r, const char *direction, long long bytes, long long stat)
{
	char key[64];
	long long counted, ops;

	snprintf(key, sizeof(key), "block_%s_bytes", direction);
	counted = field_whole(r->summary, key);
	snprintf(key, sizeof(key), "block_%s_ops", direction);
	ops = field_whole(r->summary, key);
	expect(counted == stat, "%s: %lld bytes, io.stat has %lld", direction, counted, stat);
	expect(counted >= bytes, "%s: only %lld bytes", direction, counted);
	expect(ops > 0 && histogram_sum(r, direction) == ops, "%s: %lld operations, %lld timed",
	       direction, ops, histogram_sum(r, direction));
}

static void block_of_cgroup(struct run *r)
{
	long long read, written;

	word_write(ROOT "/cgroup.subtree_control", "+io");
	if (mkdir(GROUP, 0755) || access(GROUP "/io.stat", F_OK)) {
		rmdir(GROUP);
		verdict_absent("the kernel has no io controller (CONFIG_BLK_CGROUP)");
		return;
	}
	unlink(FILE_PATH);
	sync();
	attach_begin(r, "--cgroup bpfmon-block --wait-start --block-io -i 0.05");
	in_group(O_DIRECT); /* waits for its metadata, too */
	in_group(0);
	sync(); /* the process has ended: writeback is the cgroup's all the same */
	read = stat_sum("rbytes=");
	written = stat_sum("wbytes=");
	while (rmdir(GROUP) && !run_is_over(r))
		usleep(10000);
	run_end(r);
	check_complete(r);
	check_block(r, "read", (long long)PARTS * PART, read);
	check_block(r, "write", 2LL * PARTS * PART, written);
}

const struct test block_tests[] = {
	TEST(block_of_cgroup, "block I/O of a cgroup"),
	{ 0 },
};
