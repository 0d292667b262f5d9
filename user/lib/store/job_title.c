// SPDX-License-Identifier: BSD-2-Clause
#include "store/job_title.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/jansson_memory.h"
#include "base/memory.h"
#include "base/stack.h"
#include "base/text.h"
#include "run/meta_cgroup.h"

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

#define LINK_END ".log"
#define LEAST_DIGITS 4 /* of a cut id, which is searched among the containers of one pod */

/* A folder NAMESPACE_POD_UID. */
static void titles_take_pod(struct job_titles *t, const char *name)
{
	const char *second = strchr(name, '_'), *last = strrchr(name, '_');

	if (second && last > second + 1 && last[1])
		json_object_set_new(t->pods, last + 1,
				    json_pack("[s%, s%]", name, (size_t)(second - name), second + 1,
					      (size_t)(last - second) - 1));
}

/*
 * The kubelet cuts a name to 255 bytes, so that digits of the id at its end are missing. The link
 * leads to /var/log/pods/NAMESPACE_POD_UID/CONTAINER/N.log.
 */
static void titles_take_cut(struct job_titles *t, int folder, const char *link)
{
	char target[PATH_MAX], *part[3] = { NULL }, *pod, *uid;
	ssize_t n = readlinkat(folder, link, target, sizeof(target) - 1);
	size_t before, digits;
	json_t *list;

	target[n > 0 ? n : 0] = '\0';
	for (size_t i = 0; i < NR(part); i++) {
		part[i] = strrchr(target, '/');
		if (!part[i])
			return;
		*part[i]++ = '\0';
	}
	pod = strchr(part[2], '_');
	uid = strrchr(part[2], '_');
	if (!pod || uid <= pod + 1)
		return;
	/* POD_NAMESPACE_CONTAINER- precedes the id */
	before = strlen(part[1]) + (size_t)(uid - part[2]) + 2;
	if (before + LEAST_DIGITS + strlen(LINK_END) > strlen(link))
		return;
	digits = strlen(link) - strlen(LINK_END) - before;
	list = json_object_get(t->cut, uid + 1);
	if (!list && !json_object_set_new(t->cut, uid + 1, json_array()))
		list = json_object_get(t->cut, uid + 1);
	json_array_append_new(list, json_pack("[s%, s]", link + before, digits, part[1]));
}

/* A link POD_NAMESPACE_CONTAINER-HASH.log. */
static void titles_take_container(struct job_titles *t, int folder, const char *name)
{
	const char *second = strchr(name, '_'), *last = strrchr(name, '-');
	const char *third = second ? strchr(second + 1, '_') : NULL;
	char hash[JOB_HASH_DIGITS + 1] = "";

	if (strlen(name) == NAME_MAX) {
		titles_take_cut(t, folder, name);
		return;
	}
	if (!third || last <= third + 1 || strlen(last + 1) != JOB_HASH_DIGITS + strlen(LINK_END))
		return;
	memcpy(hash, last + 1, JOB_HASH_DIGITS);
	json_object_set_new(t->names, hash,
			    json_pack("[s%, s%, s%]", second + 1, (size_t)(third - second) - 1,
				      name, (size_t)(second - name), third + 1,
				      (size_t)(last - third) - 1));
}

static void titles_read_kube(struct job_titles *t, const char *folder, bool is_pod)
{
	__cleanup(closedirp) DIR *d = NULL;
	const struct dirent *e;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s%s", t->root, folder);
	d = memory_opendir(path);
	while (d && (e = readdir(d)))
		if (is_pod)
			titles_take_pod(t, e->d_name);
		else
			titles_take_container(t, dirfd(d), e->d_name);
}

void job_titles_open(struct job_titles *t, const char *root, bool with_home)
{
	*t = (struct job_titles){
		.root = root, .names = json_object(), .pods = json_object(), .cut = json_object()
	};
	titles_read_storages(t, with_home);
	titles_read_kube(t, "/var/log/pods", true);
	titles_read_kube(t, "/var/log/containers", false);
}

void job_titles_done(struct job_titles *t)
{
	json_decref(t->names);
	json_decref(t->pods);
	json_decref(t->cut);
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

/* Returns the value of a variable in an environment; NULL if there is none. */
static const char *environment_value(const struct buffer *environment, const char *name)
{
	const char *end = environment->text + environment->used;
	size_t n = strlen(name);

	for (const char *v = environment->text; v < end; v += strlen(v) + 1)
		if (!strncmp(v, name, n) && v[n] == '=')
			return v + n + 1;
	return NULL;
}

#define MOST_COMPONENTS 128 /* of a heterogeneous job */

/*
 * Formats the number of the Slurm job @own as squeue does, with a blank after it, if that is
 * another: 12_3 of an array, 12+1 of a heterogeneous job, all components of which have the
 * SLURM_JOB_ID of the first.
 */
static void slurm_number_format(const struct buffer *environment, const char *own, char *out,
				size_t size)
{
	const char *array = environment_value(environment, "SLURM_ARRAY_JOB_ID");
	const char *task = environment_value(environment, "SLURM_ARRAY_TASK_ID");
	const char *first = environment_value(environment, "SLURM_JOB_ID_HET_GROUP_0");
	const char *id = first;
	char name[48];

	*out = '\0';
	if (array && task)
		snprintf(out, size, "%s_%s ", array, task);
	for (int i = 0; id && i < MOST_COMPONENTS; i++) {
		snprintf(name, sizeof(name), "SLURM_JOB_ID_HET_GROUP_%d", i);
		id = environment_value(environment, name);
		if (id && !strcmp(id, own))
			snprintf(out, size, "%s+%d ", first, i);
	}
}

static char *title_of_environment(const struct buffer *environment, const char *own)
{
	const char *name = environment_value(environment, "SLURM_JOB_NAME");
	char number[64], *title = NULL;

	if (!name)
		return NULL;
	slurm_number_format(environment, own, number, sizeof(number));
	return memory_asprintf(&title, "%s%s", number, name) < 0 ? NULL : title;
}

static char *title_of_process(const struct job_titles *t, long pid, const char *own)
{
	struct buffer text = { 0 };
	char path[PATH_MAX], *title = NULL;

	snprintf(path, sizeof(path), "%s/proc/%ld/environ", t->root, pid);
	if (title_file_read(path, &text))
		title = title_of_environment(&text, own);
	buffer_done(&text);
	return title;
}

static char *title_of_processes(const struct job_titles *t, const char *folder, const char *own)
{
	__cleanup(fclosep) FILE *f = NULL;
	char path[PATH_MAX], *title = NULL;
	unsigned nr = 0;
	long pid;

	if (snprintf(path, sizeof(path), "%s/cgroup.procs", folder) >= (int)sizeof(path))
		return NULL;
	f = memory_fopen(path, "re");
	while (f && !title && nr++ < MOST_PROCESSES && fscanf(f, "%ld", &pid) == 1)
		title = title_of_process(t, pid, own);
	return title;
}

#define MOST_DEPTH 4 /* job, step, user, task */

/* Searches the processes of a cgroup and of those below it. */
static char *title_of_cgroup(const struct job_titles *t, const char *folder, unsigned depth,
			     const char *own)
{
	char *title = title_of_processes(t, folder, own);
	__cleanup(closedirp) DIR *d = title || !depth ? NULL : memory_opendir(folder);
	const struct dirent *e;
	char path[PATH_MAX];

	while (d && !title && (e = readdir(d))) {
		if (e->d_type != DT_DIR || *e->d_name == '.' ||
		    snprintf(path, sizeof(path), "%s/%s", folder, e->d_name) >= (int)sizeof(path))
			continue;
		title = title_of_cgroup(t, path, depth - 1, own);
	}
	return title;
}

/* @name is the end of the job's id, 815 or 815.0. */
static char *title_of_slurm(const struct job_titles *t, const char *name, const char *cgroup)
{
	static const char *const mounts[] = { "", "/unified", "/memory", "/freezer" };
	char path[PATH_MAX], own[JOB_ID_BYTES], *title = NULL;

	snprintf(own, sizeof(own), "%s", name);
	own[strcspn(own, ".")] = '\0';
	for (size_t i = 0; i < NR(mounts) && !title; i++) {
		snprintf(path, sizeof(path), "%s/sys/fs/cgroup%s%s", t->root, mounts[i], cgroup);
		title = title_of_cgroup(t, path, MOST_DEPTH, own);
	}
	return title;
}

bool job_can_have_title(const char *id)
{
	const char *last = strrchr(id, '/');

	return last && (!strncmp(id, "slurm", strlen("slurm")) ||
			!strncmp(id, "pod", strlen("pod")) || strlen(last + 1) == JOB_HASH_DIGITS);
}

static char *title_clean(char *title)
{
	if (title && !*title) {
		free(title);
		title = NULL;
	} else if (title) {
		title[text_cut_bytes(title, MOST_TITLE)] = '\0';
		text_disarm(title);
	}
	return title;
}

static char *title_copy_item(const json_t *list, size_t at)
{
	const char *text = json_string_value(json_array_get(list, at));

	return title_clean(text ? memory_strdup(text) : NULL);
}

/* Returns the pod whose UID is in the cgroup, or is @last of the id; NULL if there is none. */
static const json_t *pod_find(const struct job_titles *t, const char *last, const char *cgroup,
			      struct container_info *c)
{
	snprintf(c->pod, sizeof(c->pod), "%s", last);
	for (char *digit = c->pod; *digit; digit++) /* as systemd's slices have it */
		if (*digit == '_')
			*digit = '-';
	if (!json_object_get(t->pods, c->pod) && cgroup) {
		*c->pod = '\0';
		container_of_cgroup(cgroup, c);
	}
	return json_object_get(t->pods, c->pod);
}

/* Returns the container whose id was cut; NULL if none, or several, begin so. */
static char *container_find_cut(const struct job_titles *t, const char *uid, const char *hash)
{
	const char *found = NULL, *digits, *name;
	json_t *one;
	size_t i;

	json_array_foreach(json_object_get(t->cut, uid), i, one) {
		digits = json_string_value(json_array_get(one, 0));
		name = json_string_value(json_array_get(one, 1));
		if (!digits || !name || strncmp(hash, digits, strlen(digits)) != 0)
			continue;
		if (found && strcmp(found, name) != 0)
			return NULL;
		found = name;
	}
	return title_clean(found ? memory_strdup(found) : NULL);
}

/* Finds the names of a pod, or of a container in a pod. */
static void title_find_kube(const struct job_titles *t, const char *last, const char *cgroup,
			    struct job_title *title)
{
	const json_t *names = json_object_get(t->names, last);
	const bool is_container = strlen(last) == JOB_HASH_DIGITS;
	struct pod_names *in = &title->names;
	struct container_info c = { 0 };

	if (!json_is_array(names))
		names = pod_find(t, last, cgroup, &c);
	in->namespace = title_copy_item(names, 0);
	in->pod = title_copy_item(names, 1);
	in->container = title_copy_item(names, 2);
	if (!in->namespace || !in->pod)
		return;
	if (is_container && !in->container)
		in->container = container_find_cut(t, c.pod, last);
	if (memory_asprintf(&title->text, "%s/%s%s%s", in->namespace, in->pod,
			    is_container ? "/" : "",
			    in->container  ? in->container
			    : is_container ? "-"
					   : "") < 0)
		title->text = NULL;
}

void job_title_find(const struct job_titles *t, const char *id, const char *cgroup,
		    struct job_title *title)
{
	const char *last = strrchr(id, '/'), *name;

	*title = (struct job_title){ 0 };
	if (!last || !job_can_have_title(id))
		return;
	last++;
	name = json_string_value(json_object_get(t->names, last));
	if (name)
		title->text = title_clean(memory_strdup(name));
	else if (!strncmp(id, "slurm", strlen("slurm")))
		title->text = cgroup ? title_clean(title_of_slurm(t, last, cgroup)) : NULL;
	else
		title_find_kube(t, last, cgroup, title);
	if (!title->text && strlen(last) == JOB_HASH_DIGITS)
		title->text = title_clean(title_of_docker(t, last));
}

void job_title_done(struct job_title *title)
{
	free(title->text);
	free(title->names.namespace);
	free(title->names.pod);
	free(title->names.container);
	*title = (struct job_title){ 0 };
}

void job_titles_set(const struct job_titles *t, struct stored_runs *all)
{
	char id[JOB_ID_BYTES];

	for (size_t i = 0; i < all->nr; i++) {
		struct stored_run *r = &all->runs[i];
		struct job_title title = { 0 };
		const char *last = NULL;

		if (r->job) {
			job_title_find(t, r->job, NULL, &title);
			last = strrchr(job_id_format(id, sizeof(id), r->job), '/');
		}
		if (title.text || (last && r->name && !strcmp(last + 1, r->name))) {
			free(r->name);
			r->name = title.text;
			title.text = NULL;
		}
		job_title_done(&title);
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
		job_title_done(&all[i].title);
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
		job_title_find(&t, s->all[i].id, s->all[i].cgroup, &s->all[i].title);
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
