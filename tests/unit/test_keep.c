// SPDX-License-Identifier: BSD-2-Clause
/* What comes through a pipe is kept up to a bound. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static FILE *pipe_of(const char *command)
{
	FILE *f = popen(command, "re");

	assert_non_null(f);
	return f;
}

static void as_much_as_the_bound_is_kept(void **state)
{
	FILE *f = pipe_of("head -c 100000 /dev/zero");
	struct stat st;

	(void)state;
	assert_int_equal(source_copy_pipe(&f, 100000), 0);
	assert_int_equal(fstat(fileno(f), &st), 0);
	assert_int_equal(st.st_size, 100000);
	assert_int_equal(st.st_nlink, 0);
	assert_int_equal(fseek(f, 0, SEEK_SET), 0);
	fclose(f);
}

static void a_byte_more_is_refused(void **state)
{
	FILE *f = pipe_of("head -c 100001 /dev/zero");

	(void)state;
	assert_int_equal(source_copy_pipe(&f, 100000), -EFBIG);
	assert_null(f);
}

static void what_never_ends_is_refused(void **state)
{
	FILE *f = pipe_of("exec cat /dev/zero");

	(void)state;
	assert_int_equal(source_copy_pipe(&f, 1 << 20), -EFBIG);
	assert_null(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_much_as_the_bound_is_kept),
		cmocka_unit_test(a_byte_more_is_refused),
		cmocka_unit_test(what_never_ends_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
