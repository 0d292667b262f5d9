// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/user.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/capability.h>
#include <unistd.h>

#define NOBODY 65534U
#define SOMEBODY 65533U

#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif

/* A child that has become what @become makes of it, and waits to be killed. */
struct child {
	pid_t pid;
	int fd;
	char why[512];
};

/* 0: it has become that; then it is dumpable, as after an exec. */
typedef int becoming(void);

static void child_start(struct child *c, becoming *become, int dumpable)
{
	int ready[2];
	char failed = 1;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	c->pid = fork();
	assert_true(c->pid >= 0);
	if (!c->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		failed = (char)(become() || prctl(PR_SET_DUMPABLE, dumpable));
		if (write(ready[1], &failed, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &failed, 1), 1);
	close(ready[0]);
	c->fd = pidfd_make(c->pid);
	assert_true(c->fd >= 0);
	if (failed) {
		kill(c->pid, SIGKILL);
		waitpid(c->pid, NULL, 0);
		print_message("skipped: the machine refuses another user, or a user namespace\n");
		skip();
	}
}

static void child_end(const struct child *c)
{
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	close(c->fd);
}

/* Of a process that @become has made: it is @expected, and @word is in the sentence. */
static void assert_decided(becoming *become, int dumpable, uid_t uid, gid_t gid, int expected,
			   const char *word)
{
	struct child c = { 0 };
	int got;

	child_start(&c, become, dumpable);
	got = process_check_owner(c.fd, uid, gid, c.why, sizeof(c.why));
	child_end(&c);
	if (got != expected || !strstr(c.why, word))
		fail_msg("%d '%s', not %d '%s'", got, c.why, expected, word);
}

static int stay(void)
{
	return 0;
}

static int become_ids(gid_t gid, uid_t real, uid_t effective, uid_t saved)
{
	return setgroups(0, NULL) || setresgid(gid, gid, gid) || setresuid(real, effective, saved);
}

static int become_nobody(void)
{
	return become_ids(NOBODY, NOBODY, NOBODY, NOBODY);
}

static int become_nobody_by_real_id(void)
{
	return become_ids(NOBODY, NOBODY, SOMEBODY, NOBODY);
}

static int become_nobody_by_effective_id(void)
{
	return become_ids(NOBODY, SOMEBODY, NOBODY, NOBODY);
}

static int become_nobody_with_a_saved_id(void)
{
	return become_ids(NOBODY, NOBODY, NOBODY, SOMEBODY);
}

static int become_nobody_with_a_saved_group(void)
{
	return setgroups(0, NULL) || setresgid(NOBODY, NOBODY, SOMEBODY) ||
	       setresuid(NOBODY, NOBODY, NOBODY);
}

/* Inheritable ones, too: without these there are no ambient ones. */
static int keep_capabilities(unsigned mask)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	data[0].permitted = data[0].effective = data[0].inheritable = mask;
	return (int)syscall(SYS_capset, &header, data);
}

static int become_nobody_with_a_capability(void)
{
	return prctl(PR_SET_KEEPCAPS, 1) || become_nobody() || keep_capabilities(1U << CAP_NET_RAW);
}

static int become_nobody_with_an_ambient_capability(void)
{
	return become_nobody_with_a_capability() ||
	       prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0);
}

static int become_nobody_in_a_namespace(void)
{
	/* there it has all capabilities, which would be the reason */
	return become_nobody() || prctl(PR_SET_DUMPABLE, 1) || unshare(CLONE_NEWUSER) ||
	       keep_capabilities(0);
}

static void root_is_needed(void)
{
	if (geteuid()) {
		print_message("skipped: it needs root\n");
		skip();
	}
}

static void own_child_is_the_callers(void **state)
{
	(void)state;
	if (geteuid())
		assert_decided(stay, 1, geteuid(), getegid(), 0, "");
	else
		assert_decided(become_nobody, 1, NOBODY, NOBODY, 0, "");
}

static void process_of_another_user_is_not(void **state)
{
	(void)state;
	assert_decided(stay, 1, geteuid() + 1, getegid(), -EPERM, "another user");
}

static void process_of_another_group_is_not(void **state)
{
	(void)state;
	root_is_needed();
	assert_decided(become_nobody, 1, NOBODY, SOMEBODY, -EPERM, "another group");
	assert_decided(become_nobody_with_a_saved_group, 1, NOBODY, NOBODY, -EPERM,
		       "another group");
}

static void process_with_only_some_of_the_ids_is_not(void **state)
{
	(void)state;
	root_is_needed();
	assert_decided(become_nobody_by_real_id, 1, NOBODY, NOBODY, -EPERM, "another user");
	assert_decided(become_nobody_by_effective_id, 1, NOBODY, NOBODY, -EPERM, "another user");
	assert_decided(become_nobody_with_a_saved_id, 1, NOBODY, NOBODY, -EPERM, "another user");
}

static void process_that_is_not_dumpable_is_not(void **state)
{
	(void)state;
	if (geteuid())
		assert_decided(stay, 0, geteuid(), getegid(), -EPERM, "dumpable");
	else
		assert_decided(become_nobody, 0, NOBODY, NOBODY, -EPERM, "dumpable");
}

static void process_with_capabilities_is_not_unless_they_are_ambient(void **state)
{
	(void)state;
	root_is_needed();
	assert_decided(become_nobody_with_a_capability, 1, NOBODY, NOBODY, -EPERM, "capabilities");
	assert_decided(become_nobody_with_an_ambient_capability, 1, NOBODY, NOBODY, 0, "");
}

static void process_in_another_user_namespace_is_not(void **state)
{
	(void)state;
	root_is_needed();
	assert_decided(become_nobody_in_a_namespace, 1, NOBODY, NOBODY, -EPERM, "namespace");
}

static void nothing_is_decided_for_root(void **state)
{
	(void)state;
	assert_decided(stay, 1, 0, 0, -EPERM, "root");
}

static void process_that_has_ended_is_said_to_have_ended(void **state)
{
	struct child c = { 0 };
	siginfo_t ended;

	(void)state;
	child_start(&c, stay, 1);
	kill(c.pid, SIGKILL);
	/* nobody has waited for it: its entry in /proc is there still */
	assert_int_equal(waitid(P_PID, (id_t)c.pid, &ended, WEXITED | WNOWAIT), 0);
	assert_int_equal(process_check_owner(c.fd, getuid(), getgid(), c.why, sizeof(c.why)),
			 -ESRCH);
	assert_non_null(strstr(c.why, "ended"));
	waitpid(c.pid, NULL, 0);
	assert_int_equal(process_check_owner(c.fd, getuid(), getgid(), c.why, sizeof(c.why)),
			 -ESRCH);
	close(c.fd);
}

struct waiting {
	int ready[2], end[2];
};

static void *thread_wait(void *context)
{
	const struct waiting *w = context;
	pid_t tid = gettid();
	char byte;

	if (write(w->ready[1], &tid, sizeof(tid)) == sizeof(tid) && read(w->end[0], &byte, 1))
		return NULL;
	return context;
}

static void thread_is_no_process(void **state)
{
	struct waiting w;
	char why[512] = "";
	pthread_t thread;
	pid_t tid;
	int fd;

	(void)state;
	assert_int_equal(pipe2(w.ready, O_CLOEXEC) | pipe2(w.end, O_CLOEXEC), 0);
	assert_int_equal(pthread_create(&thread, NULL, thread_wait, &w), 0);
	assert_int_equal(read(w.ready[0], &tid, sizeof(tid)), sizeof(tid));
	fd = (int)syscall(SYS_pidfd_open, tid, PIDFD_THREAD);
	if (fd >= 0) { /* since Linux 6.9 */
		assert_int_equal(process_check_owner(fd, getuid(), getgid(), why, sizeof(why)),
				 -EINVAL);
		assert_non_null(strstr(why, "thread"));
		close(fd);
	}
	assert_int_equal(write(w.end[1], "", 1), 1);
	pthread_join(thread, NULL);
	for (int i = 0; i < 2; i++) {
		close(w.ready[i]);
		close(w.end[i]);
	}
}

static void other_descriptor_is_no_process(void **state)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	char why[512] = "";

	(void)state;
	assert_int_equal(process_check_owner(fd, getuid(), getgid(), why, sizeof(why)), -EBADMSG);
	assert_non_null(strstr(why, "no process"));
	close(fd);
	assert_true(process_check_owner(fd, getuid(), getgid(), why, sizeof(why)) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_child_is_the_callers),
		cmocka_unit_test(process_of_another_user_is_not),
		cmocka_unit_test(process_of_another_group_is_not),
		cmocka_unit_test(process_with_only_some_of_the_ids_is_not),
		cmocka_unit_test(process_that_is_not_dumpable_is_not),
		cmocka_unit_test(process_with_capabilities_is_not_unless_they_are_ambient),
		cmocka_unit_test(process_in_another_user_namespace_is_not),
		cmocka_unit_test(nothing_is_decided_for_root),
		cmocka_unit_test(process_that_has_ended_is_said_to_have_ended),
		cmocka_unit_test(thread_is_no_process),
		cmocka_unit_test(other_descriptor_is_no_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
