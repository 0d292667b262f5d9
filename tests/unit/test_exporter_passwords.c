// SPDX-License-Identifier: BSD-2-Clause
/* Who may read the endpoint: the file of passwords. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture.h"
#include "exporter/passwords.h"

#include <errno.h>

/* SHA-512 of "secret" */
#define ADA                                                                                        \
	"ada:$6$saltsalt$TVLlQcbpFVof5W3Yz4DTP6gRstiNuHwwTt6GLc"                                   \
	"1E5n0U0aDehy0S5knV8wiOQSpT0Y77vwPZN.Pq.H91p5hVO1\n"

static void only_sound_hashes_are_read(void **state)
{
	static const char *const bad[] = {
		"",        "ada\n",        ":x\n",
		"ada:\n",  "ada:secret\n", "ada:$1$salt$0123456789012345678901\n",
		"ada:!\n", "ada:*\n",      "# only a comment\n",
	};
	const struct place *p = *state;
	struct passwords read;
	char why[512];

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		file_write(p->path, bad[i]);
		assert_int_equal(chmod(p->path, 0600), 0);
		assert_int_equal(passwords_read(&read, p->path, why, sizeof(why)), -EBADMSG);
		assert_non_null(strstr(why, p->path));
		assert_null(strstr(why, "secret"));
		passwords_done(&read);
	}
	file_write(p->path, "# users\n\n" ADA);
	assert_int_equal(chmod(p->path, 0644), 0); /* others could guess at it */
	assert_int_equal(passwords_read(&read, p->path, why, sizeof(why)), -EPERM);
	assert_int_equal(chmod(p->path, 0600), 0);
	assert_int_equal(passwords_read(&read, p->path, why, sizeof(why)), 0);
	assert_int_equal(read.nr, 1);
	assert_true(passwords_check(&read, "ada", "secret"));
	assert_false(passwords_check(&read, "ada", "Secret"));
	assert_false(passwords_check(&read, "ada", ""));
	assert_false(passwords_check(&read, "eve", "secret"));
	assert_false(passwords_check(&read, "", ""));
	passwords_done(&read);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(only_sound_hashes_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
