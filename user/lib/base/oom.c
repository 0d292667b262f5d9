// SPDX-License-Identifier: BSD-2-Clause
#include "base/oom.h"

#include "base/cgroup.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES 16384 /* /proc/vmstat has 5 KiB */

static char file[5000]; /* empty if there is no counter */
static const char *place;
static uint64_t before;

/*
 * In version 2 the command may be in a descendant, which this cgroup's own file does not include.
 */
static void oom_file_find(void)
{
	char path[4096], folder[4096];
	size_t mount;
	bool is_v2;
	int id;

	place = "in its cgroup";
	if (!cgroup_of_process("/proc/self", "memory", path, &is_v2, &id) &&
	    !cgroup_find_folder("/proc/self", is_v2 ? NULL : "memory", path, folder, &mount)) {
		snprintf(file, sizeof(file), "%s/%s", folder,
			 is_v2 ? "memory.events.local" : "memory.oom_control");
		if (!access(file, R_OK))
			return;
	}
	place = "on this machine";
	snprintf(file, sizeof(file), "/proc/vmstat");
}

static bool oom_count_read(uint64_t *count)
{
	static const char key[] = "\noom_kill ";
	char text[FILE_BYTES] = "\n", *found;
	int fd = *file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
	size_t used = 1;
	ssize_t n = 1;

	while (fd >= 0 && n > 0 && used < sizeof(text) - 1) {
		n = read(fd, text + used, sizeof(text) - 1 - used);
		used += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	text[used] = '\0';
	found = strstr(text, key);
	return found && sscanf(found + sizeof(key) - 1, "%" SCNu64, count) == 1;
}

void oom_count_begin(void)
{
	oom_file_find();
	if (!oom_count_read(&before))
		file[0] = '\0';
}

const char *oom_count_text(void)
{
	static char text[128];
	uint64_t now;

	if (!oom_count_read(&now))
		return "";
	if (now <= before)
		return " (not OOM-killed)";
	snprintf(text, sizeof(text),
		 " (out of memory: the kernel killed %" PRIu64 " %s %s since the run began)",
		 now - before, now - before == 1 ? "process" : "processes", place);
	return text;
}

static const char path[] = "/proc/self/oom_score_adj";
/* not less: with memory.oom.group the kernel kills processes with any larger score */
static const char protected[] = "-1000";
static char score_before[8]; /* empty if not protected */

static void score_write(int fd, const char *value)
{
	if (fd >= 0 && pwrite(fd, value, strlen(value), 0) < 0)
		return; /* then it is as likely to be killed as others */
}

void oom_score_protect(void)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, score_before, sizeof(score_before) - 1) : -1;

	score_before[n > 0 ? n : 0] = '\0';
	if (n > 0 && pwrite(fd, protected, strlen(protected), 0) < 0)
		score_before[0] = '\0';
	if (fd >= 0)
		close(fd);
}

int oom_score_open(void)
{
	return score_before[0] ? open(path, O_WRONLY | O_CLOEXEC) : -1;
}

void oom_score_unprotect(int fd)
{
	score_write(fd, score_before);
}

void oom_score_protect_again(int fd)
{
	score_write(fd, protected);
}
