/* SPDX-License-Identifier: BSD-2-Clause */
/* Command lines as a test gives them, and what bpfmon says to them. */
#ifndef TESTS_UNIT_OPTIONS_FIXTURE_H
#define TESTS_UNIT_OPTIONS_FIXTURE_H

#include "bpfmon/recording_options.h"
#include "bpfmon/subcommands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SAID_BYTES 512

static inline int forget_environment(void **state)
{
	(void)state;
	return clearenv() || setenv("BPFMON_NO_CONFIG", "1", 1);
}

/* What was said on stderr goes to @said. */
static inline int parse_line(struct run_options *o, char **argv, char said[SAID_BYTES])
{
	int fd = memfd_create("stderr", MFD_CLOEXEC), saved = dup(STDERR_FILENO), argc = 0, err;

	while (argv[argc])
		argc++;
	dup2(fd, STDERR_FILENO);
	err = subcommand_run.parse(o, argc, argv);
	dup2(saved, STDERR_FILENO);
	memset(said, 0, SAID_BYTES);
	assert_in_range(pread(fd, said, SAID_BYTES - 1, 0), 0, SAID_BYTES);
	close(saved);
	close(fd);
	return err;
}

static inline void assert_line_with(const char *said, const char *part)
{
	if (!strstr(said, part))
		fail_msg("no %s in %s", part, said);
	assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
	assert_memory_equal(said, "bpfmon: ", 8);
}

static inline void parse_well(struct run_options *o, char **argv)
{
	char said[SAID_BYTES];

	assert_int_equal(parse_line(o, argv, said), 0);
	assert_string_equal(said, "");
}

/* One line is said, which has @part. */
static inline void parse_badly(const char *part, char **argv)
{
	char said[SAID_BYTES];
	struct run_options o;

	assert_int_equal(parse_line(&o, argv, said), -EINVAL);
	assert_line_with(said, part);
}

/* A command line lives as long as the block it is written in. */
#define assert_parsed(o, ...) parse_well(o, (char *[]){ "bpfmon", __VA_ARGS__, NULL })
#define assert_refused(part, ...) parse_badly(part, (char *[]){ "bpfmon", __VA_ARGS__, NULL })

#define OPTIONS_TEST(test) cmocka_unit_test_setup(test, forget_environment)

#endif
