// SPDX-License-Identifier: BSD-2-Clause
/* What the collector makes of a request with its descriptors, and of those that are none. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/fd.h"
#include "bpfmon/roles/collector.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct desk {
	int control[2], stream[2]; /* the first is ours, the other one the collector's */
	struct request request;
	struct collector_options options;
	struct collector collector;
	char why[512];
};

static int desk_make(void **state)
{
	struct desk *d = calloc(1, sizeof(*d));
	struct request *r = &d->request;

	*state = d;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, d->control) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, d->stream))
		return -1;
	d->options = (struct collector_options){ .control_fd = d->control[1], .max_tasks = 77 };
	request_init(r);
	r->interval_ns = 1000000000;
	r->stream_fd = d->stream[1];
	r->pid_fds[0] = pidfd_make(getpid());
	r->nr_pids = 1;
	return 0;
}

static int desk_clear(void **state)
{
	struct desk *d = *state;

	assignment_done(&d->collector.tenant.assignment);
	message_done(&d->collector.message);
	if (d->collector.tenant.assignment.spec.stream_fd > 0)
		close(d->collector.tenant.assignment.spec.stream_fd);
	close(d->control[0]);
	close(d->control[1]);
	close(d->stream[0]);
	close(d->stream[1]);
	close(d->request.pid_fds[0]);
	free(d);
	return 0;
}

static int receive(struct desk *d)
{
	struct jsonw j = { 0 };
	int fds[REQUEST_FDS];
	size_t nr = request_fds(&d->request, fds);

	request_write(&j, &d->request);
	assert_int_equal(message_send(d->control[0], CONTROL_REQUEST, j.text, j.used, fds, nr, 0),
			 0);
	jsonw_done(&j);
	return collector_receive(&d->collector, &d->options, d->why, sizeof(d->why));
}

static void assert_says(const struct desk *d, const char *because)
{
	if (!strstr(d->why, because))
		fail_msg("'%s' instead of '%s'", d->why, because);
}

static size_t open_descriptors(void)
{
	size_t nr = 0;

	for (int fd = 0; fd < 256; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

static void command_is_the_process_that_came(void **state)
{
	struct desk *d = *state;

	metric_put(&d->request.wanted, M_rss);
	d->request.wait_tree = true;
	assert_int_equal(receive(d), 0);
	assert_int_equal(d->collector.tenant.assignment.spec.command, getpid());
	assert_int_equal(d->collector.tenant.assignment.spec.nr_targets, 0);
	assert_true(d->collector.tenant.assignment.spec.wait_tree);
	assert_false(d->collector.tenant.assignment.spec.tracker.can_seed);
	assert_int_equal(d->collector.tenant.assignment.run.interval_ns, 1000000000);
	assert_true(metric_has(&d->collector.tenant.assignment.spec.tracker.wanted, M_rss));
	assert_null(d->collector.tenant.assignment.spec.intake);
}

static void machine_is_not_the_request_s(void **state)
{
	struct desk *d = *state;

	d->options.inject_misses = 1;
	assert_int_equal(receive(d), 0);
	assert_int_equal(d->collector.tenant.assignment.spec.tracker.max_tasks, 77);
	assert_true(d->collector.tenant.assignment.run.is_altered);
	assert_true(d->collector.tenant.assignment.run.cpus > 0 &&
		    d->collector.tenant.assignment.run.memory_bytes > 0);
	assert_int_equal(strlen(d->collector.tenant.assignment.run.id), 36);
}

static void only_sockets_stay_open(void **state)
{
	struct desk *d = *state;
	size_t before = open_descriptors();

	d->request.follow = FOLLOW_PROCESSES;
	assert_int_equal(receive(d), 0);
	assert_int_equal(open_descriptors(), before + 1);
	assert_int_equal(write(d->collector.tenant.assignment.spec.stream_fd, "x", 1), 1);
}

static void process_that_has_ended_cannot_be_followed(void **state)
{
	struct desk *d = *state;
	pid_t child = fork();

	if (!child)
		_exit(0);
	close(d->request.pid_fds[0]);
	d->request.pid_fds[0] = pidfd_make(child);
	waitpid(child, NULL, 0);
	assert_int_equal(receive(d), -ESRCH);
	assert_says(d, "has just ended");
}

static void one_of_several_that_has_ended_is_left_out(void **state)
{
	struct desk *d = *state;
	pid_t child = fork();

	if (!child)
		_exit(0);
	d->request.follow = FOLLOW_PROCESSES;
	d->request.pid_fds[1] = pidfd_make(child);
	d->request.nr_pids = 2;
	waitpid(child, NULL, 0);
	assert_int_equal(receive(d), 0);
	close(d->request.pid_fds[1]);
	assert_int_equal(d->collector.tenant.assignment.spec.nr_targets, 1);
	assert_int_equal(d->collector.tenant.assignment.spec.targets[0], getpid());
}

static void file_is_no_process(void **state)
{
	struct desk *d = *state;

	close(d->request.pid_fds[0]);
	d->request.pid_fds[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(receive(d), -EBADMSG);
	assert_says(d, "cannot access a process");
}

static void file_is_no_stream(void **state)
{
	struct desk *d = *state;

	d->request.stream_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	assert_int_equal(receive(d), -ENOTSOCK);
	close(d->request.stream_fd);
}

static void folder_of_anything_is_no_cgroup(void **state)
{
	struct desk *d = *state;

	d->request.follow = FOLLOW_CGROUP;
	close(d->request.pid_fds[0]);
	d->request.pid_fds[0] = -1;
	d->request.nr_pids = 0;
	d->request.cgroup_fd = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(receive(d), -ENOENT);
	assert_says(d, "cgroup");
	close(d->request.cgroup_fd);
}

static void launcher_that_is_gone_is_an_error(void **state)
{
	struct desk *d = *state;

	shutdown(d->control[0], SHUT_WR);
	assert_int_equal(collector_receive(&d->collector, &d->options, d->why, sizeof(d->why)),
			 -EPROTO);
	assert_says(d, "has exited");
}

static void another_message_is_no_request(void **state)
{
	struct desk *d = *state;

	assert_int_equal(control_send(d->control[0], CONTROL_START, 0, 0, NULL), 0);
	assert_int_equal(collector_receive(&d->collector, &d->options, d->why, sizeof(d->why)),
			 -EPROTO);
}

static void request_longer_than_any_is_refused(void **state)
{
	static char text[REQUEST_BYTES + 1];
	struct desk *d = *state;

	memset(text, ' ', sizeof(text));
	message_send(d->control[0], CONTROL_REQUEST, text, sizeof(text), NULL, 0, 0);
	assert_int_equal(collector_receive(&d->collector, &d->options, d->why, sizeof(d->why)),
			 -EMSGSIZE);
}

static void send_description(struct desk *d, const char *text)
{
	assert_int_equal(
		message_send(d->control[0], CONTROL_DESCRIPTION, text, strlen(text), NULL, 0, 0),
		0);
}

static void description_comes_before_the_start(void **state)
{
	struct desk *d = *state;
	uint64_t when_ns;

	assert_int_equal(receive(d), 0);
	send_description(d, "{\"kind\":\"description\",\"name\":\"n\"}");
	control_send(d->control[0], CONTROL_START, 0, 123, NULL);
	assert_true(collector_wait_for_start(&d->collector, &when_ns));
	assert_int_equal(when_ns, 123);
	assert_true(d->collector.tenant.assignment.is_described);
	assert_string_equal(d->collector.tenant.assignment.run.name, "n");
}

static void start_without_a_description_is_a_start(void **state)
{
	struct desk *d = *state;
	uint64_t when_ns;

	assert_int_equal(receive(d), 0);
	send_description(d, "{\"kind\":\"description\",\"name\":1}");
	control_send(d->control[0], CONTROL_START, 0, 123, NULL);
	assert_true(collector_wait_for_start(&d->collector, &when_ns));
	assert_false(d->collector.tenant.assignment.is_described);
}

static void second_description_is_not_taken(void **state)
{
	struct desk *d = *state;
	uint64_t when_ns;

	assert_int_equal(receive(d), 0);
	send_description(d, "{\"kind\":\"description\",\"name\":\"n\"}");
	send_description(d, "{\"kind\":\"description\",\"name\":\"other\"}");
	control_send(d->control[0], CONTROL_START, 0, 123, NULL);
	assert_true(collector_wait_for_start(&d->collector, &when_ns));
	assert_string_equal(d->collector.tenant.assignment.run.name, "n");
}

#define DESK_TEST(test) cmocka_unit_test_setup_teardown(test, desk_make, desk_clear)

int main(void)
{
	const struct CMUnitTest tests[] = {
		DESK_TEST(command_is_the_process_that_came),
		DESK_TEST(machine_is_not_the_request_s),
		DESK_TEST(only_sockets_stay_open),
		DESK_TEST(process_that_has_ended_cannot_be_followed),
		DESK_TEST(one_of_several_that_has_ended_is_left_out),
		DESK_TEST(file_is_no_process),
		DESK_TEST(file_is_no_stream),
		DESK_TEST(folder_of_anything_is_no_cgroup),
		DESK_TEST(launcher_that_is_gone_is_an_error),
		DESK_TEST(another_message_is_no_request),
		DESK_TEST(request_longer_than_any_is_refused),
		DESK_TEST(description_comes_before_the_start),
		DESK_TEST(start_without_a_description_is_a_start),
		DESK_TEST(second_description_is_not_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
