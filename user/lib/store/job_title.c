// SPDX-License-Identifier: BSD-2-Clause
#include "store/job_title.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/jansson_memory.h"
#include "base/memory.h"
#include "base/stack.h"
#include "base/text.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_BYTES (16UL << 20) /* of a file; longer ones are not read to their end */
#define MOST_TITLE 255          /* bytes */
#define MOST_PROCESSES 100      /* of a cgroup, whose environments are read */
#define NR(list) (sizeof(list) / sizeof(*(list)))

/* Reads a regular file, so that no caller waits for a pipe; ends it with NUL. */
static bool title_file_read(const char *path, struct buffer *t)
{
	__cleanup(closep) int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char part[4096];
	struct stat st;
	ssize_t n = 0;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	while (t->used < MOST_BYTES && (n = read(fd, part, sizeof(part))) > 0)
		buffer_put(t, part, (size_t)n);
	buffer_put(t, "", 1);
	return n >= 0 && !t->failed;
}

static json_t *title_json_read(const char *path)
{
	struct buffer t = { 0 };
	json_t *o = title_file_read(path, &t) ? jansson_loadb(t.text, t.used - 1, 0, NULL) : NULL;

	buffer_done(&t);
	return o;
}

/* Podman and CRI-O: a list of containers with their names. */
static void titles_read_storage(struct job_titles *t, const char *path)
{
	json_t *all = title_json_read(path), *one;
	size_t i;

	json_array_foreach(all, i, one) {
		const char *id = json_string_value(json_object_get(one, "id"));
		json_t *name = json_array_get(json_object_get(one, "names"), 0);

		if (id && json_is_string(name))
			json_object_set(t->names, id, name);
	}
	json_decref(all);
}

/* Reads what the drivers of podman and CRI-O keep in @folder. */
static void titles_read_folder(struct job_titles *t, const char *root, const char *folder)
{
	static const char *const drivers[] = { "overlay", "vfs", "btrfs", "zfs" };
	static const char *const files[] = { "containers.json", "volatile-containers.json" };
	char path[PATH_MAX];

	for (size_t i = 0; i < NR(drivers); i++)
		for (size_t k = 0; k < NR(files); k++)
			if (snprintf(path, sizeof(path), "%s%s/%s-containers/%s", root, folder,
				     drivers[i], files[k]) < (int)sizeof(path))
				titles_read_storage(t, path);
}

/* Only root's folders, or the caller's own: a user chooses the contents of the others. */
static void titles_read_storages(struct job_titles *t, bool with_home)
{
	const char *home = with_home && geteuid() ? getenv("HOME") : NULL;
	char folder[64];

	titles_read_folder(t, t->root, "/var/lib/containers/storage");
	titles_read_folder(t, t->root, "/run/containers/storage"); /* of a transient store */
	if (!home)
		return;
	titles_read_folder(t, home, "/.local/share/containers/storage");
	snprintf(folder, sizeof(folder), "/run/user/%u/containers", geteuid());
	titles_read_folder(t, t->root, folder);
}

/* A folder NAMESPACE_POD_UID names a pod, a file POD_NAMESPACE_CONTAINER-HASH.log a container. */
static void titles_take_kube(struct job_titles *t, const char *name, bool is_pod)
{
	const char *second = strchr(name, '_'), *last = strrchr(name, is_pod ? '_' : '-');
	__cleanup(freep) char *id = NULL, *title = NULL;

	if (!second || !last || last <= second + 1)
		return;
	if (is_pod) {
		id = memory_strdup(last + 1);
		title = memory_strndup(second + 1, (size_t)(last - second) - 1);
	} else {
		const char *third = strchr(second + 1, '_');

		if (!third || third > last)
			return;
		id = memory_strndup(last + 1, JOB_HASH_DIGITS);
		if (memory_asprintf(&title, "%.*s/%.*s", (int)(second - name), name,
				    (int)(last - third) - 1, third + 1) < 0)
			title = NULL;
	}
	if (id && title)
		json_object_set_new(t->names, id, json_string(title));
}

static void titles_read_kube(struct job_titles *t, const char *folder, bool is_pod)
{
	__cleanup(closedirp) DIR *d = NULL;
	const struct dirent *e;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s%s", t->root, folder);
	d = memory_opendir(path);
	while (d && (e = readdir(d)))
		titles_take_kube(t, e->d_name, is_pod);
}

void job_titles_open(struct job_titles *t, const char *root, bool with_home)
{
	*t = (struct job_titles){ .root = root, .names = json_object() };
	titles_read_storages(t, with_home);
	titles_read_kube(t, "/var/log/pods", true);
	titles_read_kube(t, "/var/log/containers", false);
}

void job_titles_done(struct job_titles *t)
{
	json_decref(t->names);
	*t = (struct job_titles){ 0 };
}

static char *title_of_docker(const struct job_titles *t, const char *hash)
{
	char path[PATH_MAX], *title = NULL;
	const char *name;
	json_t *o;

	snprintf(path, sizeof(path), "%s/var/lib/docker/containers/%s/config.v2.json", t->root,
		 hash);
	o = title_json_read(path);
	name = json_string_value(json_object_get(o, "Name"));
	if (name)
		title = memory_strdup(name + (*name == '/'));
	json_decref(o);
	return title;
}

static char *title_of_process(const struct job_titles *t, long pid)
{
	static const char key[] = "SLURM_JOB_NAME=";
	struct buffer text = { 0 };
	char path[PATH_MAX], *title = NULL;

	snprintf(path, sizeof(path), "%s/proc/%ld/environ", t->root, pid);
	if (title_file_read(path, &text))
		for (const char *v = text.text; !title && v < text.text + text.used;
		     v += strlen(v) + 1)
			if (!strncmp(v, key, strlen(key)))
				title = memory_strdup(v + strlen(key));
	buffer_done(&text);
	return title;
}

static char *title_of_processes(const struct job_titles *t, const char *folder)
{
	__cleanup(fclosep) FILE *f = NULL;
	char path[PATH_MAX], *title = NULL;
	unsigned nr = 0;
	long pid;

	if (snprintf(path, sizeof(path), "%s/cgroup.procs", folder) >= (int)sizeof(path))
		return NULL;
	f = memory_fopen(path, "re");
	while (f && !title && nr++ < MOST_PROCESSES && fscanf(f, "%ld", &pid) == 1)
		title = title_of_process(t, pid);
	return title;
}

#define MOST_DEPTH 4 /* job, step, user, task */

/* Searches the processes of a cgroup and of those below it. */
static char *title_of_cgroup(const struct job_titles *t, const char *folder, unsigned depth)
{
	char *title = title_of_processes(t, folder);
	__cleanup(closedirp) DIR *d = title || !depth ? NULL : memory_opendir(folder);
	const struct dirent *e;
	char path[PATH_MAX];

	while (d && !title && (e = readdir(d))) {
		if (e->d_type != DT_DIR || *e->d_name == '.' ||
		    snprintf(path, sizeof(path), "%s/%s", folder, e->d_name) >= (int)sizeof(path))
			continue;
		title = title_of_cgroup(t, path, depth - 1);
	}
	return title;
}

static char *title_of_slurm(const struct job_titles *t, const char *cgroup)
{
	static const char *const mounts[] = { "", "/unified", "/memory", "/freezer" };
	char path[PATH_MAX], *title = NULL;

	for (size_t i = 0; i < NR(mounts) && !title; i++) {
		snprintf(path, sizeof(path), "%s/sys/fs/cgroup%s%s", t->root, mounts[i], cgroup);
		title = title_of_cgroup(t, path, MOST_DEPTH);
	}
	return title;
}

bool job_can_have_title(const char *id)
{
	const char *last = strrchr(id, '/');

	return last && (!strncmp(id, "slurm", strlen("slurm")) ||
			!strncmp(id, "pod", strlen("pod")) || strlen(last + 1) == JOB_HASH_DIGITS);
}

char *job_title_find(const struct job_titles *t, const char *id, const char *cgroup)
{
	const char *last = strrchr(id, '/');
	const char *name = last ? json_string_value(json_object_get(t->names, last + 1)) : NULL;
	char *title = NULL;

	if (name)
		title = memory_strdup(name);
	else if (last && strlen(last + 1) == JOB_HASH_DIGITS)
		title = title_of_docker(t, last + 1);
	else if (!strncmp(id, "slurm", strlen("slurm")) && cgroup)
		title = title_of_slurm(t, cgroup);
	if (title && !*title) {
		free(title);
		title = NULL;
	} else if (title) {
		title[text_cut_bytes(title, MOST_TITLE)] = '\0';
		text_disarm(title);
	}
	return title;
}

void job_titles_set(const struct job_titles *t, struct stored_runs *all)
{
	char id[JOB_ID_BYTES];

	for (size_t i = 0; i < all->nr; i++) {
		struct stored_run *r = &all->runs[i];
		char *title = r->job ? job_title_find(t, r->job, NULL) : NULL;
		const char *last = NULL;

		if (r->job)
			last = strrchr(job_id_format(id, sizeof(id), r->job), '/');
		if (!title && (!last || !r->name || strcmp(last + 1, r->name) != 0))
			continue;
		free(r->name);
		r->name = title;
	}
}

enum { SEARCH_RUNS, SEARCH_DONE, SEARCH_LEFT };

struct title_search {
	struct title_wanted *all; /* owned; the thread's until it is done */
	size_t nr;
	pthread_t thread;
	atomic_int state;
};

static void title_wanted_free(struct title_wanted *all, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free(all[i].cgroup);
		free(all[i].title);
	}
	free(all);
}

static void title_search_free(struct title_search *s)
{
	title_wanted_free(s->all, s->nr);
	free(s);
}

static void *title_search_run(void *context)
{
	struct title_search *s = context;
	struct job_titles t;

	job_titles_open(&t, "", false);
	for (size_t i = 0; i < s->nr; i++)
		s->all[i].title = job_title_find(&t, s->all[i].id, s->all[i].cgroup);
	job_titles_done(&t);
	if (atomic_exchange(&s->state, SEARCH_DONE) == SEARCH_LEFT)
		title_search_free(s);
	return NULL;
}

struct title_search *title_search_start(struct title_wanted *all, size_t nr)
{
	struct title_search *s = memory_calloc(1, sizeof(*s));

	if (!s) {
		title_wanted_free(all, nr);
		return NULL;
	}
	s->all = all;
	s->nr = nr;
	if (!stack_start_thread(&s->thread, title_search_run, s))
		return s;
	title_search_free(s);
	return NULL;
}

struct title_wanted *title_search_results(const struct title_search *s, size_t *nr)
{
	*nr = s->nr;
	return atomic_load(&s->state) == SEARCH_DONE ? s->all : NULL;
}

void title_search_end(struct title_search *s)
{
	pthread_t thread = s->thread;

	if (atomic_exchange(&s->state, SEARCH_LEFT) == SEARCH_DONE) {
		pthread_join(thread, NULL);
		title_search_free(s);
	} else {
		pthread_detach(thread);
	}
}
