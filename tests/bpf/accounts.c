// SPDX-License-Identifier: BSD-2-Clause
/*
 * Many accounts in one set of books, without an agent: each child of this program has an account of
 * its own. Prints one JSON object: the totals of each account, what wait4() reports for the child,
 * the sum of the records, and how long drains took while all children were alive.
 *
 * Usage: accounts many N MISSES FREE_MISSES
 *                              N children at once, each with children of its own, while each hook
 *                              misses MISSES thousandths of the events, and the hook of the last
 *                              event of a task FREE_MISSES thousandths
 *        accounts moves N      a process that forks all the time is moved N times, and not after
 * its end accounts retire N     an account is closed while N processes of it live and fork
 */
#include "base/clock.h"
#include "measure/tracker.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define DRAINS 41
#define MOST 2000
#define FILL_PAIRS 400

struct child {
	pid_t pid;
	uint64_t before_ns; /* CPU time that it had used when it was let go; written by the child */
	uint64_t used_ns;   /* by wait4(), with the children that it waited for */
	uint64_t record_ns; /* CPU in the records of its account */
	unsigned records;
};

static struct tracker books;
static struct child *children; /* shared with these processes */
static size_t nr_children;
static uint64_t record_ns, nr_records, nr_retired; /* of all accounts */

__attribute__((noreturn)) static void die(const char *what)
{
	fprintf(stderr, "accounts: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void burn_us(uint64_t us)
{
	uint64_t end_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + us * 1000;

	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end_ns)
		;
}

/* Burns CPU, alone and in @nr children, one after the other. */
static void work(unsigned nr, unsigned us)
{
	for (unsigned i = 0; i < nr; i++) {
		pid_t pid = fork();

		if (!pid) {
			burn_us(us);
			_exit(0);
		}
		burn_us(us);
		waitpid(pid, NULL, 0);
	}
}

/* Reports on @ready that it runs, and waits on @go for a byte before its work and one after it. */
__attribute__((noreturn)) static void child_run(int ready, int go, size_t i, unsigned nr)
{
	char c = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (write(ready, &c, 1) != 1 || read(go, &c, 1) != 1)
		_exit(1);
	children[i].before_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	work(nr, 200 + (unsigned)i % 7 * 100);
	if (read(go, &c, 1) != 1)
		_exit(1);
	_exit(0);
}

static void record_add(const struct process_record *r)
{
	nr_records++;
	record_ns += r->counters.cpu;
	for (size_t i = 0; i < nr_children; i++)
		if (r->account.tree == (__u64)children[i].pid) {
			children[i].records++;
			children[i].record_ns += r->counters.cpu;
		}
}

static int event_take(void *context, void *data, size_t size)
{
	const struct process_event *e = data;

	(void)context, (void)size;
	if (e->kind == EVENT_PROCESS && (e->rec.account.tree || e->rec.account.cgroup))
		record_add(&e->rec);
	return 0;
}

static void books_open(unsigned misses, unsigned free_misses)
{
	struct tracker_options o = { .max_tasks = 16384,
				     .can_move = true,
				     .inject_misses = misses,
				     .inject_free_misses = free_misses };
	char why[512];

	metric_set_all(&o.wanted);
	if (tracker_open(&books, &o, why, sizeof(why))) {
		fprintf(stderr, "accounts: %s\n", why);
		exit(1);
	}
	if (tracker_listen(&books, event_take, NULL))
		die("ring buffer");
}

/* Drains, reads all accounts and takes the records; returns the sum of the accounts. */
static struct account look(void)
{
	struct account sum;

	tracker_drain(&books, NULL, NULL);
	tracker_totals(&books, &sum);
	tracker_consume(&books);
	return sum;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *p = a, *q = b;

	return *p < *q ? -1 : *p > *q;
}

static uint64_t drain_median_ns(void)
{
	uint64_t took[DRAINS];

	for (int i = 0; i < DRAINS; i++) {
		uint64_t from = clock_ns(CLOCK_MONOTONIC);

		look();
		took[i] = clock_ns(CLOCK_MONOTONIC) - from;
	}
	qsort(took, DRAINS, sizeof(*took), by_size);
	return took[DRAINS / 2];
}

/* Returns the pipe that lets the children go: a byte for each to begin, another to end. */
static int children_start(size_t n, unsigned nr_own)
{
	int fds[2], ready[2];
	char c;

	if (pipe(fds) || pipe(ready))
		die("pipe");
	for (nr_children = 0; nr_children < n; nr_children++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid) {
			close(fds[1]);
			child_run(ready[1], fds[0], nr_children,
				  nr_own ? nr_own : 1 + (unsigned)nr_children % 3);
		}
		children[nr_children].pid = pid;
		if (read(ready[0], &c, 1) != 1 || tracker_follow(&books, pid))
			die("a child cannot be followed");
	}
	return fds[1];
}

static void children_let_go(int go)
{
	for (size_t i = 0; i < nr_children; i++)
		if (write(go, "", 1) != 1)
			die("write");
}

static void children_wait(void)
{
	for (size_t i = 0; i < nr_children; i++) {
		struct rusage used;
		int status;

		if (wait4(children[i].pid, &status, 0, &used) < 0 || status)
			die("a child");
		children[i].used_ns =
			(uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * NSEC_PER_SEC +
			(uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000;
		if (i % 64 == 0)
			look();
	}
}

static void retired_take(void *context, const struct process_record *r)
{
	(void)context;
	nr_retired++;
	record_add(r);
}

static void account_close(const struct account_key *key)
{
	const struct account_key none = { 0 };
	int moved;

	do
		moved = tracker_retire(&books, key, &none, retired_take, NULL);
	while (moved > 0 || moved == -EAGAIN);
	if (moved) {
		errno = -moved;
		die("an account cannot be closed");
	}
	tracker_consume(&books);
}

static uint64_t lost[NR_LOSSES];

/*
 * Reads all accounts and the losses of the machine at one moment: any fork on the machine may find
 * an entry whose free event was missed.
 */
static void totals_read(struct account *sum)
{
	const struct tracking *t = tracker_tracking(&books);

	do {
		for (int i = 0; i < NR_LOSSES; i++)
			lost[i] = t->loss[i];
		tracker_totals(&books, sum);
	} while (memcmp(lost, t->loss, sizeof(lost)) != 0);
}

/* Closes all accounts: so processes that the kernel has yet to free have records, too. */
static struct account books_close(void)
{
	struct account_key *keys;
	struct account sum;
	size_t n;

	tracker_drain_whole(&books, NULL, NULL);
	tracker_totals(&books, &sum);
	n = books.accounts.nr;
	keys = calloc(n, sizeof(*keys));
	if (!keys)
		die("calloc");
	memcpy(keys, books.accounts.keys, n * sizeof(*keys));
	for (size_t i = 0; i < n; i++)
		account_close(&keys[i]);
	free(keys);
	totals_read(&sum);
	return sum;
}

static uint64_t losses(const struct account *a)
{
	uint64_t sum = 0;

	for (int i = 0; i < NR_LOSSES; i++)
		sum += a->loss[i];
	return sum;
}

static void children_print(void)
{
	printf("\"accounts\":[");
	for (size_t i = 0; i < books.accounts.nr; i++) {
		const struct account_key *key = &books.accounts.keys[i];
		struct account a = books.accounts.totals[i];
		const struct child *c = NULL;

		for (size_t k = 0; k < nr_children; k++)
			if (key->tree == (__u64)children[k].pid)
				c = &children[k];
		account_make_consistent(&a);
		printf("%s{\"tree\":%llu,\"cgroup\":%llu,\"cpu_ns\":%llu,\"processes\":%llu,"
		       "\"threads\":%lld,\"forks\":%llu,\"exits\":%llu,\"moved_in\":%llu,"
		       "\"moved_out\":%llu,\"used_ns\":%llu,\"record_ns\":%llu,\"records\":%u,"
		       "\"lost\":%llu}",
		       i ? "," : "", key->tree, key->cgroup, a.cpu, a.processes,
		       (long long)a.threads, a.forks, a.exits, a.moved_in, a.moved_out,
		       c ? (unsigned long long)(c->used_ns - c->before_ns) : 0ULL,
		       c ? (unsigned long long)c->record_ns : 0ULL, c ? c->records : 0,
		       (unsigned long long)losses(&a));
	}
	printf("]");
}

static void result_print(const struct account *sum, uint64_t drain_ns)
{
	printf("{\"losses\":[");
	for (int i = 0; i < NR_LOSSES; i++)
		printf("%s%llu", i ? "," : "", (unsigned long long)lost[i]);
	printf("],\"drain_ns\":%llu,\"record_ns\":%llu,\"records\":%llu,\"roots\":%llu,"
	       "\"births_lost\":%llu,\"retired\":%llu,",
	       (unsigned long long)drain_ns, (unsigned long long)record_ns,
	       (unsigned long long)nr_records, sum->roots,
	       (unsigned long long)tracker_unrepaired(&books), (unsigned long long)nr_retired);
	children_print();
	printf("}\n");
}

/*
 * Fills memory that the kernel has freed with datagrams of many sizes. Some then overwrite a part
 * of a freed task, such as its counters, and leave the rest.
 */
static void freed_memory_fill(void)
{
	static char data[8192];
	int ends[FILL_PAIRS][2];

	memset(data, 0x11, sizeof(data));
	for (size_t i = 0; i < FILL_PAIRS; i++) {
		if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends[i]))
			die("socketpair");
		for (size_t size = 100; size < sizeof(data); size += 600)
			if (send(ends[i][0], data, size, 0) < 0)
				break; /* its queue is full */
	}
	for (size_t i = 0; i < FILL_PAIRS; i++) {
		close(ends[i][0]);
		close(ends[i][1]);
	}
}

static void many(size_t n, unsigned misses, unsigned free_misses)
{
	struct account sum;
	uint64_t drain_ns;
	int go;

	books_open(misses, free_misses);
	go = children_start(n, 0);
	drain_ns = drain_median_ns();
	children_let_go(go);
	children_let_go(go);
	children_wait();
	if (free_misses)
		freed_memory_fill();
	sum = books_close();
	result_print(&sum, drain_ns);
}

/* A process that has ended, and that its parent has not waited for, cannot be moved. */
static void move_ended(pid_t pid, const struct account_key *to)
{
	siginfo_t ended;
	int err;

	if (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT))
		die("waitid");
	err = tracker_move(&books, pid, to);
	if (err != -ESRCH) {
		errno = -err;
		die("a move of an ended process");
	}
}

/* All accounts are read at each move: their sum must never fall. */
static void moves(size_t n)
{
	struct account_key to = { .cgroup = 1 };
	uint64_t before = 0;
	struct account sum;
	int go, err;

	books_open(0, 0);
	go = children_start(1, 500);
	children_let_go(go);
	for (size_t i = 0; i < n; i++) {
		to.tree = (__u64)children[0].pid + i % 2;
		to.cgroup = i % 2;
		err = tracker_move(&books, children[0].pid, &to);
		if (err) {
			errno = -err;
			die("a move");
		}
		sum = look();
		if (sum.cpu < before) {
			errno = ERANGE;
			die("the sum fell");
		}
		before = sum.cpu;
	}
	if (write(go, "", 1) != 1)
		die("write");
	to = (struct account_key){ .tree = (__u64)children[0].pid + n % 2, .cgroup = n % 2 };
	move_ended(children[0].pid, &to);
	children_wait();
	sum = books_close();
	result_print(&sum, 0);
}

static void retire(size_t n)
{
	const struct account_key from = { .tree = (__u64)getpid() };
	struct account sum;
	int go;

	books_open(0, 0);
	go = children_start(n, 200);
	for (size_t i = 0; i < n; i++)
		if (tracker_move(&books, children[i].pid, &from))
			die("a move");
	children_let_go(go);
	usleep(50000);
	tracker_drain_whole(&books, NULL, NULL);
	account_close(&from);
	totals_read(&sum);
	result_print(&sum, 0);
	children_let_go(go);
	children_wait();
}

int main(int argc, char **argv)
{
	size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

	children = mmap(NULL, MOST * sizeof(*children), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (children == MAP_FAILED)
		die("mmap");
	if (argc == 5 && n && n <= MOST && !strcmp(argv[1], "many"))
		many(n, (unsigned)strtoul(argv[3], NULL, 10), (unsigned)strtoul(argv[4], NULL, 10));
	else if (argc == 3 && n && !strcmp(argv[1], "moves"))
		moves(n);
	else if (argc == 3 && n && n <= MOST && !strcmp(argv[1], "retire"))
		retire(n);
	else
		return 2;
	tracker_close(&books);
	return 0;
}
