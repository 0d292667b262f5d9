// SPDX-License-Identifier: BSD-2-Clause
#include "top/proc.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memory.h"
#include "waits/waits.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SAME_START_NS                                                                              \
	2000000000LL /* tolerance, as /proc counts ticks since boot, and clocks may be set */
#define MOST_FILES 500

/* Reads a file and terminates it with NUL. Returns the bytes read, or a negative errno. */
static ssize_t proc_read_file(int32_t pid, const char *name, char *out, size_t size)
{
	__cleanup(closep) int fd = -1;
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, out, size - 1);
	if (n < 0)
		return -errno;
	out[n] = '\0';
	return n;
}

bool proc_arguments(int32_t pid, char *out, size_t size)
{
	ssize_t n = proc_read_file(pid, "cmdline", out, size);

	while (n > 0 && !out[n - 1])
		n--;
	for (ssize_t i = 0; i < n; i++)
		if (!out[i])
			out[i] = ' ';
	return n > 0;
}

/* Returns the state of the process, or 0 if none with this PID started at that time. */
static char proc_state(int32_t pid, uint64_t start_epoch_ns)
{
	char text[1024], state;
	unsigned long long ticks;
	const char *end;
	int64_t boot_ns = (int64_t)(clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME)), off_ns;

	if (pid <= 0 || proc_read_file(pid, "stat", text, sizeof(text)) < 0)
		return 0;
	end = strrchr(text, ')');
	if (!end ||
	    sscanf(end + 1,
		   " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
		   "%*d %llu",
		   &state, &ticks) != 2)
		return 0;
	off_ns = boot_ns +
		 (int64_t)(ticks * (1000000000ULL / (unsigned long)sysconf(_SC_CLK_TCK))) -
		 (int64_t)start_epoch_ns;
	return off_ns < SAME_START_NS && off_ns > -SAME_START_NS ? state : 0;
}

static int lines_add(struct proc_lines *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int lines_add(struct proc_lines *p, const char *format, ...)
{
	va_list arguments;
	char *line;
	int n;

	if (p->nr == p->room) {
		size_t room = p->room ? 2 * p->room : 32;
		char **lines = memory_reallocarray(p->lines, room, sizeof(*lines));

		if (!lines)
			return -ENOMEM;
		p->lines = lines;
		p->room = room;
	}
	va_start(arguments, format);
	n = memory_vasprintf(&line, format, arguments);
	va_end(arguments);
	if (n < 0)
		return -ENOMEM;
	p->lines[p->nr++] = line;
	return 0;
}

static int limits_read(struct proc_lines *p, int32_t pid)
{
	char text[4096], *rest = text, *line;
	ssize_t n = proc_read_file(pid, "limits", text, sizeof(text));
	int err;

	if (n < 0)
		return lines_add(p, "limits: %s", strerror((int)-n));
	err = lines_add(p, "limits that are set");
	strsep(&rest, "\n");
	while (!err && (line = strsep(&rest, "\n"))) {
		char name[26] = "", soft[32] = "", unit[32] = "";

		if (strlen(line) < 26)
			continue;
		memcpy(name, line, 25);
		sscanf(line + 26, "%31s %*s %31s", soft, unit);
		if (strcmp(soft, "unlimited") != 0)
			err = lines_add(p, "  %s %s %s", name, soft, unit);
	}
	return err;
}

static int file_add(struct proc_lines *p, int folder, const char *name)
{
	char target[4096];
	ssize_t n = readlinkat(folder, name, target, sizeof(target) - 1);

	if (n < 0)
		return 0; /* closed meanwhile */
	target[n] = '\0';
	return lines_add(p, "  %4s  %s", name, target);
}

static int files_read(struct proc_lines *p, int32_t pid)
{
	__cleanup(closedirp) DIR *d = NULL;
	const struct dirent *e;
	size_t nr = 0;
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	d = memory_opendir(path);
	if (!d)
		return lines_add(p, "open files: %s", strerror(errno));
	err = lines_add(p, "open files");
	while (!err && (e = readdir(d)) && nr < MOST_FILES) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		err = file_add(p, dirfd(d), e->d_name);
		nr++;
	}
	if (!err && nr == MOST_FILES)
		err = lines_add(p, "  and more");
	return err;
}

int proc_lines_read(struct proc_lines *p, int32_t pid, uint64_t start_epoch_ns)
{
	int err;

	if (!proc_state(pid, start_epoch_ns))
		return lines_add(p, "it no longer exists");
	err = limits_read(p, pid);
	return err ? err : files_read(p, pid);
}

void proc_lines_done(struct proc_lines *p)
{
	for (size_t i = 0; i < p->nr; i++)
		free(p->lines[i]);
	free(p->lines);
	*p = (struct proc_lines){ 0 };
}

void waiting_begin(struct waiting *w)
{
	if (!w->set)
		w->set = waits_new();
	if (w->is_deferred)
		return;
	/* results for a key may be of an earlier screen */
	if (w->set &&
	    (w->is_incomplete || clock_ns(CLOCK_MONOTONIC) - w->read_ns >= NSEC_PER_SEC)) {
		waits_clear(w->set);
		w->nr_read = 0;
	}
	w->is_incomplete = false;
}

void waiting_add(struct waiting *w, int32_t pid, uint64_t start_epoch_ns)
{
	if (w->set)
		waits_add(w->set, pid, start_epoch_ns);
}

/* Reads the processes again if any was added since. */
static void waiting_read(struct waiting *w)
{
	if (w->nr_read == waits_given(w->set))
		return;
	waits_read(w->set, false);
	w->nr_read = waits_given(w->set);
	w->read_ns = clock_ns(CLOCK_MONOTONIC);
}

bool waiting_text(struct waiting *w, int32_t pid, uint64_t start_epoch_ns, char *state, char *out,
		  size_t size)
{
	const struct wait *one;
	int at = w->set ? waits_add(w->set, pid, start_epoch_ns) : -1;

	if (at < 0)
		return false;
	if (w->is_deferred && (size_t)at >= w->nr_read) {
		w->is_incomplete = true;
		return false;
	}
	if (!w->is_deferred)
		waiting_read(w);
	one = waits_get(w->set, (size_t)at);
	if (one->kind == WAIT_ENDED || one->kind == WAIT_HIDDEN)
		return false;
	*state = one->state;
	out[0] = '\0';
	if (one->kind != WAIT_RUNS && one->kind != WAIT_IDLE)
		wait_text(one, out, size);
	return *state;
}

#define REASON_NS (2 * NSEC_PER_SEC)

static void waiting_find_reason(struct waiting *w, const int32_t *pids, size_t nr)
{
	struct waits *all = waits_new();
	struct wait_reason reason;

	w->reason[0] = '\0';
	for (size_t i = 0; all && i < nr; i++)
		waits_add(all, pids[i], 0);
	if (all && nr && !waits_read(all, true)) {
		waits_reason(all, &reason);
		if (reason.is_found && waits_get(all, reason.cause)->kind > WAIT_IDLE)
			waits_reason_text(all, &reason, w->reason, sizeof(w->reason));
	}
	waits_free(all);
}

void waiting_reason(struct waiting *w, const int32_t *pids, size_t nr, char *out, size_t size)
{
	if (!w->is_deferred && clock_ns(CLOCK_MONOTONIC) - w->reason_ns >= REASON_NS) {
		waiting_find_reason(w, pids, nr);
		w->reason_ns = clock_ns(CLOCK_MONOTONIC);
	}
	snprintf(out, size, "%s", w->reason);
}

void waiting_done(struct waiting *w)
{
	waits_free(w->set);
	*w = (struct waiting){ 0 };
}
