// SPDX-License-Identifier: BSD-2-Clause
/* Lists of the jobs of a node: their ids, the names that people gave to them, their tables. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "fixture.h"
#include "run/job_id.h"
#include "store/job_title.h"
#include "store/node_jobs.h"
#include "store/node_store.h"
#include "text/format.h"
#include "text/jobs_text.h"
#include "text/runs_text.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER_HASH "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define POD "11111111-2222-3333-4444-555555555555"
#define POD_OF_SYSTEMD "11111111_2222_3333_4444_555555555555"
#define OTHER_POD "11111111-2222-3333-4444-666666666666"
#define STATIC_POD "11111111222233334444555555555555" /* the UID of one from a file */

static void a_container_has_12_digits_of_its_id(void **state)
{
	char id[JOB_ID_BYTES], few[12];

	(void)state;
	assert_string_equal(job_id_format(id, sizeof(id), "container/1000/" HASH),
			    "container/1000/0123456789ab");
	assert_string_equal(job_id_format(id, sizeof(id), "container/" HASH "/payload"),
			    "container/0123456789ab/payload");
	assert_string_equal(job_id_format(id, sizeof(id), "slurm/8\033[2J"), "slurm/8?[2J");
	assert_string_equal(job_id_format(few, sizeof(few), "service/nginx.service"),
			    "service/ngi");
}

static void a_job_is_found_by_its_id_as_in_lists(void **state)
{
	char pattern[JOB_ID_BYTES];

	(void)state;
	assert_true(job_id_is("container/" HASH, "container/0123456789ab"));
	assert_true(job_id_is("container/" HASH, "container/" HASH));
	assert_false(job_id_is("container/" HASH, "container/0123456789a"));
	assert_string_equal(job_id_pattern(pattern, sizeof(pattern), "container/0123456789ab"),
			    "container/0123456789ab*");
	assert_null(job_id_pattern(pattern, sizeof(pattern), "slurm/815"));
}

static void place_folders(const struct place *p, const char *path)
{
	char command[512];

	snprintf(command, sizeof(command), "mkdir -p '%s/%s'", p->dir, path);
	assert_int_equal(system(command), 0);
}

static void assert_title(const struct place *p, const char *id, const char *cgroup,
			 const char *wanted)
{
	struct job_titles t;
	struct job_title title;

	job_titles_open(&t, p->dir, true);
	job_title_find(&t, id, cgroup, &title);
	if (wanted)
		assert_string_equal(title.text, wanted);
	else
		assert_null(title.text);
	job_title_done(&title);
	job_titles_done(&t);
}

#define STORAGE "var/lib/containers/storage/overlay-containers"
#define DOCKER "var/lib/docker/containers/" HASH

static void containers_have_the_names_of_their_engines(void **state)
{
	const struct place *p = *state;

	place_folders(p, STORAGE);
	place_folders(p, DOCKER);
	assert_title(p, "container/" HASH, NULL, NULL);
	place_put(p, DOCKER "/config.v2.json", "{\"Name\":\"/shop\"}");
	assert_title(p, "container/" HASH, NULL, "shop");
	place_put(p, STORAGE "/containers.json",
		  "[{\"id\":\"" HASH "\",\"names\":[\"we\\u001bb\"]}]");
	place_put(p, STORAGE "/volatile-containers.json",
		  "[{\"id\":\"" OTHER_HASH "\",\"names\":[\"brief\"]},{\"id\":3},7]");
	assert_title(p, "container/1000/" HASH, NULL, "we?b");
	assert_title(p, "container/" OTHER_HASH, NULL, "brief");
	assert_title(p, "service/nginx.service", "/system.slice/nginx.service", NULL);
}

static void pods_have_the_names_of_their_logs(void **state)
{
	const struct place *p = *state;

	place_folders(p, "var/log/pods/default_web-7d4b9_" POD);
	place_folders(p, "var/log/pods/nothing_");
	place_folders(p, "var/log/containers");
	place_put(p, "var/log/containers/web-7d4b9_default_nginx-" HASH ".log", "");
	place_put(p, "var/log/containers/a-b", "");
	assert_title(p, "pod/" POD, NULL, "default/web-7d4b9");
	assert_title(p, "pod/" POD_OF_SYSTEMD, NULL, "default/web-7d4b9");
	assert_title(p, "container/" HASH, NULL, "default/web-7d4b9/nginx");
	assert_title(p, "container/" OTHER_HASH, NULL, NULL);
	assert_title(p, "container/" OTHER_HASH, "/kubepods/pod" POD "/" OTHER_HASH,
		     "default/web-7d4b9/-");
	assert_title(p, "container/" OTHER_HASH, "/kubepods/pod" OTHER_POD "/" OTHER_HASH, NULL);
}

static void a_container_has_labels_of_its_pod(void **state)
{
	const struct place *p = *state;
	struct job_titles t;
	struct job_title title;

	place_folders(p, "var/log/pods/lab_align-node1_" STATIC_POD "/main");
	place_folders(p, "var/log/containers");
	place_put(p, "var/log/containers/align-node1_lab_main-" HASH ".log", "");
	job_titles_open(&t, p->dir, true);
	job_title_find(&t, "container/" HASH, "/kubepods/pod" STATIC_POD "/" HASH, &title);
	assert_string_equal(title.names.namespace, "lab");
	assert_string_equal(title.names.pod, "align-node1");
	assert_string_equal(title.names.container, "main");
	job_title_done(&title);
	job_title_find(&t, "pod/" STATIC_POD, NULL, &title);
	assert_string_equal(title.names.pod, "align-node1");
	assert_null(title.names.container);
	job_title_done(&title);
	job_title_find(&t, "service/" STATIC_POD, NULL, &title);
	assert_null(title.names.pod);
	job_titles_done(&t);
}

/* Makes the link of the kubelet for a container @hash: its name is cut to 255 bytes. */
static void put_cut_link(const struct place *p, const char *pod, const char *container,
			 const char *hash)
{
	char name[1024], target[1024], at[4096];

	snprintf(name, sizeof(name), "%s_lab_%s-%s", pod, container, hash);
	snprintf(at, sizeof(at), "%s/var/log/containers/%.251s.log", p->dir, name);
	snprintf(target, sizeof(target), "/var/log/pods/lab_%s_" POD "/%s/0.log", pod, container);
	assert_int_equal(symlink(target, at), 0);
}

static void names_that_the_kubelet_has_cut_lead_to_the_container(void **state)
{
	const struct place *p = *state;
	static const char id[] = "container/" HASH, other[] = "container/" OTHER_HASH;
	static const char cgroup[] = "/kubepods/pod" POD "/" HASH;
	char pod[200], first[64], second[64], folder[300], wanted[512];

	memset(pod, 'p', sizeof(pod));
	memset(first, 'a', sizeof(first));
	memset(second, 'b', sizeof(second));
	pod[120] = first[62] = second[62] = '\0';
	snprintf(folder, sizeof(folder), "var/log/pods/lab_%s_" POD, pod);
	place_folders(p, folder);
	place_folders(p, "var/log/containers");
	put_cut_link(p, pod, first, OTHER_HASH);
	put_cut_link(p, pod, second, HASH);
	snprintf(wanted, sizeof(wanted), "lab/%s/%s", pod, second);
	assert_title(p, id, cgroup, wanted);
	snprintf(wanted, sizeof(wanted), "lab/%s/%s", pod, first);
	assert_title(p, other, cgroup, wanted);
	assert_title(p, other, NULL, NULL);
	/* of this one no digit of the id is left */
	memset(pod, 'q', sizeof(pod));
	pod[190] = '\0';
	put_cut_link(p, pod, "c", HASH);
	assert_title(p, other, cgroup, wanted);
}

#define assert_title_of_environment(p, environment, wanted)                                        \
	do {                                                                                       \
		environment_put(p, environment, sizeof(environment));                              \
		assert_title(p, "slurm/815", "/slurm/uid_1/job_815", wanted);                      \
	} while (0)

static void environment_put(const struct place *p, const char *text, size_t size)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/42/environ", p->dir);
	f = fopen(path, "we");
	assert_non_null(f);
	fwrite(text, 1, size, f);
	fclose(f);
}

static void a_slurm_job_has_the_name_in_its_environment(void **state)
{
	const struct place *p = *state;

	place_folders(p, "sys/fs/cgroup/slurm/uid_1/job_815/step_0/user");
	place_folders(p, "proc/42");
	place_put(p, "sys/fs/cgroup/slurm/uid_1/job_815/cgroup.procs", "");
	place_put(p, "sys/fs/cgroup/slurm/uid_1/job_815/step_0/user/cgroup.procs", "41\n42\n");
	assert_title(p, "slurm/815", "/slurm/uid_1/job_815", NULL);
	assert_title_of_environment(p, "HOME=/\0SLURM_JOB_NAME=align A7\0PATH=/bin", "align A7");
	assert_title(p, "slurm-step/815.0", "/slurm/uid_1/job_815/step_0", "align A7");
	assert_title(p, "slurm/815", NULL, NULL);
	assert_title_of_environment(
		p, "SLURM_ARRAY_TASK_ID=3\0SLURM_JOB_NAME=x\0SLURM_ARRAY_JOB_ID=12", "12_3 x");
	assert_title_of_environment(
		p,
		"SLURM_JOB_ID_HET_GROUP_1=815\0SLURM_JOB_NAME=x\0SLURM_JOB_ID=12\0"
		"SLURM_JOB_ID_HET_GROUP_0=12",
		"12+1 x");
	assert_title_of_environment(p, "SLURM_ARRAY_JOB_ID=12\0SLURM_JOB_NAME=x", "x");
	assert_title_of_environment(p, "SLURM_ARRAY_TASK_ID=3\0SLURM_ARRAY_JOB_ID=12", NULL);
}

static struct node_job_row job_row(char *id, char *user, char *title)
{
	struct node_job_row r = { .run = (char *)"r",
				  .id = id,
				  .name = (char *)"own",
				  .user = user,
				  .title = title,
				  .start_epoch_ns = START_NS };

	r.value[M_cores] = 1250;
	metric_put(&r.have, M_cores);
	return r;
}

static void assert_jobs(struct node_job_row *all, size_t nr, size_t width, const char *wanted)
{
	const struct node_job_rows rows = { .all = all, .nr = nr };
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	node_jobs_table(f, &rows, START_NS + 2000000000, width);
	fclose(f);
	assert_string_equal(text, wanted);
	free(text);
}

static void jobs_have_their_user_name_and_state(void **state)
{
	struct node_job_row all[] = {
		job_row((char *)"container/" HASH, NULL, (char *)"web"),
		job_row((char *)"slurm/815", (char *)"a-user-of-a-long-name", NULL),
		job_row((char *)"run", (char *)"ada", NULL),
	};

	(void)state;
	all[1].stall.is_stalled = true;
	assert_jobs(
		all, 3, TEXT_UNCUT,
		"JOB                     STATE    USER                   NAME  CORES  CPU  RSS  "
		"PROCESSES   SINCE\n"
		"container/0123456789ab  running  -                      web    1.25    -    -  "
		"        -  2.00 s\n"
		"slurm/815               stalled  a-user-of-a-long-name  -      1.25    -    -  "
		"        -  2.00 s\n"
		"run                     running  ada                    own    1.25    -    -  "
		"        -  2.00 s\n");
}

static void jobs_show_limits_beside_use_where_one_has_a_limit(void **state)
{
	struct node_job_row all[] = {
		job_row((char *)"pod/1", NULL, (char *)"lab/web"),
		job_row((char *)"node", NULL, NULL),
	};

	(void)state;
	all[0].cpu_request_milli = 250;
	all[0].cpu_max_milli = 1500;
	all[0].memory_max_bytes = 64 << 20;
	assert_jobs(all, 2, TEXT_UNCUT,
		    "JOB    STATE    USER  NAME     CORES  CPU-REQ  CPU-MAX  CPU  RSS   MEM-MAX  "
		    "PROCESSES   SINCE\n"
		    "pod/1  running  -     lab/web   1.25     0.25     1.50    -    -  64.0 MiB  "
		    "        -  2.00 s\n"
		    "node   running  -     -         1.25        -        -    -    -         -  "
		    "        -  2.00 s\n");
}

static void job_hold_gpus(struct node_job_row *r, uint64_t held, uint64_t used_milli, uint64_t idle)
{
	r->value[M_gpus_held] = held;
	r->value[M_gpus_used] = used_milli;
	r->value[M_gpus_idle] = idle;
	metric_put(&r->have, M_gpus_held);
	metric_put(&r->have, M_gpus_used);
	metric_put(&r->have, M_gpus_idle);
}

static void gpus_are_shown_as_used_of_held_where_a_job_holds_one(void **state)
{
	struct node_job_row all[] = {
		job_row((char *)"slurm/1", (char *)"ada", NULL),
		job_row((char *)"slurm/2", (char *)"ada", NULL),
		job_row((char *)"slurm/3", (char *)"ada", NULL),
	};

	(void)state;
	job_hold_gpus(&all[0], 2, 1429, 0);
	all[0].value[M_gpu_memory] = 37ULL << 30;
	metric_put(&all[0].have, M_gpu_memory);
	job_hold_gpus(&all[1], 2, 0, 2);
	job_hold_gpus(&all[2], 0, 0, 0);
	assert_jobs(all, 3, TEXT_UNCUT,
		    "JOB      STATE    USER  CORES  CPU  RSS               GPUS   GPU-MEM  "
		    "PROCESSES   SINCE\n"
		    "slurm/1  running  ada    1.25    -    -          1.42 of 2  37.0 GiB  "
		    "        -  2.00 s\n"
		    "slurm/2  running  ada    1.25    -    -  0.00 of 2, 2 idle         -  "
		    "        -  2.00 s\n"
		    "slurm/3  running  ada    1.25    -    -                  -         -  "
		    "        -  2.00 s\n");
}

static void a_gpu_whose_use_is_not_known_is_held(void **state)
{
	struct node_job_row r = job_row((char *)"slurm/1", (char *)"ada", NULL);
	char text[JOB_GPUS_BYTES];

	(void)state;
	r.value[M_gpus_held] = 1;
	metric_put(&r.have, M_gpus_held);
	assert_string_equal(job_gpus_format(text, &r), "? of 1");
}

static int take(struct node_job_rows *rows, const char *line)
{
	bool is_last = false;

	return node_jobs_take(rows, line, strlen(line), &is_last);
}

#define JOB_LINE(name, id)                                                                         \
	"{\"kind\":\"meta\",\"run\":\"a\",\"start_time\":1," name "\"node_job\":{" id              \
	"\"name\":\"815\"}}"

static void job_that_is_described_again_stays_one_row(void **state)
{
	struct node_job_rows rows = { 0 };

	(void)state;
	assert_int_equal(take(&rows, JOB_LINE("\"name\":\"815\",", "\"id\":\"slurm/815\",")), 0);
	assert_null(rows.all[0].title);
	assert_int_equal(take(&rows, "{\"kind\":\"sample\",\"run\":\"a\",\"elapsed_seconds\":1,"
				     "\"rss_bytes\":7}"),
			 0);
	assert_int_equal(take(&rows, JOB_LINE("\"name\":\"align\",", "\"id\":\"slurm/815\",")), 0);
	assert_int_equal(rows.nr, 1);
	assert_string_equal(rows.all[0].title, "align");
	assert_string_equal(rows.all[0].name, "815");
	assert_int_equal(rows.all[0].value[M_rss], 7);
	assert_int_equal(take(&rows, JOB_LINE("", "")), -EBADMSG);
	assert_int_equal(rows.nr, 0);
	node_jobs_done(&rows);
}

static void ids_of_jobs_are_cut_in_a_narrow_terminal_only(void **state)
{
	struct node_job_row one =
		job_row((char *)"app/1000/app-of-the-desktop@1.service", (char *)"ada", NULL);

	(void)state;
	assert_jobs(&one, 1, TEXT_UNCUT,
		    "JOB                                    STATE    USER  CORES  CPU  RSS  "
		    "PROCESSES   SINCE\n"
		    "app/1000/app-of-the-desktop@1.service  running  ada    1.25    -    -  "
		    "        -  2.00 s\n");
	assert_jobs(
		&one, 1, 80,
		"JOB                            STATE    USER  CORES  CPU  RSS  PROCESSES   "
		"SINCE\n"
		"app/1000/app-...top@1.service  running  ada    1.25    -    -          -  2.00 s"
		"\n");
}

static void a_user_without_jobs_reads_so(void **state)
{
	const struct node_job_rows rows = { .notices = (char *)"note: x\n" };
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	(void)state;
	node_jobs_none(f, &rows, "ada");
	fclose(f);
	assert_string_equal(text, "no jobs of ada now\nnote: x\n");
	free(text);
}

static struct stored_run listed(int64_t id, const char *job, const char *name)
{
	return (struct stored_run){ .id = id,
				    .uuid = strdup("u"),
				    .job = job ? strdup(job) : NULL,
				    .name = name ? strdup(name) : NULL,
				    .command = strdup("attached"),
				    .user = strdup("ada"),
				    .tags = calloc(1, 1),
				    .state = RUN_FINISHED,
				    .start_epoch_ns = START_NS,
				    .wall_ns = 2000000000,
				    .cpu_ns = 1000000000,
				    .exit_code = -1,
				    .signal = -1,
				    .rss_peak_bytes = 4096 };
}

static struct stored_runs listed_runs(void)
{
	struct stored_run runs[] = {
		listed(9, "node", "the whole node"),
		listed(8, "container/" HASH, "0123456789ab"),
		listed(7, "other", "rest"),
		listed(6, "slurm/816", "816"),
		listed(5, NULL, "align"),
		listed(4, "node", "the whole node"),
		listed(3, "other", "rest"),
	};
	struct stored_runs all = { 0 };

	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++)
		assert_int_equal(stored_runs_append(&all, &runs[i]), 0);
	return all;
}

static void the_node_has_one_row_across_restarts_and_jobs_their_ids(void **state)
{
	const struct place *p = *state;
	static const char *const sources[] = { "" };
	const struct run_columns of_node = { .of_node = true };
	struct stored_runs all = listed_runs();
	struct job_titles t;
	char *text = NULL;
	size_t length;
	FILE *f;

	place_folders(p, DOCKER);
	place_put(p, DOCKER "/config.v2.json", "{\"Name\":\"/shop\"}");
	setenv("TZ", "UTC", 1);
	tzset();
	job_titles_open(&t, p->dir, true);
	assert_int_equal(node_runs_fold(&all), 2);
	assert_int_equal(all.nr, 5);
	job_titles_set(&t, &all);
	f = open_memstream(&text, &length);
	runs_table(f, &all, all.nr, sources, &of_node, TEXT_UNCUT);
	fclose(f);
	assert_string_equal(text, "id  started               state    wall     CPU       memory  "
				  "user  name            "
				  "job\n"
				  " 9  2025-11-21 01:53 UTC  ended  2.00 s  1.00 s  RSS 4.0 KiB  "
				  "ada   the whole node  "
				  "node\n"
				  " 8  2025-11-21 01:53 UTC  ended  2.00 s  1.00 s  RSS 4.0 KiB  "
				  "ada   shop            "
				  "container/0123456789ab\n"
				  " 7  2025-11-21 01:53 UTC  ended  2.00 s  1.00 s  RSS 4.0 KiB  "
				  "ada   rest            "
				  "other\n"
				  " 6  2025-11-21 01:53 UTC  ended  2.00 s  1.00 s  RSS 4.0 KiB  "
				  "ada   -               "
				  "slurm/816\n"
				  " 5  2025-11-21 01:53 UTC  ended  2.00 s  1.00 s  RSS 4.0 KiB  "
				  "ada   align           "
				  "-\n");
	free(text);
	f = open_memstream(&text, &length);
	runs_table(f, &all, 2, sources, &of_node, 60);
	fclose(f);
	assert_string_equal(text, "id  state  user  name            job\n"
				  " 9  ended  ada   the whole node  node\n"
				  " 8  ended  ada   shop            container/0123456789ab\n"
				  "2 of 5 runs; --limit 0 shows all\n");
	free(text);
	stored_runs_done(&all);
	job_titles_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_container_has_12_digits_of_its_id),
		cmocka_unit_test(a_job_is_found_by_its_id_as_in_lists),
		PLACE_TEST(containers_have_the_names_of_their_engines),
		PLACE_TEST(pods_have_the_names_of_their_logs),
		PLACE_TEST(a_container_has_labels_of_its_pod),
		PLACE_TEST(names_that_the_kubelet_has_cut_lead_to_the_container),
		cmocka_unit_test(gpus_are_shown_as_used_of_held_where_a_job_holds_one),
		cmocka_unit_test(a_gpu_whose_use_is_not_known_is_held),
		cmocka_unit_test(jobs_show_limits_beside_use_where_one_has_a_limit),
		PLACE_TEST(a_slurm_job_has_the_name_in_its_environment),
		cmocka_unit_test(jobs_have_their_user_name_and_state),
		cmocka_unit_test(job_that_is_described_again_stays_one_row),
		cmocka_unit_test(ids_of_jobs_are_cut_in_a_narrow_terminal_only),
		cmocka_unit_test(a_user_without_jobs_reads_so),
		PLACE_TEST(the_node_has_one_row_across_restarts_and_jobs_their_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
