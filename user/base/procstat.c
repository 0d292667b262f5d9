// SPDX-License-Identifier: BSD-2-Clause
#include "base/procstat.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_BYTES 4096 /* more than status has up to what is read of it */

static int process_file_open(pid_t pid, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	return fd;
}

static int text_read(pid_t pid, const char *name, char *text, size_t size)
{
	__cleanup(closep) int fd = process_file_open(pid, name);
	size_t used = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	while (used + 1 < size && (n = read(fd, text + used, size - 1 - used)) != 0) {
		if (n < 0)
			return -errno;
		used += (size_t)n;
	}
	text[used] = '\0';
	return 0;
}

static uint64_t ticks_in_ns(uint64_t ticks)
{
	static long per_second;

	if (!per_second)
		per_second = sysconf(_SC_CLK_TCK);
	return ticks * (NSEC_PER_SEC / (uint64_t)per_second);
}

int proc_stat_parse(char *text, struct proc_stat *s)
{
	char *begin = strchr(text, '('), *end = strrchr(text, ')');
	uint64_t user, system, children_user, children_system, start;

	*s = (struct proc_stat){ 0 };
	if (!begin || !end || end < begin)
		return -EBADMSG;
	*end = '\0';
	snprintf(s->comm, sizeof(s->comm), "%s", begin + 1);
	/* state ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt utime stime cutime
	 * cstime priority nice num_threads itrealvalue starttime vsize */
	if (sscanf(end + 1,
		   " %c %d %*d %*d %*d %*d %*u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %*d %*d %u %*d %" SCNu64
		   " %" SCNu64,
		   &s->state, &s->parent, &s->minflt, &s->children_minflt, &s->majflt,
		   &s->children_majflt, &user, &system, &children_user, &children_system,
		   &s->threads, &start, &s->vms_bytes) != 13)
		return -EBADMSG;
	s->user_ns = ticks_in_ns(user);
	s->system_ns = ticks_in_ns(system);
	s->children_user_ns = ticks_in_ns(children_user);
	s->children_system_ns = ticks_in_ns(children_system);
	s->start_ns = ticks_in_ns(start);
	return 0;
}

/* The number after @key at the beginning of a line. False: there is none. */
static bool line_number(const char *text, const char *key, uint64_t *value)
{
	const size_t length = strlen(key);
	const char *line = text;

	while (line) {
		if (!strncmp(line, key, length))
			return sscanf(line + length, "%" SCNu64, value) == 1;
		line = strchr(line, '\n');
		line += line ? 1 : 0;
	}
	return false;
}

int proc_io_parse(const char *text, struct proc_io *io)
{
	*io = (struct proc_io){ 0 };
	return line_number(text, "rchar:", &io->rchar) && line_number(text, "wchar:", &io->wchar) &&
			       line_number(text, "syscr:", &io->syscr) &&
			       line_number(text, "syscw:", &io->syscw) &&
			       line_number(text, "read_bytes:", &io->read_bytes) &&
			       line_number(text, "write_bytes:", &io->write_bytes) &&
			       line_number(text,
					   "cancelled_write_bytes:", &io->cancelled_write_bytes)
		       ? 0
		       : -EBADMSG;
}

static uint64_t kilobytes_find(const char *text, const char *key)
{
	uint64_t value = 0;

	return line_number(text, key, &value) ? value << 10 : 0;
}

/* The last number of the line: NSpid has one for each PID namespace. */
static pid_t last_of_line(const char *text, const char *key)
{
	const char *line = strstr(text, key), *end = line ? strchr(line + 1, '\n') : NULL;

	if (!end)
		return 0;
	while (end > line && isdigit((unsigned char)end[-1]))
		end--;
	return atoi(end);
}

int proc_status_parse(const char *text, struct proc_status *s)
{
	const char *ignored = strstr(text, "\nSigIgn:");
	uint64_t uid = 0, set = 0;

	*s = (struct proc_status){ 0 };
	if (!line_number(text, "Uid:", &uid))
		return -EBADMSG;
	s->uid = (uint32_t)uid;
	s->ns_pid = last_of_line(text, "\nNSpid:");
	s->has_memory = strstr(text, "\nVmRSS:") != NULL;
	s->peak_bytes = kilobytes_find(text, "VmHWM:");
	s->anon_bytes = kilobytes_find(text, "RssAnon:");
	s->file_bytes = kilobytes_find(text, "RssFile:");
	s->shmem_bytes = kilobytes_find(text, "RssShmem:");
	s->swap_bytes = kilobytes_find(text, "VmSwap:");
	s->hugetlb_bytes = kilobytes_find(text, "HugetlbPages:");
	s->tables_bytes = kilobytes_find(text, "VmPTE:");
	line_number(text, "voluntary_ctxt_switches:", &s->nvcsw);
	line_number(text, "nonvoluntary_ctxt_switches:", &s->nivcsw);
	if (ignored && sscanf(ignored, " SigIgn: %" SCNx64, &set) == 1)
		s->ignores_children = set >> (SIGCHLD - 1) & 1;
	return 0;
}

int proc_stat_read(pid_t pid, struct proc_stat *s)
{
	char text[TEXT_BYTES];
	int err = text_read(pid, "stat", text, sizeof(text));

	return err ? err : proc_stat_parse(text, s);
}

int proc_stat_open(pid_t pid)
{
	return process_file_open(pid, "stat");
}

void proc_io_add(struct proc_io *sum, const struct proc_io *io)
{
	sum->rchar += io->rchar;
	sum->wchar += io->wchar;
	sum->syscr += io->syscr;
	sum->syscw += io->syscw;
	sum->read_bytes += io->read_bytes;
	sum->write_bytes += io->write_bytes;
	sum->cancelled_write_bytes += io->cancelled_write_bytes;
}

int proc_io_read(pid_t pid, struct proc_io *io)
{
	char text[TEXT_BYTES];
	int err = text_read(pid, "io", text, sizeof(text));

	return err ? err : proc_io_parse(text, io);
}

int proc_status_read(pid_t pid, struct proc_status *s)
{
	char text[TEXT_BYTES];
	int err = text_read(pid, "status", text, sizeof(text));

	return err ? err : proc_status_parse(text, s);
}

/* The list may be longer than any buffer. */
static int children_of_task(pid_t pid, pid_t task, void (*fn)(void *context, pid_t child),
			    void *context)
{
	__cleanup(fclosep) FILE *f = NULL;
	char path[80];
	pid_t child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, task);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (fscanf(f, "%d", &child) == 1)
		fn(context, child);
	return 0;
}

int proc_each_child(pid_t pid, unsigned threads, void (*fn)(void *context, pid_t child),
		    void *context)
{
	__cleanup(closedirp) DIR *dir = NULL;
	const struct dirent *entry;
	char path[64];

	if (threads == 1)
		return children_of_task(pid, pid, fn, context);
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir)))
		if (isdigit((unsigned char)*entry->d_name))
			children_of_task(pid, atoi(entry->d_name), fn, context);
	return 0;
}

int procstat_read(pid_t pid, char *state, pid_t *parent)
{
	struct proc_stat s;
	int err = proc_stat_read(pid, &s);

	if (err)
		return err;
	*state = s.state;
	*parent = s.parent;
	return 0;
}

bool procstat_is_own_namespace(void)
{
	char link[32];
	ssize_t n = readlink("/proc/self", link, sizeof(link) - 1);

	if (n <= 0)
		return false;
	link[n] = '\0';
	return atoi(link) == getpid();
}

int procstat_read_leader(pid_t pid, pid_t *leader)
{
	char path[64], line[256];
	__cleanup(fclosep) FILE *f = NULL;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %d", leader) == 1)
			return 0;
	return -EBADMSG;
}
