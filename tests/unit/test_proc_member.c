// SPDX-License-Identifier: BSD-2-Clause
#include "measure/proc_member.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define FAR_PID 0x7fffff00 /* above any that a kernel gives */

static struct proc_budget budget;

static pid_t sleeper_start(void)
{
	pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	return pid;
}

static void sleeper_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void children_count(void *context, pid_t child)
{
	(void)child;
	++*(int *)context;
}

static void files_are_kept_open_up_to_a_limit(void **state)
{
	struct proc_files f;
	unsigned nr_open = 0;
	char text[PROC_TEXT_BYTES];

	(void)state;
	proc_files_init(&f, getpid());
	assert_true(proc_files_read(&f, PROC_STAT, &nr_open, 1, text, sizeof(text)) > 0);
	assert_true(proc_files_read(&f, PROC_STATUS, &nr_open, 1, text, sizeof(text)) > 0);
	assert_int_equal(nr_open, 1);
	assert_true(f.fd[PROC_STAT] >= 0);
	assert_int_equal(f.fd[PROC_STATUS], -1);
	proc_files_done(&f, &nr_open);
	assert_int_equal(nr_open, 0);
}

static void list_of_children_may_be_longer_than_a_text(void **state)
{
	enum { CHILDREN = 900 };
	static pid_t pids[CHILDREN];
	struct proc_files f;
	unsigned nr_open = 0;
	int found = 0;

	(void)state;
	for (int i = 0; i < CHILDREN; i++)
		pids[i] = sleeper_start();
	proc_files_init(&f, getpid());
	assert_int_equal(proc_files_children(&f, &nr_open, 8, children_count, &found), 0);
	proc_files_done(&f, &nr_open);
	for (int i = 0; i < CHILDREN; i++)
		sleeper_end(pids[i]);
	assert_int_equal(found, CHILDREN);
}

/* Before pause() it may sleep in what the C library does in a new process. */
static bool sleeper_pauses(pid_t pid)
{
	char path[64];
	FILE *f;
	long number = -1;
	int got;

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	f = fopen(path, "re");
	assert_non_null(f);
	got = fscanf(f, "%ld", &number); /* or the word "running" */
	fclose(f);
#ifdef SYS_pause
	if (got == 1 && number == SYS_pause)
		return true;
#endif
	return got == 1 && (number == SYS_ppoll || number == SYS_rt_sigsuspend);
}

static void process_that_does_not_run_has_not_changed(void **state)
{
	pid_t pid = sleeper_start();
	struct proc_member *m = proc_member_new(pid);
	siginfo_t ended;

	(void)state;
	budget.most = 8;
	do {
		usleep(1000);
		assert_int_equal(proc_member_look(m, LOOK_WHOLE, &budget), 0);
	} while (m->stat.state != 'S' || !sleeper_pauses(pid));
	assert_int_equal(proc_member_look(m, LOOK_WHOLE, &budget), 0);
	assert_true(m->is_changed && m->status.is_read);
	assert_int_equal(m->stat.parent, getpid());
	assert_int_equal(proc_member_look(m, LOOK_QUICK, &budget), 0);
	assert_false(m->is_changed);
	assert_int_equal(proc_member_look(m, LOOK_WHOLE, &budget), 0);
	assert_true(m->is_changed);
	kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT);
	assert_int_equal(proc_member_look(m, LOOK_QUICK, &budget), 0);
	assert_int_equal(m->stat.state, 'Z');
	waitpid(pid, NULL, 0);
	assert_int_equal(proc_member_look(m, LOOK_QUICK, &budget), -ESRCH);
	proc_member_free(m, &budget);
	assert_int_equal(budget.nr_open, 0);
}

static void member_put(struct proc_members *t, pid_t pid, uint64_t serial, uint64_t look)
{
	struct proc_member *m = proc_member_new(pid);

	m->rec.serial = serial;
	m->look = look;
	assert_true(proc_members_add(t, m));
}

static void member_count(void *context, struct proc_member *m)
{
	++*(int *)context;
	proc_member_free(m, &budget);
}

static void members_are_found_by_pid_and_by_serial(void **state)
{
	struct proc_members t = { 0 };
	int ended = 0;

	(void)state;
	assert_null(proc_members_find(&t, FAR_PID));
	for (int i = 0; i < 200; i++)
		member_put(&t, FAR_PID + i, 10 + 2 * (uint64_t)i, i % 2 ? 1 : 2);
	assert_int_equal(proc_members_find(&t, FAR_PID + 77)->rec.serial, 10 + 2 * 77);
	assert_int_equal(proc_members_find_serial(&t, 10 + 2 * 77)->files.pid, FAR_PID + 77);
	assert_null(proc_members_find_serial(&t, 11));
	member_put(&t, FAR_PID + 77, 1000, 2); /* the PID is another's */
	assert_int_equal(proc_members_find(&t, FAR_PID + 77)->rec.serial, 1000);
	proc_members_sweep(&t, 2, member_count, &ended);
	assert_int_equal(ended, 100);
	assert_int_equal(t.nr, 101);
	assert_null(proc_members_find(&t, FAR_PID + 1));
	assert_int_equal(proc_members_find(&t, FAR_PID + 77)->rec.serial, 1000);
	assert_int_equal(proc_members_find_serial(&t, 10)->files.pid, FAR_PID);
	proc_members_done(&t, &budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_kept_open_up_to_a_limit),
		cmocka_unit_test(list_of_children_may_be_longer_than_a_text),
		cmocka_unit_test(process_that_does_not_run_has_not_changed),
		cmocka_unit_test(members_are_found_by_pid_and_by_serial),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
