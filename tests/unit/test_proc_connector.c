// SPDX-License-Identifier: BSD-2-Clause
#include "base/proc_connector.h"

#include "base/clock.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define PATIENCE_MS 10000
#define ENDS_WITH 43

struct child {
	pid_t pid;
	bool is_born, has_ended;
	uint64_t born_ns, ended_ns;
	uint32_t status;
};

static void child_note(void *context, const struct proc_event *e, uint64_t time_ns)
{
	struct child *c = context;

	if ((unsigned)e->what == PROC_EVENT_FORK && e->event_data.fork.child_tgid == c->pid) {
		assert_int_equal(e->event_data.fork.parent_tgid, getpid());
		c->is_born = true;
		c->born_ns = time_ns;
	}
	if ((unsigned)e->what == PROC_EVENT_EXIT && e->event_data.exit.process_tgid == c->pid) {
		c->has_ended = true;
		c->ended_ns = time_ns;
		c->status = e->event_data.exit.exit_code;
	}
}

static pid_t child_run(int *status)
{
	pid_t pid = fork();

	if (!pid)
		_exit(ENDS_WITH);
	assert_int_equal(waitpid(pid, status, 0), pid);
	return pid;
}

/* Where the kernel refuses it there is nothing to be compared: the reason is all. */
static bool connector_open(struct proc_connector *c)
{
	const char *why = NULL;
	const int err = proc_connector_open(c, &why);

	assert_true(err <= 0);
	assert_int_equal(err < 0, c->fd < 0);
	assert_int_equal(err < 0, why != NULL);
	if (err)
		proc_connector_close(c);
	return !err;
}

static void birth_and_end_of_a_child_are_reported_with_its_status(void **state)
{
	const uint64_t before_ns = clock_ns(CLOCK_MONOTONIC);
	struct child child = { 0 };
	struct proc_connector c;
	int status;

	(void)state;
	if (!connector_open(&c))
		return;
	child.pid = child_run(&status);
	proc_connector_receive(&c, child_note, &child);
	assert_true(child.is_born || c.lost);
	while (!child.has_ended && !c.lost) {
		assert_true(poll(&(struct pollfd){ .fd = c.fd, .events = POLLIN }, 1, PATIENCE_MS) >
			    0);
		proc_connector_receive(&c, child_note, &child);
	}
	if (!c.lost) {
		assert_int_equal(child.status, status);
		assert_true(before_ns <= child.born_ns && child.born_ns < child.ended_ns);
		assert_true(child.ended_ns <= clock_ns(CLOCK_MONOTONIC));
	}
	proc_connector_close(&c);
	assert_int_equal(c.fd, -1);
}

static void events_that_are_ignored_count_as_lost(void **state)
{
	struct child child = { 0 };
	struct proc_connector c;
	int status;

	(void)state;
	if (!connector_open(&c))
		return;
	c.inject_misses = 500;
	for (int i = 0; i < 100; i++)
		child_run(&status);
	proc_connector_receive(&c, child_note, &child);
	assert_true(c.lost > 0);
	proc_connector_restart(&c);
	assert_int_equal(c.lost, 0);
	proc_connector_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(birth_and_end_of_a_child_are_reported_with_its_status),
		cmocka_unit_test(events_that_are_ignored_count_as_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
