// SPDX-License-Identifier: BSD-2-Clause
#include "base/proc_files.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define NUMBER_BYTES 16 /* more than a PID and the space after it have */

void proc_files_init(struct proc_files *f, pid_t pid)
{
	f->pid = pid;
	for (int i = 0; i < NR_PROC_FILES; i++)
		f->fd[i] = -1;
}

static void proc_file_close(struct proc_files *f, enum proc_file file, unsigned *nr_open)
{
	close(f->fd[file]);
	f->fd[file] = -1;
	--*nr_open;
}

void proc_files_done(struct proc_files *f, unsigned *nr_open)
{
	for (int i = 0; i < NR_PROC_FILES; i++)
		if (f->fd[i] >= 0)
			proc_file_close(f, (enum proc_file)i, nr_open);
}

static int proc_file_open(struct proc_files *f, enum proc_file file, unsigned *nr_open)
{
	static const char *const names[] = {
		[PROC_SCHED] = "schedstat",
		[PROC_STAT] = "stat",
		[PROC_STATUS] = "status",
		[PROC_IO] = "io",
	};
	char path[64];

	if (file == PROC_CHILDREN)
		snprintf(path, sizeof(path), "/proc/%d/task/%d/children", f->pid, f->pid);
	else
		snprintf(path, sizeof(path), "/proc/%d/%s", f->pid, names[file]);
	f->fd[file] = open(path, O_RDONLY | O_CLOEXEC);
	if (f->fd[file] < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	++*nr_open;
	return 0;
}

ssize_t proc_files_read(struct proc_files *f, enum proc_file file, unsigned *nr_open, unsigned most,
			char *text, size_t size)
{
	int err = f->fd[file] < 0 ? proc_file_open(f, file, nr_open) : 0;
	ssize_t n;

	if (err)
		return err;
	n = pread(f->fd[file], text, size - 1, 0);
	if (n < 0)
		n = -errno;
	else
		text[n] = '\0';
	if (n < 0 || *nr_open > most)
		proc_file_close(f, file, nr_open);
	return n;
}

/* Each number ends with a space; the text may end within one. @child: what it has of that. */
static void children_scan(const char *text, ssize_t length, pid_t *child,
			  void (*fn)(void *context, pid_t child), void *context)
{
	for (ssize_t i = 0; i < length; i++) {
		if (isdigit((unsigned char)text[i])) {
			*child = *child * 10 + (text[i] - '0');
			continue;
		}
		if (*child)
			fn(context, *child);
		*child = 0;
	}
}

int proc_files_children(struct proc_files *f, unsigned *nr_open, unsigned most,
			void (*fn)(void *context, pid_t child), void *context)
{
	int err = f->fd[PROC_CHILDREN] < 0 ? proc_file_open(f, PROC_CHILDREN, nr_open) : 0;
	char text[PROC_TEXT_BYTES];
	off_t at = 0;
	pid_t child = 0;
	ssize_t n;

	if (err)
		return err;
	do {
		n = pread(f->fd[PROC_CHILDREN], text, sizeof(text), at);
		at += n;
		children_scan(text, n, &child, fn, context);
	} while (n > (ssize_t)sizeof(text) - NUMBER_BYTES); /* else another one had fitted in */
	err = n < 0 ? -errno : 0;
	if (err || *nr_open > most)
		proc_file_close(f, PROC_CHILDREN, nr_open);
	return err;
}
