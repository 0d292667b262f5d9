// SPDX-License-Identifier: BSD-2-Clause
/* Containers by name, from clients that are scripts in the only folder of PATH. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture.h"
#include "bpfmon/roles/container.h"

#include <errno.h>

#define LONG_ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define INSPECTED(id, pid, state)                                                                  \
	"echo '[{\"Id\":\"" id "\",\"State\":{\"Status\":\"" state "\",\"Pid\":" #pid "}}]'"
#define LISTED(id, pid, state) "{\"id\":\"" id "\",\"pid\":" #pid ",\"status\":\"" state "\"}"
#define LIST(items) "echo '[" items "]'"
#define NONE "echo Error: no such container >&2; exit 125"

static char *kept_path;

static int path_make(void **state)
{
	const struct place *p;

	if (place_make(state))
		return -1;
	p = *state;
	unsetenv("SUDO_UID"); /* else clients are not found in PATH */
	kept_path = strdup(getenv("PATH"));
	return setenv("PATH", p->dir, 1);
}

static int path_remove(void **state)
{
	int err = setenv("PATH", kept_path, 1);

	free(kept_path);
	return err ? err : place_remove(state);
}

/* Installs the client @name, which does @script. */
static void client_install(const struct place *p, const char *name, const char *script)
{
	char path[128], text[1024];

	snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	snprintf(text, sizeof(text), "#!/bin/sh\n%s\n", script);
	file_write(path, text);
	assert_int_equal(chmod(path, 0755), 0);
}

static int container_try(const char *name, struct container *c, char *why, size_t size)
{
	const struct user self = { .name = "self", .uid = geteuid(), .gid = getegid() };

	return container_find(name, &self, c, why, size);
}

static void assert_found(const char *name, const char *engine, const char *id, pid_t pid)
{
	struct container c = { 0 };
	char why[1024] = "";

	if (container_try(name, &c, why, sizeof(why)))
		fail_msg("%s", why);
	assert_string_equal(c.engine, engine);
	assert_string_equal(c.id, id);
	assert_int_equal(c.pid, pid);
}

static void assert_refused(const char *name, int err, const char *sentence)
{
	struct container c;
	char why[1024] = "";

	assert_int_equal(container_try(name, &c, why, sizeof(why)), err);
	assert_string_equal(why, sentence);
}

static void container_is_found_by_an_engine_that_inspects(void **state)
{
	client_install(*state, "podman", INSPECTED(LONG_ID, 4711, "running"));
	assert_found("web", "podman", LONG_ID, 4711);
}

static void client_gets_the_name_and_no_more(void **state)
{
	client_install(*state, "docker",
		       "[ \"$*\" = 'container inspect -- a b' ] && " INSPECTED("x", 5, "running"));
	assert_found("a b", "docker", "x", 5);
}

static void paused_container_is_found(void **state)
{
	client_install(*state, "nerdctl", INSPECTED("x", 5, "paused"));
	assert_found("x", "nerdctl", "x", 5);
}

static void list_is_searched_for_the_whole_id(void **state)
{
	client_install(*state, "runc",
		       LIST(LISTED("box2", 6, "running") "," LISTED("box", 5, "running") "," LISTED(
			       "box3", 7, "running")));
	assert_found("box", "runc", "box", 5);
}

static void list_is_searched_for_the_beginning_of_an_id(void **state)
{
	client_install(*state, "crun",
		       LIST(LISTED("abc", 6, "running") "," LISTED("abd", 5, "running")));
	assert_found("abd", "crun", "abd", 5);
	assert_found("crun:abc", "crun", "abc", 6);
}

static void beginning_of_several_ids_is_refused(void **state)
{
	client_install(*state, "crun",
		       LIST(LISTED("abc", 6, "running") "," LISTED("abd", 5, "running")));
	assert_refused("ab", -ENOTUNIQ, "several containers of crun match the name or ID 'ab'");
}

static void empty_lists_have_no_container(void **state)
{
	client_install(*state, "runc", "echo null");
	client_install(*state, "crun", "echo '[]'");
	assert_refused("x", -ENOENT, "no container 'x' in runc or crun");
}

static void every_namespace_of_containerd_is_searched(void **state)
{
	client_install(
		*state, "ctr",
		"case $* in 'namespaces ls -q') echo default; echo k8s.io ;;\n"
		"'-n default tasks ls') echo 'TASK PID STATUS'; echo 'other 4 RUNNING' ;;\n"
		"'-n k8s.io tasks ls') echo 'TASK PID STATUS'; echo 'deadbeef 5 RUNNING' ;;\n"
		"*) exit 1; esac");
	assert_found("dead", "containerd", "deadbeef", 5);
}

static void same_container_in_two_engines_belongs_to_the_upper_one(void **state)
{
	client_install(*state, "docker", INSPECTED(LONG_ID, 5, "running"));
	client_install(*state, "runc", LIST(LISTED(LONG_ID, 5, "running")));
	assert_found("0123", "docker", LONG_ID, 5);
}

static void name_in_two_engines_needs_the_engine(void **state)
{
	client_install(*state, "podman", INSPECTED(LONG_ID, 4, "running"));
	client_install(*state, "crun", LIST(LISTED("web", 5, "running")));
	assert_refused("web", -ENOTUNIQ,
		       "'web' is a container of podman and of crun: use podman:web or crun:web");
	assert_found("crun:web", "crun", "web", 5);
	assert_found("podman:web", "podman", LONG_ID, 4);
}

static void unknown_name_is_reported_with_the_engines_asked(void **state)
{
	client_install(*state, "podman", NONE);
	client_install(*state, "docker", "echo []; " NONE);
	client_install(*state, "nerdctl",
		       "echo 'level=fatal msg=\"no such object: x\"' >&2; exit 1");
	assert_refused("x", -ENOENT, "no container 'x' in podman, docker or nerdctl");
	assert_refused("docker:x", -ENOENT, "no container 'x' in docker");
}

static void stopped_container_is_reported(void **state)
{
	client_install(*state, "podman", INSPECTED(LONG_ID, 0, "exited"));
	assert_refused("web", -ESRCH, "the container 'web' of podman is not running (exited)");
}

static void failing_client_is_quoted(void **state)
{
	client_install(*state, "docker", "echo; echo hint >&2; echo 'Cannot connect' >&2; exit 1");
	assert_refused("x", -EIO, "cannot query docker: Cannot connect");
	client_install(*state, "runc", "echo null");
	assert_refused("x", -ENOENT,
		       "no container 'x' in runc; cannot query docker: Cannot connect");
}

static void failing_client_is_ignored_if_another_has_it(void **state)
{
	client_install(*state, "docker", "exit 1");
	client_install(*state, "runc", LIST(LISTED("x", 5, "running")));
	assert_found("x", "runc", "x", 5);
}

static void client_that_fails_silently_is_reported_with_its_status(void **state)
{
	client_install(*state, "ctr", "exit 3");
	assert_refused("x", -EIO, "cannot query containerd: ctr ended with 3");
}

static void invalid_answers_are_reported(void **state)
{
	static const char *const answers[] = {
		"echo",
		"echo '{}'",
		"echo '[{\"Id\":\"x\"}]'",
		INSPECTED("x", -1, "running"),
		INSPECTED("x", 5000000000, "running"),
		"echo '[{\"Id\":'",
	};

	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		client_install(*state, "podman", answers[i]);
		assert_refused("x", -EIO, "cannot query podman: invalid answer");
	}
	client_install(*state, "podman", NONE);
	client_install(*state, "runc", "echo '[{}]'");
	assert_refused("runc:x", -EIO, "cannot query runc: invalid answer");
}

static void no_engine_at_all_is_reported(void **state)
{
	(void)state;
	assert_refused("x", -ENOPKG, "no container engine is installed, or none is in PATH");
	assert_refused("runc:x", -ENOPKG, "runc is not installed, or not in PATH");
}

static void an_option_is_no_name(void **state)
{
	client_install(*state, "podman", INSPECTED(LONG_ID, 5, "running"));
	assert_refused("-l", -EINVAL, "'-l' is not a valid container name");
	assert_refused("podman:--latest", -EINVAL, "'--latest' is not a valid container name");
	assert_refused("", -EINVAL, "'' is not a valid container name");
	assert_refused("lxc:web", -EINVAL, "'lxc:web' is not a valid container name");
}

static void sentence_that_is_too_long_is_cut(void **state)
{
	struct container c;
	char why[24];

	(void)state;
	assert_int_equal(container_try("a-name-that-is-too-long", &c, why, sizeof(why)), -ENOPKG);
	assert_string_equal(why, "no container engine is ");
}

#define PATH_TEST(test) cmocka_unit_test_setup_teardown(test, path_make, path_remove)

static void client_in_path_of_the_caller_of_sudo_is_not_executed_as_root(void **state)
{
	const struct user self = { .name = "self", .uid = geteuid(), .gid = getegid() };
	const struct place *p = *state;
	char script[256], marker[128], why[1024] = "";
	struct container c;

	if (geteuid()) {
		print_message("skipped: it needs root\n");
		skip();
	}
	snprintf(marker, sizeof(marker), "%s/executed", p->dir);
	snprintf(script, sizeof(script), "touch %s; " INSPECTED("x", 5, "running"), marker);
	client_install(p, "nerdctl", script);
	assert_int_equal(setenv("SUDO_UID", "65534", 1), 0);
	assert_int_not_equal(container_find("nerdctl:x", &self, &c, why, sizeof(why)), 0);
	unsetenv("SUDO_UID");
	assert_int_equal(access(marker, F_OK), -1);
	assert_found("nerdctl:x", "nerdctl", "x", 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PATH_TEST(container_is_found_by_an_engine_that_inspects),
		PATH_TEST(client_gets_the_name_and_no_more),
		PATH_TEST(paused_container_is_found),
		PATH_TEST(list_is_searched_for_the_whole_id),
		PATH_TEST(list_is_searched_for_the_beginning_of_an_id),
		PATH_TEST(beginning_of_several_ids_is_refused),
		PATH_TEST(empty_lists_have_no_container),
		PATH_TEST(every_namespace_of_containerd_is_searched),
		PATH_TEST(same_container_in_two_engines_belongs_to_the_upper_one),
		PATH_TEST(name_in_two_engines_needs_the_engine),
		PATH_TEST(unknown_name_is_reported_with_the_engines_asked),
		PATH_TEST(stopped_container_is_reported),
		PATH_TEST(failing_client_is_quoted),
		PATH_TEST(failing_client_is_ignored_if_another_has_it),
		PATH_TEST(client_that_fails_silently_is_reported_with_its_status),
		PATH_TEST(invalid_answers_are_reported),
		PATH_TEST(no_engine_at_all_is_reported),
		PATH_TEST(an_option_is_no_name),
		PATH_TEST(sentence_that_is_too_long_is_cut),
		PATH_TEST(client_in_path_of_the_caller_of_sudo_is_not_executed_as_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
