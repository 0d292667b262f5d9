// SPDX-License-Identifier: BSD-2-Clause
#include "base/procstat.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memory.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEEPEST 64      /* ancestors that are checked */
#define TEXT_BYTES 4096 /* more than the part of status that is read */

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

/* Skips blanks and a sign, reads a number and advances *@at. Returns false if there is none. */
static bool proc_number_take(const char **at, uint64_t *value)
{
	const char *c = *at;

	while (*c == ' ' || *c == '\t' || *c == '-')
		c++;
	if (!isdigit((unsigned char)*c))
		return false;
	for (*value = 0; isdigit((unsigned char)*c); c++)
		*value = *value * 10 + (uint64_t)(*c - '0');
	*at = c;
	return true;
}

/* Numbers of fields in proc_pid_stat(5). */
enum stat_field {
	STAT_STATE = 3,
	STAT_PARENT,
	STAT_MINFLT = 10,
	STAT_CMINFLT,
	STAT_MAJFLT,
	STAT_CMAJFLT,
	STAT_UTIME,
	STAT_STIME,
	STAT_CUTIME,
	STAT_CSTIME,
	STAT_THREADS = 20,
	STAT_START = 22,
	STAT_VSIZE,
	NR_STAT_FIELDS
};

int proc_stat_parse(char *text, struct proc_stat *s)
{
	char *begin = strchr(text, '('), *end = strrchr(text, ')');
	uint64_t f[NR_STAT_FIELDS];
	const char *at;

	*s = (struct proc_stat){ 0 };
	if (!begin || !end || end < begin || end[1] != ' ' || !end[2])
		return -EBADMSG;
	*end = '\0';
	snprintf(s->comm, sizeof(s->comm), "%s", begin + 1);
	s->state = end[2];
	at = end + 3;
	for (int i = STAT_STATE + 1; i < NR_STAT_FIELDS; i++)
		if (!proc_number_take(&at, &f[i]))
			return -EBADMSG;
	s->parent = (pid_t)f[STAT_PARENT];
	s->minflt = f[STAT_MINFLT];
	s->children_minflt = f[STAT_CMINFLT];
	s->majflt = f[STAT_MAJFLT];
	s->children_majflt = f[STAT_CMAJFLT];
	s->user_ns = ticks_in_ns(f[STAT_UTIME]);
	s->system_ns = ticks_in_ns(f[STAT_STIME]);
	s->children_user_ns = ticks_in_ns(f[STAT_CUTIME]);
	s->children_system_ns = ticks_in_ns(f[STAT_CSTIME]);
	s->threads = (unsigned)f[STAT_THREADS];
	s->start_ns = ticks_in_ns(f[STAT_START]);
	s->vms_bytes = f[STAT_VSIZE];
	return 0;
}

/* Returns what follows @key at the beginning of a line, or NULL. */
static const char *proc_line_from(const char *from, const char *text, const char *key)
{
	const char *found = from;

	while ((found = strstr(found, key)) && found > text && found[-1] != '\n')
		found++;
	return found ? found + strlen(key) : NULL;
}

/*
 * Does the same and advances *@at. Keys are looked up in the order of the file: each is searched
 * from *@at first, then in all of @text.
 */
static const char *proc_line_find(const char **at, const char *text, const char *key)
{
	const char *found = proc_line_from(*at, text, key);

	if (!found)
		found = proc_line_from(text, text, key);
	if (found)
		*at = found;
	return found;
}

/* Reads the number of the line of @key. Returns false if there is none. */
static bool proc_line_number(const char **at, const char *text, const char *key, uint64_t *value)
{
	const char *found = proc_line_find(at, text, key);

	return found && proc_number_take(&found, value);
}

int proc_io_parse(const char *text, struct proc_io *io)
{
	const char *at = text;

	*io = (struct proc_io){ 0 };
	return proc_line_number(&at, text, "rchar:", &io->rchar) &&
			       proc_line_number(&at, text, "wchar:", &io->wchar) &&
			       proc_line_number(&at, text, "syscr:", &io->syscr) &&
			       proc_line_number(&at, text, "syscw:", &io->syscw) &&
			       proc_line_number(&at, text, "read_bytes:", &io->read_bytes) &&
			       proc_line_number(&at, text, "write_bytes:", &io->write_bytes) &&
			       proc_line_number(&at, text, "cancelled_write_bytes:",
						&io->cancelled_write_bytes)
		       ? 0
		       : -EBADMSG;
}

static uint64_t kilobytes_find(const char **at, const char *text, const char *key)
{
	uint64_t value = 0;

	return proc_line_number(at, text, key, &value) ? value << 10 : 0;
}

/* Returns the last number of the line: NSpid has one per PID namespace. */
static pid_t last_of_line(const char *line)
{
	const char *end = line ? strchr(line, '\n') : NULL;

	if (!end)
		return 0;
	while (end > line && isdigit((unsigned char)end[-1]))
		end--;
	return atoi(end);
}

/* Parses the lines of an address space, which kernel threads and zombies lack. */
static void status_parse_memory(const char **at, const char *text, struct proc_status *s)
{
	s->peak_bytes = kilobytes_find(at, text, "VmHWM:");
	s->anon_bytes = kilobytes_find(at, text, "RssAnon:");
	s->file_bytes = kilobytes_find(at, text, "RssFile:");
	s->shmem_bytes = kilobytes_find(at, text, "RssShmem:");
	s->tables_bytes = kilobytes_find(at, text, "VmPTE:");
	s->swap_bytes = kilobytes_find(at, text, "VmSwap:");
	s->hugetlb_bytes = kilobytes_find(at, text, "HugetlbPages:");
}

int proc_status_parse(const char *text, struct proc_status *s)
{
	const char *at = text, *ignored;
	uint64_t uid = 0;

	*s = (struct proc_status){ 0 };
	if (!proc_line_number(&at, text, "Uid:", &uid))
		return -EBADMSG;
	s->uid = (uint32_t)uid;
	s->is_read = true;
	s->ns_pid = last_of_line(proc_line_find(&at, text, "NSpid:"));
	s->has_memory = proc_line_from(at, text, "VmRSS:") != NULL;
	if (s->has_memory)
		status_parse_memory(&at, text, s);
	ignored = proc_line_find(&at, text, "SigIgn:");
	s->ignores_children = ignored && strtoull(ignored, NULL, 16) >> (SIGCHLD - 1) & 1;
	proc_line_number(&at, text, "voluntary_ctxt_switches:", &s->nvcsw);
	proc_line_number(&at, text, "nonvoluntary_ctxt_switches:", &s->nivcsw);
	return 0;
}

int proc_stat_read(pid_t pid, struct proc_stat *s)
{
	char text[TEXT_BYTES];
	int err = text_read(pid, "stat", text, sizeof(text));

	return err ? err : proc_stat_parse(text, s);
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

/* Streamed, as the list may exceed any buffer. */
static int children_of_task(pid_t pid, pid_t task, void (*fn)(void *context, pid_t child),
			    void *context)
{
	__cleanup(fclosep) FILE *f = NULL;
	char path[80];
	pid_t child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, task);
	f = memory_fopen(path, "re");
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
	dir = memory_opendir(path);
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

bool process_descends_from(pid_t pid, pid_t ancestor)
{
	char state;

	for (int i = 0; i < DEEPEST && pid > 1; i++) {
		if (pid == ancestor)
			return true;
		if (procstat_read(pid, &state, &pid))
			return false;
	}
	return false;
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
	f = memory_fopen(path, "re");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %d", leader) == 1)
			return 0;
	return -EBADMSG;
}

#define NUMBER_BYTES 16 /* more than a PID and a space */

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

/*
 * Passes on each number that is followed by a space. The text may end within a number, whose digits
 * so far are kept in @child.
 */
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
		/* else another number would have fit */
	} while (n > (ssize_t)sizeof(text) - NUMBER_BYTES);
	err = n < 0 ? -errno : 0;
	if (err || *nr_open > most)
		proc_file_close(f, PROC_CHILDREN, nr_open);
	return err;
}

static int smaps_find_bytes(const char *text, const char *name, uint64_t *bytes)
{
	const char *at = strstr(text, name);

	if (!at)
		return -EBADMSG;
	*bytes = strtoull(at + strlen(name), NULL, 10) * 1024;
	return 0;
}

static int smaps_read_file(const char *path, struct smaps *out)
{
	uint64_t pss, clean, dirty;
	char text[4096];
	__cleanup(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1); /* the kernel returns the whole file at once */
	if (n <= 0)
		return n ? -errno : -ESRCH;
	text[n] = '\0';
	if (smaps_find_bytes(text, "\nPss:", &pss) ||
	    smaps_find_bytes(text, "\nPrivate_Clean:", &clean) ||
	    smaps_find_bytes(text, "\nPrivate_Dirty:", &dirty))
		return -EBADMSG;
	*out = (struct smaps){ .pss_bytes = pss, .uss_bytes = clean + dirty };
	return 0;
}

/* After the first thread has exited, only the files of others can be read. */
static int smaps_read_threads(pid_t pid, struct smaps *out)
{
	char path[64 + NAME_MAX];
	const struct dirent *thread;
	__cleanup(closedirp) DIR *threads = NULL;
	int err = -ESRCH;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	threads = memory_opendir(path);
	while (threads && err == -ESRCH && (thread = readdir(threads))) {
		if (thread->d_name[0] == '.' || strtol(thread->d_name, NULL, 10) == pid)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/smaps_rollup", pid, thread->d_name);
		err = smaps_read_file(path, out);
		if (err == -ENOENT)
			err = -ESRCH;
	}
	return err;
}

int smaps_read(pid_t pid, struct smaps *out)
{
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", pid);
	err = smaps_read_file(path, out);
	return err == -ESRCH ? smaps_read_threads(pid, out) : err;
}

bool task_delays_are_kept(void)
{
	FILE *f = memory_fopen("/proc/sys/kernel/task_delayacct", "re");
	bool is_on = f && fgetc(f) == '1';

	if (f)
		fclose(f);
	return is_on;
}
