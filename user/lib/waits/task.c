// SPDX-License-Identifier: BSD-2-Clause
#include "waits/task.h"

#include "base/fd.h"
#include "base/cleanup.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ssize_t proc_read(const char *path, char *text, size_t size)
{
	__cleanup(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t n;

	text[0] = '\0';
	if (fd < 0)
		return -errno;
	n = bytes_read(fd, text, size - 1);
	if (n >= 0)
		text[n] = '\0';
	return n;
}

void text_copy_inert(char *out, size_t size, const char *text)
{
	size_t length = strlen(text), n = length < size ? length : size - 1;
	size_t at = size > 4 ? size - 4 : 0;

	memcpy(out, text, n);
	out[n] = '\0';
	if (at && length > n) {
		/* not in the middle of a character */
		while (at && ((unsigned char)out[at] & 0xc0) == 0x80)
			at--;
		memcpy(out + at, "...", 4);
	}
	text_disarm(out);
}

void path_copy_inert(char *out, size_t size, const char *path)
{
	size_t n = strlen(path), skip;

	if (n < size) {
		text_copy_inert(out, size, path);
		return;
	}
	skip = n - (size - 4);
	while (((unsigned char)path[skip] & 0xc0) == 0x80)
		skip++;
	snprintf(out, size, "...%.*s", (int)(size - 4), path + skip);
	text_disarm(out);
}

#define FIELD_EXIT_CODE (52 - 3) /* counted from the state */

/* Returns 0 if there are fewer fields. */
static int stat_field(const char *text, unsigned field)
{
	while (text && field--)
		text = strchr(text + 1, ' ');
	return text ? atoi(text) : 0;
}

int task_stat_parse(const char *text, struct task_stat *stat)
{
	const char *begin = strchr(text, '('), *end = strrchr(text, ')');
	char comm[WAIT_NAME * 2] = "";
	size_t n;

	if (!begin || !end || end < begin)
		return -EBADMSG;
	n = (size_t)(end - begin - 1);
	if (n >= sizeof(comm))
		n = sizeof(comm) - 1;
	memcpy(comm, begin + 1, n);
	text_copy_inert(stat->comm, sizeof(stat->comm), comm);
	if (sscanf(end + 1,
		   " %c %d %d %*d %u %d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %u %*d "
		   "%" SCNu64,
		   &stat->state, &stat->parent, &stat->group, &stat->terminal, &stat->foreground,
		   &stat->threads, &stat->start_ticks) != 7)
		return -EBADMSG;
	stat->stop_signal = strchr("Tt", stat->state) ? stat_field(end + 1, FIELD_EXIT_CODE) : 0;
	return 0;
}

bool task_call_parse(const char *text, struct task_view *task)
{
	uint64_t *a = task->argument, stack;
	int nr = sscanf(text,
			"%ld %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
			" %" SCNx64,
			&task->call, &a[0], &a[1], &a[2], &a[3], &a[4], &a[5], &stack);

	if (nr >= 3 && task->call == -1)
		return true;
	/* 32-bit programs have their stack below; a 64-bit one that does loses its details */
	return nr == 8 && stack > UINT32_MAX;
}

static const char *task_path(char path[96], pid_t pid, pid_t tid, const char *file)
{
	if (tid)
		snprintf(path, 96, "/proc/%d/task/%d/%s", pid, tid, file);
	else
		snprintf(path, 96, "/proc/%d/%s", pid, file);
	return path;
}

int task_stat_read(pid_t pid, pid_t tid, struct task_stat *stat)
{
	char path[96], text[1024];
	ssize_t n = proc_read(task_path(path, pid, tid, "stat"), text, sizeof(text));

	return n < 0 ? (int)n : task_stat_parse(text, stat);
}

static bool task_is_still(const struct task_view *task)
{
	return strchr("SDTtK", task->stat.state);
}

int task_read_channel(pid_t pid, pid_t tid, struct task_view *task)
{
	char path[96], text[256];
	int err = task_stat_read(pid, tid, &task->stat);

	if (err)
		return err;
	task->tid = tid;
	task->channel[0] = '\0';
	task->has_call = false;
	if (!task_is_still(task))
		return 0;
	/* callers without the right get "0", too */
	if (proc_read(task_path(path, pid, tid, "wchan"), text, sizeof(text)) > 0 &&
	    strcmp(text, "0") != 0)
		text_copy_inert(task->channel, sizeof(task->channel), text);
	return 0;
}

void task_read_call(pid_t pid, pid_t tid, struct task_view *task)
{
	char path[96], text[256];

	if (proc_read(task_path(path, pid, tid, "syscall"), text, sizeof(text)) > 0)
		task->has_call = task_call_parse(text, task);
}

int task_read(pid_t pid, pid_t tid, struct task_view *task)
{
	int err = 0;

	/* who may read the call may read the channel: if it has none, it ran at that moment */
	for (int i = 0; i < 2; i++) {
		err = task_read_channel(pid, tid, task);
		if (!err && task_is_still(task))
			task_read_call(pid, tid, task);
		if (err || !task->has_call || *task->channel)
			break;
	}
	return err;
}

bool descriptor_link(pid_t pid, int fd, char *link, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
	n = fd >= 0 ? readlink(path, link, size) : -1;
	if (n <= 0 || (size_t)n == size)
		n = 0;
	link[n] = '\0';
	return n > 0;
}

bool link_is_terminal(const char *link)
{
	return !strncmp(link, "/dev/pts/", 9) || !strncmp(link, "/dev/tty", 8) ||
	       !strcmp(link, "/dev/console");
}

uint64_t link_socket(const char *link)
{
	uint64_t inode = 0;

	return sscanf(link, "socket:[%" SCNu64 "]", &inode) == 1 ? inode : 0;
}

ssize_t fdinfo_read(pid_t pid, int fd, char *text, size_t size)
{
	char path[64];

	text[0] = '\0';
	if (fd < 0)
		return -EBADF;
	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", pid, fd);
	return proc_read(path, text, size);
}

bool fdinfo_number(const char *text, const char *key, uint64_t *number)
{
	size_t n = strlen(key);

	for (; text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL) {
		const char *digits = text + n + 1;

		if (strncmp(text, key, n) != 0 || text[n] != ':')
			continue;
		digits += strspn(digits, " \t");
		*number = strtoull(digits, NULL, 10);
		return isdigit((unsigned char)*digits);
	}
	return false;
}
