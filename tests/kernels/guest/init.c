// SPDX-License-Identifier: BSD-2-Clause
/*
 * The first process of a guest: mounts what is needed, runs the tests in a child, reaps whatever is
 * orphaned, and turns the machine off. Lines that begin with "@" are for tools/boot-kernel.sh.
 * The kernel's parameter cases=WORD selects the tests whose name or title contains the word,
 * times=N runs them N times.
 */
#include "guest.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

static void filesystem_mount(const char *type, const char *where)
{
	mkdir(where, 0755);
	if (mount(type, where, type, 0, NULL))
		printf("@note %s cannot be mounted: %m\n", type);
}

static void console_open(void)
{
	int fd = open("/dev/console", O_RDWR);

	for (int i = 0; i < 3 && fd >= 0; i++)
		dup2(fd, i);
	if (fd > 2)
		close(fd);
	setvbuf(stdout, NULL, _IOLBF, 0);
}

/* One disk has a file system, the other one is swap space; each is tried as both. */
static void disks_mount(void)
{
	static const char *const disks[] = { "/dev/nvme0n1", "/dev/nvme1n1" };

	mkdir(DISK, 0755);
	for (int i = 0; i < 2; i++) {
		for (int wait = 0; wait < 500 && access(disks[i], F_OK); wait++)
			usleep(10000);
		if (mount(disks[i], DISK, "ext4", 0, NULL) && swapon(disks[i], 0))
			printf("@note %s cannot be used: %m\n", disks[i]);
	}
}

/* Enables the memory controller for the cgroups below the root. */
static void controller_hand_on(void)
{
	int fd = open("/sys/fs/cgroup/cgroup.subtree_control", O_WRONLY);

	if (write(fd, "+memory", 7) != 7)
		printf("@note cgroups have no controller of memory: %m\n");
	close(fd);
}

/* Prints both outputs of @program, each line with a word before it. False: it failed. */
static bool pass_on(const char *word, const char *program, const char *argument, const char *option)
{
	char line[512];
	int ends[2], status;
	pid_t pid;
	FILE *f;

	fflush(stdout);
	if (pipe(ends))
		return false;
	pid = fork();
	if (!pid) {
		dup2(ends[1], 1);
		dup2(ends[1], 2);
		execl(program, program, argument, option, NULL);
		_exit(99);
	}
	close(ends[1]);
	f = fdopen(ends[0], "r");
	while (fgets(line, sizeof(line), f))
		printf("@%s %s", word, line);
	fclose(f);
	if (waitpid(pid, &status, 0) == pid && !status)
		return true;
	printf("@note %s failed\n", program);
	return false;
}

static int run_all(void)
{
	const char *word = getenv("cases"), *times = getenv("times");
	struct utsname uts;

	uname(&uts);
	setenv("BPFMON_NO_STORE", "1", 1);
	printf("@kernel %s\n", uts.release);
	if (!word) {
		pass_on("capability", "/bpfmon", "check", "-v");
		if (pass_on("verified", "/verified", NULL, NULL)) {
			printf("@ok 0.0 relocations_with_a_copy_of_few_types\n");
		} else {
			printf("@FAIL 0.0 relocations_with_a_copy_of_few_types\n");
			tests_failed++;
		}
	}
	for (int i = times ? atoi(times) : 1; i > 0; i--) {
		test_all(tree_tests, word);
		test_all(memory_tests, word);
		test_all(cgroup_tests, word);
		test_all(attach_tests, word);
		test_all(block_tests, word);
		test_all(net_tests, word);
		test_all(delay_tests, word);
	}
	return tests_failed != 0;
}

int main(void)
{
	pid_t pid, ended;
	int status;

	filesystem_mount("devtmpfs", "/dev");
	console_open();
	filesystem_mount("proc", "/proc");
	filesystem_mount("sysfs", "/sys");
	filesystem_mount("tmpfs", "/tmp");
	filesystem_mount("bpf", "/sys/fs/bpf");
	filesystem_mount("tracefs", "/sys/kernel/tracing");
	filesystem_mount("cgroup2", "/sys/fs/cgroup");
	controller_hand_on();
	disks_mount();
	setenv("PATH", "/", 1);
	pid = fork();
	if (!pid) {
		setsid();
		exit(run_all());
	}
	do
		ended = wait(&status);
	while (ended > 0 && ended != pid);
	printf("@end %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128);
	sync();
	reboot(RB_POWER_OFF);
	return 1;
}
