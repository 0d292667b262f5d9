// SPDX-License-Identifier: BSD-2-Clause
/* Where the configuration is about safety: addresses that others reach, secrets, its owner. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "config/user_files.h"
#include "config_fixture.h"

#include <ftw.h>
#include <limits.h>
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

/* Reads the file, and releases what was read before. */
static int file_read(const char *path)
{
	config_done(&config);
	return config_read(path, &config, why, sizeof(why));
}

static void the_file_must_be_roots_if_root_reads_it(void **state)
{
	char path[32], expected[128];

	(void)state;
	secret_write(path, "[agent]\ninterval = 3s\n", 0644);
	assert_int_equal(file_read(path), 0);
	assert_int_equal(config.interval_ns, 3000000000);
	assert_string_equal(config.path, path);
	if (!geteuid()) {
		assert_int_equal(chmod(path, 0664), 0);
		assert_int_equal(file_read(path), -EPERM);
		snprintf(expected, sizeof(expected),
			 "users other than root can write to it; run: chmod go-w %s", path);
		assert_non_null(strstr(why, expected));
		assert_int_equal(chmod(path, 0644), 0);
		assert_int_equal(chown(path, 65534, (gid_t)-1), 0);
		assert_int_equal(file_read(path), -EPERM);
		snprintf(expected, sizeof(expected), "its owner is not root; run: chown root %s",
			 path);
		assert_non_null(strstr(why, expected));
	}
	unlink(path);
	assert_int_equal(file_read(path), -ENOENT);
	assert_int_equal(file_read("/tmp"), -EPERM);
}

static void file_write(const char *folder, const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0644), 0);
}

/* A new folder with a.conf and the empty folder a.conf.d; to be removed by folder_remove(). */
static void folder_make(char folder[64], char config_path[64], char dropins[64])
{
	strcpy(folder, "/tmp/bpfmon-unit-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(config_path, 64, "%.40s/a.conf", folder);
	snprintf(dropins, 64, "%.40s/a.conf.d", folder);
	assert_int_equal(mkdir(dropins, 0755), 0);
	file_write(folder, "a.conf",
		   "[agent]\ninterval = 1s\nstalled_after = 1s\nmax_tasks = 1\n"
		   "[rule m]\nkind = k\npattern = /m\n");
}

static int entry_remove(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

static void folder_remove(const char *folder)
{
	assert_int_equal(nftw(folder, entry_remove, 4, FTW_DEPTH | FTW_PHYS), 0);
}

static void drop_ins_are_read_in_the_order_of_their_names(void **state)
{
	char folder[64], path[64], dropins[64], expected[128];

	(void)state;
	folder_make(folder, path, dropins);
	file_write(dropins, "20-b.conf", "[agent]\ninterval = 20s\n[limits]\nclients = 7\n");
	file_write(dropins, "100-a.conf",
		   "[agent]\ninterval = 10s\nmax_tasks = 2\n"
		   "[rule z]\nkind = k\npattern = /z\n");
	file_write(dropins, "30.conf", "[rule a]\nkind = k\npattern = /a\n");
	file_write(dropins, ".40.conf", "nonsense\n");
	file_write(dropins, "50.conf~", "nonsense\n");
	file_write(dropins, "README", "nonsense\n");
	assert_int_equal(file_read(path), 0);
	assert_int_equal(config.interval_ns, 20000000000);
	assert_int_equal(config.stalled_after_ns, 1000000000);
	assert_int_equal(config.max_tasks, 2);
	assert_int_equal(config.clients, 7);
	assert_int_equal(config.nr_rules, 3);
	assert_string_equal(config.rules[0].name, "m");
	assert_string_equal(config.rules[1].name, "z");
	assert_string_equal(config.rules[2].name, "a");
	assert_string_equal(config.path, path);
	assert_int_equal(config.nr_files, 4);
	snprintf(expected, sizeof(expected), "%s/100-a.conf", dropins);
	assert_string_equal(config.files[config.rules[1].file], expected);
	assert_int_equal(config.rules[1].line, 4);
	folder_remove(folder);
}

/* The folder has these drop-ins, the last of which is refused. */
static void assert_dropin_refused(const char *first, const char *second, const char *reason)
{
	char folder[64], path[64], dropins[64], expected[CONFIG_WHY_BYTES];

	folder_make(folder, path, dropins);
	file_write(dropins, "1.conf", first);
	file_write(dropins, "2.conf", second);
	assert_int_equal(file_read(path), -EINVAL);
	snprintf(expected, sizeof(expected), reason, dropins, path);
	assert_string_equal(why, expected);
	assert_null(config.files);
	folder_remove(folder);
}

static void a_wrong_drop_in_is_refused_with_its_line(void **state)
{
	(void)state;
	assert_dropin_refused("", "\n[agent]\nintervall = 1\n",
			      "%s/2.conf:3: [agent] has no key intervall; did you mean interval?");
	assert_dropin_refused("[agent]\n", "interval = 1s\n",
			      "%s/2.conf:1: key outside a section; add [agent] above it");
	assert_dropin_refused("", "[rule m]\n",
			      "%s/2.conf:1: duplicate [rule m], first defined in %s:5; rename one "
			      "of them");
	assert_dropin_refused(
		"[rule r]\nkind = k\n", "",
		"%s/1.conf:1: [rule r] has no pattern; a rule needs kind and pattern");
	assert_dropin_refused("[exporter]\nkey =\n", "[exporter]\ncertificate = /c\n",
			      "%2$s: [exporter] has certificate without key; set both for HTTPS, "
			      "or neither for HTTP");
}

static void drop_ins_must_be_roots_if_root_reads_them(void **state)
{
	char folder[64], path[64], dropins[64], file[80], expected[256];

	(void)state;
	folder_make(folder, path, dropins);
	file_write(dropins, "1.conf", "[agent]\ninterval = 3s\n");
	snprintf(file, sizeof(file), "%s/1.conf", dropins);
	if (!geteuid()) {
		assert_int_equal(chmod(file, 0664), 0);
		assert_int_equal(file_read(path), -EPERM);
		snprintf(expected, sizeof(expected), "refusing to read %s: users other", file);
		assert_non_null(strstr(why, expected));
		assert_int_equal(chmod(file, 0644), 0);
		assert_int_equal(chown(dropins, 65534, (gid_t)-1), 0);
		assert_int_equal(file_read(path), -EPERM);
		snprintf(expected, sizeof(expected),
			 "refusing to read %s: its owner is not root; run: chown root %s", dropins,
			 dropins);
		assert_string_equal(why, expected);
		assert_int_equal(chown(dropins, 0, (gid_t)-1), 0);
	}
	assert_int_equal(unlink(file), 0);
	assert_int_equal(mkdir(file, 0755), 0);
	assert_int_equal(file_read(path), -EPERM);
	assert_non_null(strstr(why, "it is not a regular file"));
	folder_remove(folder);
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
		TEST(drop_ins_are_read_in_the_order_of_their_names),
		TEST(a_wrong_drop_in_is_refused_with_its_line),
		TEST(drop_ins_must_be_roots_if_root_reads_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
