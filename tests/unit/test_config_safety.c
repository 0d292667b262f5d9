// SPDX-License-Identifier: BSD-2-Clause
/* Where the configuration is about safety: addresses that others reach, secrets, its owner. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "config/user_files.h"
#include "config_fixture.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void assert_address(const char *text, const char *reason)
{
	char file[512], expected[512];

	snprintf(file, sizeof(file), "[exporter]\nlisten = %s\n", text);
	if (!reason) {
		assert_read(file);
		return;
	}
	snprintf(expected, sizeof(expected), "a.conf%s%s%s",
		 *reason == '*' ? ":2: listen = " : ": ", *reason == '*' ? text : "",
		 *reason == '*' ? ": expected ADDRESS:PORT with a numeric address, as in "
				  "127.0.0.1:9433 or [::1]:9433, or nothing"
				: reason);
	assert_refused(file, expected);
}

static void an_address_is_a_number_with_a_port(void **state)
{
	static const char *const wrong[] = { "9433",          ":9433",           "127.0.0.1",
					     "127.0.0.1:0",   "127.0.0.1:65536", "::1:9433",
					     "[127.0.0.1]:1", "example.org:80",  "[::1]",
					     "]:1",           "127.0.0.1:+1",    "[]:1" };

	(void)state;
	assert_address("127.0.0.1:1", NULL);
	assert_address("127.9.9.9:65535", NULL);
	assert_address("localhost:9433", NULL);
	assert_address("[::1]:9433", NULL);
	assert_int_equal(config.listen.address.ss_family, AF_INET6);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_address(wrong[i], "*");
}

/* A new file with this mode and text; to be removed. */
static void secret_write(char path[32], const char *text, mode_t mode)
{
	int fd;

	strcpy(path, "/tmp/bpfmon-unit-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void other_machines_are_served_only_with_certificate_and_password(void **state)
{
	static const char unsafe[] =
		"[exporter] listens on 0.0.0.0:9433, which other machines can reach, but %s not "
		"set; set certificate, key and password_file, or listen on 127.0.0.1";
	char reason[256], secret[32], text[256];

	(void)state;
	secret_write(secret, "a:b\n", 0600);
	snprintf(reason, sizeof(reason), unsafe, "certificate and password_file are");
	assert_address("0.0.0.0:9433", reason);
	snprintf(reason, sizeof(reason), unsafe, "certificate is");
	snprintf(text, sizeof(text), "0.0.0.0:9433\npassword_file = %s", secret);
	assert_address(text, reason);
	snprintf(reason, sizeof(reason), unsafe, "password_file is");
	snprintf(text, sizeof(text), "0.0.0.0:9433\ncertificate=/c.pem\nkey = %s", secret);
	assert_address(text, reason);
	snprintf(text, sizeof(text), "[::]:9433\ncertificate=/c.pem\nkey=%s\npassword_file=%s",
		 secret, secret);
	assert_address(text, NULL);
	assert_false(config.listen.is_loopback);
	assert_address(
		"127.0.0.1:1\ncertificate=/c.pem",
		"[exporter] has certificate without key; set both for HTTPS, or neither for HTTP");
	unlink(secret);
}

static void a_secret_that_others_can_read_is_refused(void **state)
{
	char secret[32], text[128], expected[256], out[8];

	(void)state;
	secret_write(secret, "a:b\nmore\n", 0604);
	snprintf(text, sizeof(text), "[exporter]\npassword_file = %s\n", secret);
	snprintf(expected, sizeof(expected),
		 "a.conf:2: password_file = %s: refusing to use %s as a secret: other users can "
		 "access it; run: chmod o= %s",
		 secret, secret, secret);
	assert_int_equal(bytes_parse(text, strlen(text)), -EPERM);
	assert_string_equal(why, expected);
	assert_int_equal(chmod(secret, 0620), 0);
	assert_int_equal(secret_open(secret, why, sizeof(why)), -EPERM);
	assert_int_equal(chmod(secret, 0640), 0);
	assert_int_equal(secret_read(secret, out, sizeof(out), why, sizeof(why)), 0);
	assert_string_equal(out, "a:b");
	assert_int_equal(secret_read(secret, out, 3, why, sizeof(why)), -EINVAL);
	assert_int_equal(secret_open("/dev/null", why, sizeof(why)), -EPERM);
	if (!geteuid()) {
		assert_int_equal(chown(secret, 65534, (gid_t)-1), 0);
		assert_int_equal(secret_open(secret, why, sizeof(why)), -EPERM);
	}
	unlink(secret);
	assert_int_equal(secret_open(secret, why, sizeof(why)), -ENOENT);
	assert_int_equal(bytes_parse(text, strlen(text)), -ENOENT);
}

static void secrets_are_one_line(void **state)
{
	char secret[32], out[8];

	(void)state;
	secret_write(secret, "1234567", 0600);
	assert_int_equal(secret_read(secret, out, sizeof(out), why, sizeof(why)), 0);
	assert_string_equal(out, "1234567");
	unlink(secret);
	secret_write(secret, "12345678\n", 0600);
	assert_int_equal(secret_read(secret, out, sizeof(out), why, sizeof(why)), -EINVAL);
	unlink(secret);
	secret_write(secret, "\n", 0600);
	assert_int_equal(secret_read(secret, out, sizeof(out), why, sizeof(why)), -EINVAL);
	unlink(secret);
	secret_write(secret, "ab\r\n", 0600);
	assert_int_equal(secret_read(secret, out, sizeof(out), why, sizeof(why)), 0);
	assert_string_equal(out, "ab");
	unlink(secret);
}

static void the_file_must_be_roots_if_root_reads_it(void **state)
{
	char path[32], expected[128];

	(void)state;
	secret_write(path, "[agent]\ninterval = 3s\n", 0644);
	assert_int_equal(config_read(path, &config, why, sizeof(why)), 0);
	assert_int_equal(config.interval_ns, 3000000000);
	assert_string_equal(config.path, path);
	if (!geteuid()) {
		assert_int_equal(chmod(path, 0664), 0);
		assert_int_equal(config_read(path, &config, why, sizeof(why)), -EPERM);
		snprintf(expected, sizeof(expected),
			 "users other than root can write to it; run: chmod go-w %s", path);
		assert_non_null(strstr(why, expected));
		assert_int_equal(chmod(path, 0644), 0);
		assert_int_equal(chown(path, 65534, (gid_t)-1), 0);
		assert_int_equal(config_read(path, &config, why, sizeof(why)), -EPERM);
		snprintf(expected, sizeof(expected), "its owner is not root; run: chown root %s",
			 path);
		assert_non_null(strstr(why, expected));
	}
	unlink(path);
	assert_int_equal(config_read(path, &config, why, sizeof(why)), -ENOENT);
	assert_int_equal(config_read("/tmp", &config, why, sizeof(why)), -EPERM);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, config_release)
	const struct CMUnitTest tests[] = {
		TEST(an_address_is_a_number_with_a_port),
		TEST(other_machines_are_served_only_with_certificate_and_password),
		TEST(a_secret_that_others_can_read_is_refused),
		TEST(secrets_are_one_line),
		TEST(the_file_must_be_roots_if_root_reads_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
