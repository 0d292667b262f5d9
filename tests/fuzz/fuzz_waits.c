// SPDX-License-Identifier: BSD-2-Clause
/*
 * What /proc says about a task that waits: stat, syscall, wchan, locks, fdinfo, tables of sockets,
 * maps, children. Each text of it is the input; the parsers are not all public, and read it from
 * where the real files are read.
 */
#include "fuzz.h"

#include "base/fd.h"
#include "waits/task.h"

#include <fcntl.h>

static const char *given;

/* In place of the file, whatever its name: all of the parsers read the input. */
static int given_open(const char *path, int flags)
{
	(void)path;
	return open("/dev/null", flags);
}

static ssize_t given_bytes(int fd, char *text, size_t size)
{
	size_t n = strnlen(given, size);

	(void)fd;
	memcpy(text, given, n);
	return (ssize_t)n;
}

/* clang-format off */
#define open given_open
#define bytes_read given_bytes
#include "waits/task.c"
#include "waits/scan.c"
#include "waits/children.c"
#include "waits/syscalls.c"
#undef open
#undef bytes_read
/* clang-format on */
#include "waits/scan.h"
#include "waits/sockets.h"

#define INODE 4711 /* of which the kept inputs tell */
#define FDS 8

static void is_ended(const char *text, size_t size)
{
	FUZZ_HOLDS(memchr(text, '\0', size));
	fuzz_is_inert(text, strlen(text));
}

static void read_task(const char *text)
{
	struct task_view task = { .tid = 1, .has_call = true };
	char channel[WAIT_NAME], path[WAIT_OBJECT];

	if (!task_stat_parse(text, &task.stat))
		is_ended(task.stat.comm, sizeof(task.stat.comm));
	task.has_call = task_call_parse(text, &task);
	if (call_of_task(&task))
		FUZZ_HOLDS(call_of_task(&task)->number == task.call);
	text_copy_inert(channel, sizeof(channel), text);
	is_ended(channel, sizeof(channel));
	channel_kind(channel);
	channel_disk(channel);
	path_copy_inert(path, sizeof(path), text);
	is_ended(path, sizeof(path));
}

static void read_locks(const char *text)
{
	struct other_end end = { .key = "ino", .value = INODE };
	struct file_lock asked, held;

	for (pid_t pid = -1; pid < 3; pid++) {
		const char *at = text;

		asked = (struct file_lock){ .pid = pid, .inode = INODE, .first = 1 };
		if (!locks_find(text, &asked, &held))
			continue;
		FUZZ_HOLDS(memchr(held.kind, '\0', sizeof(held.kind)));
		end.request = asked;
		fdinfo_fits(1, 0, &end);
		while ((at = locks_next_holder(at, &asked, &held)))
			FUZZ_HOLDS(lock_conflicts(&held, &asked));
	}
	end.request.kind[0] = '\0';
	fdinfo_fits(1, 0, &end);
}

static void read_tables(const char *text)
{
	struct socket_view view;

	for (size_t i = 0; i < 2; i++) {
		memset(&view, 0, sizeof(view));
		if (!net_table_find(text, i ? text : NULL, INODE, "tcp", &view))
			continue;
		is_ended(view.local, sizeof(view.local));
		is_ended(view.remote, sizeof(view.remote));
	}
}

static void read_mounts(const uint8_t *data, size_t size)
{
	FILE *f = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
	char type[WAIT_NAME];
	struct mount_view m;

	if (!f)
		return;
	if (mount_find_path(f, "/a/b", &m))
		FUZZ_HOLDS(*m.point == '/');
	rewind(f);
	if (mount_find_only(f, SERVER_FUSE, &m)) {
		FUZZ_HOLDS(mount_server_of(m.type) == SERVER_FUSE);
		text_copy_inert(type, sizeof(type), m.type);
		is_ended(type, sizeof(type));
	}
	fclose(f);
}

static void read_descriptors(void)
{
	struct task_view task = { .has_call = true };
	int fds[FDS];

	epoll_read(1, &task, fds, FDS);
}

static void read_children(const char *text)
{
	struct child_choice all = { 0 }, last = { .is_last = true };
	struct wait wait = { .pid = 1 };
	struct task_view task;

	task.has_call = task_call_parse(text, &task);
	child_choose(1, &task);
	children_of_thread(&wait, 1, &last);
	FUZZ_HOLDS(wait.peers <= 1);
	children_of_thread(&wait, 1, &all);
	for (unsigned i = 0; i < wait.peers && i < WAIT_PEERS; i++)
		FUZZ_HOLDS(wait.peer[i].pid > 0);
}

static void read_maps(const uint8_t *data, size_t size)
{
	FILE *f = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
	struct mapping m;

	while (f && mapping_next(f, &m))
		FUZZ_HOLDS(memchr(m.flags, '\0', sizeof(m.flags)));
	if (f)
		fclose(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);

	given = text;
	read_task(text);
	read_locks(text);
	read_tables(text);
	read_descriptors();
	read_children(text);
	read_maps(data, size);
	read_mounts(data, size);
	free(text);
	return 0;
}
