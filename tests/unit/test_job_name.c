// SPDX-License-Identifier: BSD-2-Clause
/* How the wrapper of the shell names the span of a job. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "shell/shell_words.h"
#include "shell/job_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct job_name job;

static void assert_first_word(const char *text, const char *expected)
{
	char out[SPAN_NAME_BYTES];

	first_word_copy(text, out, sizeof(out));
	assert_string_equal(out, expected);
}

static void a_recipe_is_named_after_its_program(void **state)
{
	(void)state;
	assert_first_word("cc -c a.c", "cc");
	assert_first_word("  \t/usr/bin/cc -c a.c", "cc");
	assert_first_word("\"/opt/my tools/bwa\" mem", "bwa");
	assert_first_word("'./align.sh' A7", "align.sh");
	assert_first_word("cc", "cc");
	assert_first_word("(cd a; cc b)", "cc");
	assert_first_word("bash ./align.sh A7", "align.sh");
	assert_first_word("/bin/bash ../libtool --mode=compile gcc", "libtool");
	assert_first_word("bash -c 'x'", "bash");
}

static void what_prepares_for_a_program_does_not_name_it(void **state)
{
	(void)state;
	assert_first_word("set -euo pipefail; bwa mem a | samtools sort", "bwa");
	assert_first_word("set -e\n# a comment; with words\n\n  cd src && A=1 B='x y' exec cc a",
			  "cc");
	assert_first_word("cd a \\\n && \\\n cc b", "cc");
	assert_first_word("depbase=`echo a.o | sed 's/x/y/'`; \\\ngcc -c a.c", "gcc");
	assert_first_word("x=$(a (b) \"c\") y=${z:-d e} sort", "sort");
	assert_first_word("echo '  CC  a.o'; gcc a.c", "gcc");
	assert_first_word("env -i A=1 time -p sort", "sort");
	assert_first_word("if test -e a; then sort b; fi", "sort");
	assert_first_word("cd a >/dev/null 2>&1; sort", "sort");
}

static void where_nothing_else_is_run_it_does(void **state)
{
	(void)state;
	assert_first_word("echo hello", "echo");
	assert_first_word("cd a; echo b", "cd");
}

static void a_text_without_a_program_has_no_name(void **state)
{
	(void)state;
	assert_first_word("", "");
	assert_first_word(" \n;;&&\\\n# x", "");
	assert_first_word("A=1", "");
	assert_first_word("\"\"", "");
}

/* Each is read to its end and no further, which the sanitizers check. */
static void texts_that_are_cut_off_are_read(void **state)
{
	static const char whole[] =
		"set -e; x=`a \"b\\\"`; ${y:-$(z 'q')} \\\n>&2 <a; if { bash \"/c\\\\d\" & } #e";

	(void)state;
	for (size_t n = 0; n < sizeof(whole); n++) {
		char *text = strndup(whole, n), out[8];

		first_word_copy(text, out, sizeof(out));
		assert_true(strlen(out) < sizeof(out));
		free(text);
	}
}

static void a_long_name_is_cut_between_characters(void **state)
{
	char text[1024] = "", out[SPAN_NAME_BYTES];

	(void)state;
	strcat(text, "a");
	for (int i = 0; i < 200; i++)
		strcat(text, "\xc3\xa4");
	first_word_copy(text, out, sizeof(out));
	assert_int_equal(strlen(out), 255); /* 1 + 127 * 2 */
	first_word_copy(text + 1, out, sizeof(out));
	assert_int_equal(strlen(out), 254);
}

static void bytes_that_could_steer_a_terminal_are_replaced(void **state)
{
	(void)state;
	assert_first_word("a\x1b[2Jb\xff", "a?[2Jb?");
}

/* What the arguments are, with a NULL, of which the wrapper's own are taken out. */
#define WORDS(...) ((char *[]){ "bash", __VA_ARGS__, NULL })

static void name_words(char **argv)
{
	struct shell_words w;

	shell_words_parse(&w, argv);
	job_name_find(&job, &w);
}

static void assert_words(char **argv, const char *joined)
{
	char out[256] = "";

	for (; *argv; argv++)
		strcat(strcat(out, *argv), argv[1] ? "|" : "");
	assert_string_equal(out, joined);
}

static void the_text_is_found_behind_the_options(void **state)
{
	(void)state;
	name_words(WORDS("-c", "sort a"));
	assert_string_equal(job.name, "sort");
	name_words(WORDS("-euo", "pipefail", "-c", "sort a", "x"));
	assert_string_equal(job.name, "sort");
	name_words(WORDS("-c", "-e", "--", "sort a"));
	assert_string_equal(job.name, "sort");
	name_words(WORDS("--rcfile", "x", "+O", "extglob", "-ec", "sort a"));
	assert_string_equal(job.name, "sort");
	name_words(WORDS("-"));
	assert_string_equal(job.name, "bash");
	name_words((char *[]){ "bash", NULL });
	assert_string_equal(job.name, "bash");
	name_words((char *[]){ NULL });
	assert_string_equal(job.name, "bash");
	assert_false(job.is_engines);
}

static void a_script_is_named_after_its_file(void **state)
{
	(void)state;
	name_words(WORDS("-e", "/nonexistent/run.sh", "-c", "x"));
	assert_string_equal(job.name, "run.sh");
	assert_false(job.is_engines);
}

static void a_name_that_is_given_is_taken_out(void **state)
{
	char **argv = WORDS("--span-name=a.o", "-e", "--span-tag=dir=src", "-c", "cc --span-name=x",
			    "--span-name=y");

	(void)state;
	name_words(argv);
	assert_words(argv, "bash|-e|-c|cc --span-name=x|--span-name=y");
	assert_string_equal(job.name, "a.o");
	assert_int_equal(job.nr_tags, 2);
	assert_string_equal(job.tags[0], "command=cc");
	assert_string_equal(job.tags[1], "dir=src");
	assert_true(job.is_engines);
}

/* One byte more each time: a key that leaves no room for its equals sign is no tag. */
static void a_tag_that_is_too_long_writes_no_further_than_its_room(void **state)
{
	char tag[16 + 2048] = "--span-tag=", value[1024];

	(void)state;
	memset(value, 'v', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	for (size_t n = JOB_TAG_BYTES - 4; n < JOB_TAG_BYTES + 4; n++) {
		char *key = tag + strlen("--span-tag=");

		memset(key, 'k', n);
		snprintf(key + n, sizeof(tag) - n - 11, "=%s", value);
		name_words(WORDS(tag, "-c", "date"));
		assert_string_equal(job.name, "date");
		assert_int_equal(job.nr_tags, n + 2 <= JOB_TAG_BYTES);
		if (job.nr_tags)
			assert_int_equal(strlen(job.tags[0]), JOB_TAG_BYTES - 1);
	}
}

/* make outside of a recipe: $@ is empty. */
static void an_empty_name_is_none(void **state)
{
	char **argv = WORDS("--span-name=", "--span-tag=a", "--span-tag==b", "-c", "date");

	(void)state;
	name_words(argv);
	assert_words(argv, "bash|-c|date");
	assert_string_equal(job.name, "date");
	assert_int_equal(job.nr_tags, 0);
	assert_false(job.is_engines);
}

static bool script_of(const char *text)
{
	job = (struct job_name){ 0 };
	return job_script_read(&job, text);
}

static void snakemakes_job_is_named_after_its_rule(void **state)
{
	(void)state;
	assert_true(script_of(
		"#!/bin/sh\n# properties = {\"type\": \"single\", \"rule\": \"align\", \"local\": "
		"false, "
		"\"input\": [\"{a\\\"\", [\"]\"]], \"wildcards\": {\"sample\": "
		"\"A\\u00e4\\ud83d\\ude00\\n\", "
		"\"rule\": \"x\", \"n\": 7, \"unit\": \"1=2\"}, \"params\": {}}\n\ncd /x\n"));
	assert_string_equal(job.name, "align");
	assert_int_equal(job.nr_tags, 3);
	assert_string_equal(job.tags[0], "rule=align");
	assert_string_equal(job.tags[1], "sample=A\xc3\xa4\xf0\x9f\x98\x80?");
	assert_string_equal(job.tags[2], "unit=1=2");
}

static void snakemakes_group_is_named_after_its_id(void **state)
{
	(void)state;
	assert_true(script_of("#!/bin/sh\n# properties = {\"type\": \"group\", \"groupid\": "
			      "\"g1\", \"jobid\": 3}\n"));
	assert_string_equal(job.name, "g1");
	assert_int_equal(job.nr_tags, 0);
}

static void properties_that_are_cut_off_or_wrong_are_read(void **state)
{
	static const char whole[] = "# properties = {\"a\": [1, {\"b\": \"\\\"\"}], \"rule\": "
				    "\"r\\u0041\", \"wildcards\": "
				    "{\"s\": \"\\ud83d\\ude00\", \"t\": \"\\u00\"}}\n";

	(void)state;
	for (size_t n = 0; n < sizeof(whole); n++) {
		char *text = strndup(whole, n);

		script_of(text);
		free(text);
	}
	assert_string_equal(job.name, "rA");
	assert_int_equal(job.nr_tags, 2); /* the last is wrong */
	assert_false(script_of("# properties = {\"rule\": \"\\ud8\"}\n"));
	assert_false(script_of("# properties = {\"rule\": 7}\n"));
	assert_false(script_of("# properties = }]\n"));
	assert_false(script_of("echo # properties = {\"rule\": \"a\"}\n"));
}

static void nextflows_task_is_named_after_its_process(void **state)
{
	(void)state;
	assert_true(script_of("#!/bin/bash\n### ---\n# NEXTFLOW TASK: QC:align (A7)\nset -e\n"));
	assert_string_equal(job.name, "QC:align");
	assert_int_equal(job.nr_tags, 1);
	assert_string_equal(job.tags[0], "task=QC:align (A7)");
	assert_true(script_of("# NEXTFLOW TASK: align"));
	assert_string_equal(job.name, "align");
	assert_false(script_of("# NEXTFLOW TASK: \n"));
}

static void script_write(const char *folder, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void nextflows_name_is_in_another_file_beside_the_script(void **state)
{
	char folder[] = "/tmp/bpfmon-unit-XXXXXX", script[64], run[64];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(script, sizeof(script), "%s/.command.sh", folder);
	snprintf(run, sizeof(run), "%s/.command.run", folder);
	script_write(folder, ".command.sh", "#!/bin/bash -ue\nalign A7\n");
	name_words(WORDS("-ue", script));
	assert_string_equal(job.name, ".command.sh");
	script_write(folder, ".command.run", "#!/bin/bash\n# NEXTFLOW TASK: align (A7)\n");
	name_words(WORDS("-ue", script));
	assert_string_equal(job.name, "align");
	assert_true(job.is_engines);
	unlink(script);
	unlink(run);
	rmdir(folder);
}

static void a_pipe_as_a_script_is_not_read(void **state)
{
	char path[32], byte;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	snprintf(path, sizeof(path), "/dev/fd/%d", fds[0]);
	name_words(WORDS(path));
	assert_int_equal(read(fds[0], &byte, 1), 1);
	close(fds[0]);
	close(fds[1]);
}

static void a_shell_within_a_job_is_no_job(void **state)
{
	(void)state;
	name_words(WORDS("-c", "sort"));
	assert_true(job_is_new(&job, NULL, NULL));
	assert_false(job_is_new(&job, "42 ", NULL));
	assert_false(job_is_new(&job, "42 1", "1"));
	assert_true(job_is_new(&job, "42 1", "2")); /* make, started by a recipe */
	assert_true(job_is_new(&job, "42 ", "1"));
	assert_true(job_is_new(&job, "42", NULL));
	name_words(WORDS("--span-name=a", "-c", "sort"));
	assert_true(job_is_new(&job, "42 1", "1"));
}

/* Of the arguments: how many words a text has that needs no shell; -1: it needs one. */
static int simple_words(char **argv)
{
	struct simple_command c;
	struct shell_words w;
	int nr = 0;

	shell_words_parse(&w, argv);
	if (!simple_command_read(&c, &w))
		return -1;
	while (c.words[nr])
		nr++;
	simple_command_done(&c);
	return nr;
}

static void a_plain_command_needs_no_shell(void **state)
{
	(void)state;
	assert_int_equal(simple_words(WORDS("-c", "gcc -O2 -DA=1 -c -o a.o ./src/a.c")), 7);
	assert_int_equal(simple_words(WORDS("--span-name=a", "-ec", " \tsort  a\t")), 2);
	assert_int_equal(simple_words(WORDS("-e", "-u", "-c", "a")), 1);
}

static void what_has_a_meaning_for_a_shell_needs_one(void **state)
{
	static const char meant[] = "\n\r\"'`$\\;&|<>(){}[]*?!#~^\x01\xc3";
	char text[] = "sort a_b";

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(meant); i++) {
		text[6] = meant[i];
		assert_int_equal(simple_words(WORDS("-c", text)), -1);
	}
	assert_int_equal(simple_words(WORDS("-c", "A=1 sort")), -1);
	assert_int_equal(simple_words(WORDS("-c", "%1")), -1);
	assert_int_equal(simple_words(WORDS("-c", "cd src")), -1);
	assert_int_equal(simple_words(WORDS("-c", ":")), -1);
	assert_int_equal(simple_words(WORDS("-c", "time sort")), -1);
	assert_int_equal(simple_words(WORDS("-c", "")), -1);
	assert_int_equal(simple_words(WORDS("-c", " ")), -1);
}

static void options_and_arguments_need_a_shell(void **state)
{
	(void)state;
	assert_int_equal(simple_words(WORDS("-xc", "sort")), -1);
	assert_int_equal(simple_words(WORDS("-o", "pipefail", "-c", "sort")), -1);
	assert_int_equal(simple_words(WORDS("--norc", "-c", "sort")), -1);
	assert_int_equal(simple_words(WORDS("+e", "-c", "sort")), -1);
	assert_int_equal(simple_words(WORDS("-c", "--", "sort")), -1);
	assert_int_equal(simple_words(WORDS("-c", "sort", "name")), -1);
	assert_int_equal(simple_words(WORDS("-c")), -1);
	assert_int_equal(simple_words(WORDS("sort")), -1);
	assert_int_equal(simple_words((char *[]){ "bash", NULL }), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recipe_is_named_after_its_program),
		cmocka_unit_test(what_prepares_for_a_program_does_not_name_it),
		cmocka_unit_test(where_nothing_else_is_run_it_does),
		cmocka_unit_test(a_text_without_a_program_has_no_name),
		cmocka_unit_test(texts_that_are_cut_off_are_read),
		cmocka_unit_test(a_long_name_is_cut_between_characters),
		cmocka_unit_test(bytes_that_could_steer_a_terminal_are_replaced),
		cmocka_unit_test(the_text_is_found_behind_the_options),
		cmocka_unit_test(a_script_is_named_after_its_file),
		cmocka_unit_test(a_name_that_is_given_is_taken_out),
		cmocka_unit_test(a_tag_that_is_too_long_writes_no_further_than_its_room),
		cmocka_unit_test(an_empty_name_is_none),
		cmocka_unit_test(snakemakes_job_is_named_after_its_rule),
		cmocka_unit_test(snakemakes_group_is_named_after_its_id),
		cmocka_unit_test(properties_that_are_cut_off_or_wrong_are_read),
		cmocka_unit_test(nextflows_task_is_named_after_its_process),
		cmocka_unit_test(nextflows_name_is_in_another_file_beside_the_script),
		cmocka_unit_test(a_pipe_as_a_script_is_not_read),
		cmocka_unit_test(a_shell_within_a_job_is_no_job),
		cmocka_unit_test(a_plain_command_needs_no_shell),
		cmocka_unit_test(what_has_a_meaning_for_a_shell_needs_one),
		cmocka_unit_test(options_and_arguments_need_a_shell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
