// SPDX-License-Identifier: BSD-2-Clause
/* Where the time goes for lack of memory: swapping, and a soft limit; what taskstats has is the
 * witness. */
#include "guest.h"

#include <linux/taskstats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define GROUP "/sys/fs/cgroup/bpfmon-delays"
#define SWITCH "/proc/sys/kernel/task_delayacct"
#define PAGE 4096
#define ROUNDS 3

/* Touches 96 MiB again and again, more than it may have, and leaves what taskstats says at the end.
 */
static void worker(struct taskstats *stats, bool *is_read)
{
	const size_t size = 96 * (size_t)MIB;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || !word_write(GROUP "/cgroup.procs", "0"))
		_exit(1);
	for (int round = 0; round < ROUNDS; round++)
		for (size_t at = 0; at < size; at += PAGE)
			p[at]++;
	*is_read = taskstats_read(stats);
	_exit(0);
}

static void check_delay(const struct run *r, const char *key, unsigned long long ns)
{
	double found = field_real(r->summary, key), said = (double)ns / 1e9;

	/* its exit comes after the witness was read */
	check_between(key, found, said, 1.05 * said + 0.01);
}

static void lacking_memory(struct run *r, const char *limit, const char *bytes)
{
	struct taskstats *stats =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool *is_read = (bool *)((char *)stats + PAGE);
	char path[64];
	pid_t pid;
	int status;

	if (!word_write(SWITCH, "1")) {
		verdict_absent("needs kernel.task_delayacct (5.14, CONFIG_TASK_DELAY_ACCT)");
		return;
	}
	snprintf(path, sizeof(path), GROUP "/memory.%s", limit);
	expect(!mkdir(GROUP, 0755) && word_write(path, bytes), "%s cannot be set: %m", path);
	attach_begin(r, "--cgroup bpfmon-delays --wait-start -i 0.5");
	pid = fork();
	if (!pid)
		worker(stats, is_read);
	waitpid(pid, &status, 0);
	while (rmdir(GROUP) && !run_is_over(r))
		usleep(10000);
	run_end(r);
	word_write(SWITCH, "0");
	expect(!status && *is_read, "the worker ended with %#x, %s statistics", (unsigned)status,
	       *is_read ? "with" : "without");
	check_complete(r);
	check_delay(r, "swapin_delay_seconds", stats->swapin_delay_total);
	check_delay(r, "reclaim_delay_seconds", stats->freepages_delay_total);
	check_delay(r, "blkio_delay_seconds", stats->blkio_delay_total);
	expect(stats->swapin_count > 1000 && stats->freepages_count > 10,
	       "%llu pages swapped in, %llu times reclaimed",
	       (unsigned long long)stats->swapin_count, (unsigned long long)stats->freepages_count);
	munmap(stats, 2 * PAGE);
}

static void delay_swapping(struct run *r)
{
	lacking_memory(r, "max", "50331648");
}

static void delay_soft_limit(struct run *r)
{
	lacking_memory(r, "high", "50331648");
}

const struct test delay_tests[] = {
	TEST(delay_swapping, "delays by swapping"),
	TEST(delay_soft_limit, "delays by memory.high"),
	{ 0 },
};
