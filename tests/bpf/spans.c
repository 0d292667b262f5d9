// SPDX-License-Identifier: BSD-2-Clause
/*
 * Begins spans in children of its own, and reports as JSON what wait4() says of each.
 *
 * many N PERCENT: N at once, of 50 ms to 2 s, which use CPU and memory; PERCENT have one within.
 * fast N: N of them one after the other, which do nothing.
 * hold N: N of them that are there at once, each a span, or refused.
 */
#include "base/span_call.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000LL
#define NAMES 50 /* of so many different ones */
#define SETTLE_US 20000

/* One child, in memory shared with it. */
struct part {
	pid_t pid, inner;
	int64_t asked_ns, used_before_ns; /* its CPU time before its span began, and after */
	int64_t cpu_ns, wall_ns;
	size_t held; /* bytes */
	bool has_inner, is_refused;
	struct rusage used, used_by_inner;
	int64_t inner_asked_ns, inner_before_ns;
};

static struct part *parts;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int64_t clock_read(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1000 * MS + t.tv_nsec;
}

static bool span_begin(const char *name)
{
	char answer[SPAN_ANSWER_BYTES] = "no answer";
	struct jsonw j = { 0 };
	int err;

	span_call_write(&j, &(struct span_call_words){ .name = name }, NULL, 0);
	err = span_call(getenv(SPAN_VARIABLE), &j, answer);
	if (err)
		fprintf(stderr, "%s: %s: %s\n", name, strerror(-err), answer);
	jsonw_done(&j);
	return !err;
}

static void spin(int64_t ns)
{
	int64_t end = clock_read(CLOCK_PROCESS_CPUTIME_ID) + ns;

	while (clock_read(CLOCK_PROCESS_CPUTIME_ID) < end)
		;
}

static void wait_for_end(pid_t pid)
{
	siginfo_t ignored;

	while (waitid(P_PID, (id_t)pid, &ignored, WEXITED | WNOWAIT) && errno == EINTR)
		;
}

/* The kernel gives a parent that waits at once what its child had used at its last tick. */
static void reap(pid_t pid, struct rusage *used)
{
	wait_for_end(pid);
	usleep(SETTLE_US);
	if (wait4(pid, NULL, 0, used) != pid)
		die("wait4");
}

static void inner_run(struct part *p)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid) {
		reap(pid, &p->used_by_inner);
		return;
	}
	p->inner = getpid();
	p->inner_asked_ns = clock_read(CLOCK_PROCESS_CPUTIME_ID);
	p->is_refused |= !span_begin("inner");
	p->inner_before_ns = clock_read(CLOCK_PROCESS_CPUTIME_ID);
	spin(p->cpu_ns);
	_exit(0);
}

static void part_run(struct part *p, size_t i)
{
	int64_t end_ns, left_ns;
	char name[32];
	char *memory;

	snprintf(name, sizeof(name), "part %zu", i % NAMES);
	p->asked_ns = clock_read(CLOCK_PROCESS_CPUTIME_ID);
	p->is_refused = !span_begin(name);
	end_ns = clock_read(CLOCK_MONOTONIC) + p->wall_ns;
	p->used_before_ns = clock_read(CLOCK_PROCESS_CPUTIME_ID);
	memory = mmap(NULL, p->held, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		die("mmap");
	memset(memory, 1, p->held);
	spin(p->cpu_ns);
	if (p->has_inner)
		inner_run(p);
	left_ns = end_ns - clock_read(CLOCK_MONOTONIC);
	if (left_ns > 0)
		usleep((useconds_t)(left_ns / 1000));
	_exit((int)(i % 7));
}

static void part_fork(size_t i)
{
	struct part *p = &parts[i];

	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	p->pid = pid ? pid : getpid();
	if (!pid)
		part_run(p, i);
}

static int64_t used_ns(const struct rusage *r)
{
	return (r->ru_utime.tv_sec + r->ru_stime.tv_sec) * 1000 * MS +
	       (r->ru_utime.tv_usec + r->ru_stime.tv_usec) * 1000;
}

static void parts_print(size_t n)
{
	printf("[");
	for (size_t i = 0; i < n; i++) {
		const struct part *p = &parts[i];

		printf("%s{\"pid\":%d,\"name\":\"part %zu\",\"exit\":%zu,\"used_ns\":%" PRId64
		       ",\"asked_ns\":%" PRId64 ",\"before_ns\":%" PRId64 ",\"wall_ns\":%" PRId64
		       ",\"held\":%zu,\"refused\":%d",
		       i ? ",\n" : "", p->pid, i % NAMES, i % 7, used_ns(&p->used), p->asked_ns,
		       p->used_before_ns, p->wall_ns, p->held, p->is_refused);
		if (p->has_inner)
			printf(",\"inner\":%d,\"inner_used_ns\":%" PRId64
			       ",\"inner_asked_ns\":%" PRId64 ",\"inner_before_ns\":%" PRId64,
			       p->inner, used_ns(&p->used_by_inner), p->inner_asked_ns,
			       p->inner_before_ns);
		printf("}");
	}
	printf("]\n");
}

/* Each waits for the end of the pipe @end, and writes to @ready when it has been answered. */
static void holder_fork(size_t i, const int ready[2], const int end[2])
{
	pid_t pid = fork();
	char c = 0;

	if (pid < 0)
		die("fork");
	if (!pid) {
		close(end[1]);
		parts[i].is_refused = !span_begin("held");
		if (write(ready[1], &c, 1) != 1 || read(end[0], &c, 1) != 0)
			_exit(1);
		_exit(0);
	}
	if (read(ready[0], &c, 1) != 1)
		die("read");
}

static void holders_run(size_t n)
{
	int ready[2], end[2], status;
	size_t refused = 0, failed = 0;

	if (pipe(ready) || pipe(end))
		die("pipe");
	for (size_t i = 0; i < n; i++) {
		holder_fork(i, ready, end);
		refused += parts[i].is_refused;
	}
	close(end[1]);
	while (wait(&status) > 0)
		failed += status != 0;
	printf("{\"refused\":%zu,\"failed\":%zu}\n", refused, failed);
}

static void parts_run(size_t n, bool is_fast, size_t percent)
{
	for (size_t i = 0; i < n; i++) {
		parts[i].held = is_fast ? 4096 : 65536UL + (size_t)(rand() % 16) * 65536;
		parts[i].cpu_ns = is_fast ? 0 : (1 + rand() % 8) * MS;
		parts[i].wall_ns = is_fast ? 0 : (50 + rand() % 1950) * MS;
		parts[i].has_inner = i % 100 < percent;
		part_fork(i);
		if (is_fast && wait4(parts[i].pid, NULL, 0, &parts[i].used) < 0)
			die("wait4");
	}
	for (size_t i = 0; !is_fast && i < n; i++)
		wait_for_end(parts[i].pid);
	usleep(SETTLE_US);
	for (size_t i = 0; !is_fast && i < n; i++)
		if (wait4(parts[i].pid, NULL, 0, &parts[i].used) < 0)
			die("wait4");
	parts_print(n);
}

int main(int argc, char **argv)
{
	bool is_fast = argc == 3 && !strcmp(argv[1], "fast");
	bool holds = argc == 3 && !strcmp(argv[1], "hold");
	size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

	if (!n || (!is_fast && !holds && (argc != 4 || strcmp(argv[1], "many") != 0)))
		return 2;
	parts = mmap(NULL, n * sizeof(*parts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	if (parts == MAP_FAILED)
		die("mmap");
	srand(1);
	if (holds)
		holders_run(n);
	else
		parts_run(n, is_fast, is_fast ? 0 : strtoul(argv[3], NULL, 10));
	return 0;
}
