// SPDX-License-Identifier: BSD-2-Clause
/* Which lock or lease of a file a task waits for, and which processes have it. */
#include "waits/syscalls.h"
#include "waits/fdinfo.h"
#include "waits/look.h"
#include "waits/waits_memory.h"

#include "base/buffer.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void locks_read(struct look *look)
{
	struct buffer all = { 0 };
	char part[8192];
	FILE *f = fopen("/proc/locks", "re");
	size_t n;

	while (f && (n = fread(part, 1, sizeof(part), f)) > 0)
		buffer_put(&all, part, n);
	if (f)
		fclose(f);
	buffer_put(&all, "", 1);
	look->locks = all.text;
}

/* The bytes that fcntl() has been asked for; left as they are if they cannot be known. */
static void request_of_bytes(struct file_lock *asked, pid_t pid, uint64_t address, uint64_t at)
{
	struct flock f;
	int64_t first;

	if (!memory_peek(pid, address, &f, sizeof(f)) || f.l_whence == SEEK_END)
		return;
	first = f.l_start + (f.l_whence == SEEK_CUR ? (int64_t)at : 0);
	if (f.l_len < 0)
		first += f.l_len;
	asked->first = (uint64_t)first;
	asked->last =
		f.l_len ? (uint64_t)(first + (f.l_len < 0 ? -f.l_len : f.l_len) - 1) : UINT64_MAX;
}

/* What the call says about the lock that it asks for. @info: of the descriptor. */
static void request_of_call(struct file_lock *asked, const struct wait *wait,
			    const struct task_view *task, const char *info)
{
	const struct call *call = task ? call_of_task(task) : NULL;
	uint64_t at = 0;

	*asked = (struct file_lock){ .pid = wait->pid, .first = 1 };
	if (!call)
		return;
	fdinfo_number(info, "ino", &asked->inode);
	if (call->kind == CALL_FLOCK)
		snprintf(asked->kind, sizeof(asked->kind), "FLOCK");
	if (call->kind != CALL_FCNTL)
		return;
	snprintf(asked->kind, sizeof(asked->kind),
		 task->argument[1] == F_OFD_SETLKW ? "OFDLCK" : "POSIX");
	if (task->argument[1] == F_OFD_SETLKW)
		asked->pid = -1;
	fdinfo_number(info, "pos", &at);
	request_of_bytes(asked, wait->pid, task->argument[2], at);
}

/*
 * POSIX locks and leases are of a process, which the kernel names. The others are of an open file:
 * the process that took one may have ended, and its descriptor may be in others.
 */
static void holders_look(const char *locks, struct wait *wait, struct other_end *end,
			 const char *file)
{
	struct file_lock held;

	while ((locks = locks_next_holder(locks, &end->request, &held))) {
		bool is_of_file = !strcmp(held.kind, "FLOCK") || !strcmp(held.kind, "OFDLCK");

		if (is_of_file && *file)
			end->is_wanted = true;
		else if (held.pid > 0)
			wait_add_peer(wait, held.pid);
		if (is_of_file && held.pid > 0 && !end->first)
			end->first = held.pid;
	}
	snprintf(end->link, sizeof(end->link), "%s", file);
}

void lock_look(struct look *look, struct wait *wait, struct other_end *end,
	       const struct task_view *task)
{
	char file[sizeof(end->link)], info[8192];
	struct file_lock *asked = &end->request, held;

	if (!look->locks)
		locks_read(look);
	fdinfo_read(wait->pid, wait->fd, info, sizeof(info));
	if (descriptor_link(wait->pid, wait->fd, file, sizeof(file)))
		path_copy_inert(wait->object, sizeof(wait->object), file);
	request_of_call(asked, wait, task, info);
	if (!look->locks || (asked->pid < 0 && !asked->inode) ||
	    !locks_find(look->locks, asked, &held))
		return;
	wait->kind = WAIT_LOCK;
	wait->has_other_end = true;
	snprintf(wait->lock, sizeof(wait->lock), "%s", asked->kind);
	wait->lock_first = asked->first;
	wait->lock_last = asked->last;
	if (fdinfo_has_conflict(info, asked)) { /* it asks for more than it has */
		end->own_pid = wait->pid;
		end->own_fd = wait->fd;
	}
	holders_look(look->locks, wait, end, file);
	if (!*wait->object)
		snprintf(wait->object, sizeof(wait->object), "inode %" PRIu64 " of device %u:%u",
			 asked->inode, asked->major, asked->minor);
}
