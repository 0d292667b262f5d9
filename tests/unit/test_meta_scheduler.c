// SPDX-License-Identifier: BSD-2-Clause
/* Which variables are kept, which never; and that the document names each of them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "run/meta.h"
#include "fixture.h"

#define DOCUMENT "docs/RUNS.md"

/* Until the next call. */
static const struct meta *read_with(bool no_args)
{
	static struct meta m;

	m.nr_variables = 0;
	scheduler_read(no_args, &m);
	return &m;
}

static const char *value(const struct meta *m, const char *name)
{
	for (size_t i = 0; i < m->nr_variables; i++)
		if (!strcmp(m->variables[i].name, name))
			return m->variables[i].value;
	return NULL;
}

static int clean(void **state)
{
	(void)state;
	return clearenv();
}

static void listed_variables_are_kept(void **state)
{
	const struct meta *m;

	(void)state;
	setenv("SLURM_JOB_ID", "4711", 1);
	setenv("OMP_NUM_THREADS", "8", 1);
	m = read_with(false);
	assert_int_equal(m->nr_variables, 2);
	assert_string_equal(value(m, "SLURM_JOB_ID"), "4711");
	assert_string_equal(value(m, "OMP_NUM_THREADS"), "8");
}

static void others_never_are(void **state)
{
	(void)state;
	setenv("AWS_SECRET_ACCESS_KEY", "hunter2", 1);
	setenv("SLURM_JWT", "hunter2", 1);
	setenv("CI_JOB_TOKEN", "hunter2", 1);
	setenv("GITHUB_TOKEN", "hunter2", 1);
	setenv("JENKINS_URL", "https://u:hunter2@j", 1);
	setenv("SLURM_JOB_ID_X", "hunter2", 1);
	assert_int_equal(read_with(false)->nr_variables, 0);
}

static void an_empty_one_is_not_there(void **state)
{
	(void)state;
	setenv("SLURM_JOB_ID", "", 1);
	assert_int_equal(read_with(false)->nr_variables, 0);
	assert_null(scheduler_job_id());
}

static void a_name_that_others_use_needs_its_companion(void **state)
{
	const struct meta *m;

	(void)state;
	setenv("JOB_ID", "77", 1);
	setenv("BUILD_ID", "5", 1);
	setenv("HOSTNAME", "pod-1", 1);
	assert_int_equal(read_with(false)->nr_variables, 0);
	assert_null(scheduler_job_id());
	setenv("SGE_TASK_ID", "1", 1);
	setenv("JENKINS_URL", "x", 1);
	setenv("KUBERNETES_SERVICE_HOST", "x", 1);
	m = read_with(false);
	assert_int_equal(m->nr_variables, 4);
	assert_string_equal(value(m, "JOB_ID"), "77");
	assert_string_equal(scheduler_job_id(), "77");
}

static void a_job_has_the_id_of_the_innermost_scheduler(void **state)
{
	static const char *const outermost_first[][2] = {
		{ "BUILD_TAG", "jenkins-align-7" },
		{ "CI_JOB_ID", "2000" },
		{ "GITHUB_RUN_ID", "1000" },
		{ "FLUX_JOB_ID", "fUdKSFCzEes" },
		{ "LSB_JOBID", "9" },
		{ "PBS_JOBID", "12.server" },
		{ "SLURM_JOB_ID", "815" },
	};

	(void)state;
	setenv("JENKINS_URL", "x", 1);
	for (size_t i = 0; i < sizeof(outermost_first) / sizeof(*outermost_first); i++) {
		setenv(outermost_first[i][0], outermost_first[i][1], 1);
		assert_string_equal(scheduler_job_id(), outermost_first[i][1]);
		assert_string_equal(value(read_with(false), outermost_first[i][0]),
				    outermost_first[i][1]);
	}
}

static void names_of_jobs_are_left_out_with_the_arguments(void **state)
{
	const struct meta *m;

	(void)state;
	setenv("LSB_JOBID", "9", 1);
	setenv("LSB_JOBNAME", "mysql --password=hunter2", 1);
	setenv("SLURM_JOB_NAME", "align hunter2", 1);
	assert_int_equal(read_with(false)->nr_variables, 3);
	m = read_with(true);
	assert_int_equal(m->nr_variables, 1);
	assert_string_equal(value(m, "LSB_JOBID"), "9");
}

static void a_long_value_is_cut(void **state)
{
	static char text[100001];
	const struct meta *m;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	setenv("PBS_JOBID", text, 1);
	m = read_with(false);
	assert_int_equal(strlen(value(m, "PBS_JOBID")), VARIABLE_BYTES);
	assert_null(scheduler_job_id());
}

static void a_value_is_not_cut_within_a_character(void **state)
{
	char text[VARIABLE_BYTES + 8];
	const struct meta *m;

	(void)state;
	memset(text, 'x', VARIABLE_BYTES - 1);
	strcpy(text + VARIABLE_BYTES - 1, "\xc3\xa9y");
	setenv("PBS_QUEUE", text, 1);
	m = read_with(false);
	assert_int_equal(strlen(value(m, "PBS_QUEUE")), VARIABLE_BYTES - 1);
}

static void a_later_rank_of_a_node_is_noticed(void **state)
{
	static const char *const names[] = { "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK",
					     "PMI_LOCAL_RANK" };

	(void)state;
	assert_null(scheduler_later_rank());
	for (size_t i = 0; i < 3; i++) {
		setenv(names[i], "0", 1);
		assert_null(scheduler_later_rank());
		setenv(names[i], "12", 1);
		assert_string_equal(scheduler_later_rank(), names[i]);
		setenv(names[i], "x", 1);
		assert_null(scheduler_later_rank());
		unsetenv(names[i]);
	}
}

static void all_at_once_have_room(void **state)
{
	(void)state;
	for (size_t i = 0; i < scheduler_nr_rows(); i++) {
		setenv(scheduler_row(i)->name, "1", 1);
		if (scheduler_row(i)->only_with)
			setenv(scheduler_row(i)->only_with, "1", 1);
	}
	assert_int_equal(read_with(false)->nr_variables, scheduler_nr_rows());
}

static void the_document_lists_exactly_these(void **state)
{
	char *text = file_read(DOCUMENT), *list, *end, word[64];
	size_t listed = 0;

	(void)state;
	assert_non_null(text);
	list = strstr(text, "<!-- variables begin -->");
	assert_non_null(list);
	end = strstr(list, "<!-- variables end -->");
	assert_non_null(end);
	*end = '\0';
	for (const char *c = list; (c = strchr(c, '`')); c++)
		listed++;
	assert_int_equal(listed, 2 * scheduler_nr_rows());
	for (size_t i = 0; i < scheduler_nr_rows(); i++) {
		snprintf(word, sizeof(word), "`%s`", scheduler_row(i)->name);
		assert_non_null(strstr(list, word));
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(listed_variables_are_kept, clean),
		cmocka_unit_test_setup(others_never_are, clean),
		cmocka_unit_test_setup(an_empty_one_is_not_there, clean),
		cmocka_unit_test_setup(a_name_that_others_use_needs_its_companion, clean),
		cmocka_unit_test_setup(a_job_has_the_id_of_the_innermost_scheduler, clean),
		cmocka_unit_test_setup(names_of_jobs_are_left_out_with_the_arguments, clean),
		cmocka_unit_test_setup(a_long_value_is_cut, clean),
		cmocka_unit_test_setup(a_value_is_not_cut_within_a_character, clean),
		cmocka_unit_test_setup(a_later_rank_of_a_node_is_noticed, clean),
		cmocka_unit_test_setup(all_at_once_have_room, clean),
		cmocka_unit_test(the_document_lists_exactly_these),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
