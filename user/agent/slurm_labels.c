// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the paths of Slurm's cgroups lack. Root's prolog or plugin writes a file for each job, named
 * by its number and by its SLUID; without one, the title of slurmstepd has the number and the
 * processes of the job have its user.
 */
#include "agent/node.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/stack.h"
#include "base/text.h"
#include "run/meta.h"

#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES 4096
#define NUMBER_BYTES 24
#define STEP_BYTES 64   /* of .0, .batch */
#define SLUID_LENGTH 14 /* s and 13 digits of base 32 */

void slurm_labels_open(struct slurm_source *s, const char *socket)
{
	const char *end = strrchr(socket, '/');

	*s = (struct slurm_source){ 0 };
	if (end)
		snprintf(s->folder, sizeof(s->folder), "%.*s/slurm", (int)(end - socket), socket);
}

/* Users have to be able to change neither the file nor its folder. */
static bool slurm_is_roots(int fd, mode_t type)
{
	struct stat st;

	return !fstat(fd, &st) && (st.st_mode & S_IFMT) == type && !st.st_uid &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* Reads the file of the job whose number or SLUID is @key. */
static bool slurm_file_read(const struct slurm_source *s, const char *key, char text[FILE_BYTES])
{
	__cleanup(closep) int folder = open(s->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	__cleanup(closep) int fd = -1;
	ssize_t n;

	if (folder < 0 || !slurm_is_roots(folder, S_IFDIR))
		return false;
	fd = openat(folder, key, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || !slurm_is_roots(fd, S_IFREG))
		return false;
	n = read(fd, text, FILE_BYTES - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return true;
}

static bool slurm_value_copy(const char *text, const char *key, char *out, size_t size)
{
	size_t n;
	const char *value = text_value(text, key, '=', &n);

	*out = '\0';
	if (value)
		text_copy(out, size, value, n);
	text_disarm(out);
	return *out;
}

/* The number as squeue prints it: 12_3 of an array. */
static void slurm_shown_number(const char *text, const char *number, char *out, size_t size)
{
	char array[NUMBER_BYTES], task[NUMBER_BYTES];

	if (slurm_value_copy(text, "SLURM_ARRAY_JOB_ID", array, sizeof(array)) &&
	    slurm_value_copy(text, "SLURM_ARRAY_TASK_ID", task, sizeof(task)))
		snprintf(out, size, "%s_%s", array, task);
	else
		snprintf(out, size, "%s", number);
}

/* The title of slurmstepd, "slurmstepd: [3385.0]", is in its memory: see job_title.h. */

#define TITLE "slurmstepd: ["
#define TITLE_BYTES strlen(TITLE)
#define TITLE_LOOKS 10 /* it is set about when the process enters its cgroup */
#define TITLE_PAUSE_NS (2 * NSEC_PER_MSEC)
#define TITLE_PATIENCE_NS (50 * NSEC_PER_MSEC)
#define MOST_FAILURES 8 /* in a row; then titles are read no more */

enum { LOOK_RUNS, LOOK_DONE, LOOK_LEFT };

struct title_look {
	char folder[PATH_MAX], number[NUMBER_BYTES];
	atomic_int state;
};

static void title_of_step(struct title_look *l, const char *step)
{
	__cleanup(fclosep) FILE *f = NULL;
	char path[PATH_MAX + NAME_MAX + 32], title[256];
	struct stat st;
	long pid;

	snprintf(path, sizeof(path), "%s/%s/slurm", l->folder, step);
	if (stat(path, &st) || st.st_uid)
		return;
	snprintf(path, sizeof(path), "%s/%s/slurm/cgroup.procs", l->folder, step);
	f = memory_fopen(path, "re");
	while (f && !*l->number && fscanf(f, "%ld", &pid) == 1) {
		snprintf(path, sizeof(path), "/proc/%ld/cmdline", pid);
		if (file_read_text("", path, title, sizeof(title)) > 0 &&
		    !strncmp(title, TITLE, TITLE_BYTES))
			text_copy(l->number, sizeof(l->number), title + TITLE_BYTES,
				  strspn(title + TITLE_BYTES, "0123456789"));
	}
}

static void title_look_once(struct title_look *l)
{
	__cleanup(closedirp) DIR *d = memory_opendir(l->folder);
	const struct dirent *e;

	while (d && !*l->number && (e = readdir(d)))
		if (!strncmp(e->d_name, "step_", strlen("step_")))
			title_of_step(l, e->d_name);
}

static void *title_look_run(void *context)
{
	const struct timespec pause = { 0, TITLE_PAUSE_NS };
	struct title_look *l = context;

	title_look_once(l);
	for (int i = 1; i < TITLE_LOOKS && !*l->number; i++) {
		nanosleep(&pause, NULL);
		title_look_once(l);
	}
	if (atomic_exchange(&l->state, LOOK_DONE) == LOOK_LEFT)
		free(l);
	return NULL;
}

/* Waits for the thread for a short time; one that hangs is left, and frees @l at its end. */
static bool title_look_wait(struct title_look *l, pthread_t thread)
{
	const uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + TITLE_PATIENCE_NS;
	const struct timespec until = { (time_t)(until_ns / NSEC_PER_SEC),
					(long)(until_ns % NSEC_PER_SEC) };

	if (!pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until))
		return true;
	if (atomic_exchange(&l->state, LOOK_LEFT) == LOOK_DONE)
		return !pthread_join(thread, NULL);
	pthread_detach(thread);
	return false;
}

/* Finds the number of the job whose cgroup is the first @depth components of @path. */
static bool slurm_title_number(struct node *n, const char *path, unsigned depth,
			       char number[NUMBER_BYTES])
{
	struct title_look *l = NULL;
	const char *end = path;
	pthread_t thread;

	if (n->slurm.failures < MOST_FAILURES)
		l = memory_calloc(1, sizeof(*l));
	if (!l)
		return false;
	for (unsigned i = 0; i < depth; i++)
		end += 1 + strcspn(end + 1, "/");
	n->slurm.failures++;
	if (snprintf(l->folder, sizeof(l->folder), "%s%.*s", n->cgroups.point, (int)(end - path),
		     path) >= (int)sizeof(l->folder) ||
	    stack_start_thread(&thread, title_look_run, l)) {
		free(l);
		return false;
	}
	if (!title_look_wait(l, thread))
		return false;
	memcpy(number, l->number, sizeof(l->number));
	if (*number)
		n->slurm.failures = 0;
	free(l);
	return *number;
}

/* Copies the number of a job that is known by its SLUID; the SLUID itself if it had none. */
static bool slurm_number_is_known(const struct node *n, const char *sluid,
				  char number[NUMBER_BYTES])
{
	for (const struct node_job *j = n->jobs; j; j = j->next) {
		if (strcmp(j->rule.sluid, sluid) != 0)
			continue;
		snprintf(number, NUMBER_BYTES, "%s", strchr(j->rule.id, '/') + 1);
		number[strcspn(number, ".")] = '\0';
		return true;
	}
	return false;
}

static bool key_is_sluid(const char *key)
{
	return *key == 's' && strlen(key) == SLUID_LENGTH;
}

/*
 * Finds the file and the number of the job with the SLUID @key; the number is the SLUID if there is
 * none. All cgroups of a job get the same one.
 */
static void slurm_sluid_resolve(struct node *n, const char *path, unsigned depth, const char *key,
				char text[FILE_BYTES], char number[NUMBER_BYTES])
{
	bool is_known = slurm_number_is_known(n, key, number);

	if (slurm_file_read(&n->slurm, key, text) && !is_known)
		slurm_value_copy(text, "SLURM_JOB_ID", number, NUMBER_BYTES);
	if (!*number && !slurm_title_number(n, path, depth, number))
		snprintf(number, NUMBER_BYTES, "%s", key);
	if (!*text)
		slurm_file_read(&n->slurm, number, text);
}

static void slurm_labels_copy(const char *text, struct rules_job *job)
{
	uint64_t uid;

	slurm_value_copy(text, "SLURM_JOB_ACCOUNT", job->account, sizeof(job->account));
	slurm_value_copy(text, "SLURM_JOB_PARTITION", job->partition, sizeof(job->partition));
	slurm_value_copy(text, "SLURM_JOB_USER", job->user, sizeof(job->user));
	if (!*job->sluid)
		slurm_value_copy(text, "SLURM_JOB_SLUID", job->sluid, sizeof(job->sluid));
	if (job->uid < 0 && !text_number(text, "SLURM_JOB_UID", '=', &uid) && uid < UINT32_MAX)
		job->uid = (int64_t)uid;
}

/* Completes a job whose id is slurm/KEY or slurm-step/KEY.STEP; a KEY is a number or a SLUID. */
static void slurm_job_complete(struct node *n, const char *path, struct rules_job *job)
{
	char text[FILE_BYTES] = "", key[NUMBER_BYTES], number[NUMBER_BYTES] = "";
	char shown[2 * NUMBER_BYTES], step[STEP_BYTES];
	const char *name = strchr(job->id, '/') + 1;
	size_t length = strcspn(name, ".");

	text_copy(key, sizeof(key), name, length);
	text_copy(step, sizeof(step), name + length, strlen(name + length));
	if (key_is_sluid(key)) {
		snprintf(job->sluid, sizeof(job->sluid), "%s", key);
		slurm_sluid_resolve(n, path, job->depth - (*step != '\0'), key, text, number);
	} else if (*key && !key[strspn(key, "0123456789")]) {
		snprintf(number, sizeof(number), "%s", key);
		slurm_file_read(&n->slurm, key, text);
	} else {
		return; /* of a rule of the configuration */
	}
	slurm_shown_number(text, number, shown, sizeof(shown));
	snprintf(job->id, sizeof(job->id), "%s/%s%s", job->kind, number, step);
	snprintf(job->name, sizeof(job->name), "%s%s", shown, step);
	slurm_labels_copy(text, job);
}

static bool job_is_of_slurm(const struct rules_job *job)
{
	return !strcmp(job->kind, "slurm") || !strcmp(job->kind, "slurm-step");
}

size_t slurm_rules_find(struct node *n, const char *path, struct rules_job found[RULES_JOBS])
{
	size_t nr = rules_find(n->rules, path, found);

	for (size_t i = 0; i < nr; i++) {
		if (job_is_of_slurm(&found[i]))
			slurm_job_complete(n, path, &found[i]);
		if (i && found[i].uid < 0)
			found[i].uid = found[i - 1].uid;
	}
	return nr;
}

void slurm_subject_label(struct subject *subject, const struct rules_job *rule)
{
	subject->label.account = rule->account;
	subject->label.partition = rule->partition;
	subject->label.sluid = rule->sluid;
	if (*rule->user) /* known to a name service, which the agent does not ask */
		snprintf(subject->user, sizeof(subject->user), "%s", rule->user);
}

/* Returns the user of a process in the cgroup @folder; -1 if there is none but root's. */
static int64_t slurm_user_of_task(const char *folder)
{
	char path[PATH_MAX + 32];
	__cleanup(fclosep) FILE *f = NULL;
	struct stat st;
	long pid;

	if (snprintf(path, sizeof(path), "%s/cgroup.procs", folder) >= (int)sizeof(path))
		return -1;
	f = memory_fopen(path, "re");
	while (f && fscanf(f, "%ld", &pid) == 1) {
		snprintf(path, sizeof(path), "/proc/%ld", pid);
		if (!stat(path, &st) && st.st_uid)
			return st.st_uid;
	}
	return -1;
}

bool slurm_find_user(const struct node *n, struct node_job *j)
{
	char folder[PATH_MAX], *const folders[] = { folder, NULL };
	struct subject *subject = &j->subject;
	const FTSENT *e;
	FTS *f;

	if (j->rule.uid >= 0 || !j->cgroup || !job_is_of_slurm(&j->rule) ||
	    snprintf(folder, sizeof(folder), "%s%s", n->cgroups.point, j->cgroup) >=
		    (int)sizeof(folder))
		return false;
	f = fts_open(folders, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	while (f && j->rule.uid < 0 && (e = fts_read(f)))
		if (e->fts_info == FTS_D && !strncmp(e->fts_name, "task_", strlen("task_")))
			j->rule.uid = slurm_user_of_task(e->fts_path);
	if (f)
		fts_close(f);
	if (j->rule.uid < 0)
		return false;
	user_name_find(j->rule.uid, subject->user, sizeof(subject->user));
	snprintf(subject->run.user, sizeof(subject->run.user), "%s", subject->user);
	subject->label.uid = j->rule.uid;
	j->view.shown_to = subject->run.uid = (uid_t)j->rule.uid;
	return true;
}
