// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/container.h"

#include "base/cgroup.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/jansson_memory.h"
#include "base/memory.h"
#include "base/user.h"
#include "bpfmon/roles/capture.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NR_ENGINES 6

struct engine_answer {
	char id[128];
	pid_t pid;      /* of its first process, in bpfmon's namespace; 0: not running */
	char state[32]; /* in the engine's words: "running", "exited" */
	char why[320];  /* why the query failed, without a full stop */
};

/* Container engines are queried through their own clients, if installed. */

struct engine_query {
	const char *name;
	const struct user *as;
	uint64_t limit_ns;
	struct engine_answer *answer;
	unsigned nr_whole,
		nr_partial; /* containers with this ID, and with an ID that begins with it */
};

struct engine {
	const char *name;
	int (*run)(const struct engine *e, struct engine_query *q);
	const char *client[5]; /* with its arguments */
	/* a user has containers only if this is in /run/user/UID; "": any user, NULL: none */
	const char *user_entry;
};

/* Returns 0 if the client succeeded; @output is what it wrote. */
static int client_call(const char *const *argv, struct engine_query *q, struct captured *output)
{
	char *why = q->answer->why;
	const size_t size = sizeof(q->answer->why);
	int err = capture_run(argv, q->as, q->limit_ns, output);

	/* -EACCES: only in folders of PATH that the user may not enter */
	if (err == -ENOENT || (err == -EACCES && q->as))
		return -ENOPKG;
	if (err == -ETIMEDOUT)
		snprintf(why, size, "no answer within %.0f s", (double)q->limit_ns / 1e9);
	else if (err)
		snprintf(why, size, "%s", strerror(-err));
	else if (output->status && *output->error_line)
		snprintf(why, size, "%s", output->error_line);
	else if (output->status)
		snprintf(why, size, "%s ended with %d", argv[0], output->status);
	return err ? err : output->status ? -EIO : 0;
}

static int answer_reject(struct engine_query *q)
{
	snprintf(q->answer->why, sizeof(q->answer->why), "invalid answer");
	return -EBADMSG;
}

/*
 * Counts a container of a list as a match; a complete ID takes precedence over the beginning of
 * one.
 */
static void engine_query_consider(struct engine_query *q, const char *id, json_int_t pid,
				  const char *state)
{
	struct engine_answer *a = q->answer;
	bool is_whole = !strcmp(id, q->name);

	if (strncmp(id, q->name, strlen(q->name)) != 0 || pid < 0 || pid > INT_MAX)
		return;
	q->nr_whole += is_whole;
	q->nr_partial += !is_whole;
	if (!is_whole && q->nr_whole)
		return;
	snprintf(a->id, sizeof(a->id), "%s", id);
	snprintf(a->state, sizeof(a->state), "%s", state);
	a->pid = (pid_t)pid;
}

static int engine_query_conclude(const struct engine_query *q)
{
	unsigned nr = q->nr_whole ? q->nr_whole : q->nr_partial;

	if (nr > 1)
		return -ENOTUNIQ;
	return nr ? 0 : -ENOENT;
}

/*
 * Reads [{"Id": ..., "State": {"Pid": ..., "Status": ...}}]; the client itself selects the match.
 */
static int answer_read_container(struct engine_query *q, const char *text)
{
	json_t *root = jansson_loads(text, 0, NULL);
	json_t *state = json_object_get(json_array_get(root, 0), "State");
	const char *id = json_string_value(json_object_get(json_array_get(root, 0), "Id"));
	const char *status = json_string_value(json_object_get(state, "Status"));
	json_t *pid = json_object_get(state, "Pid");
	struct engine_answer *a = q->answer;
	bool is_understood = json_array_size(root) == 1 && id && status && json_is_integer(pid) &&
			     json_integer_value(pid) >= 0 && json_integer_value(pid) <= INT_MAX;

	if (is_understood) {
		snprintf(a->id, sizeof(a->id), "%s", id);
		snprintf(a->state, sizeof(a->state), "%s", status);
		a->pid = (pid_t)json_integer_value(pid);
	}
	json_decref(root);
	return is_understood ? 0 : answer_reject(q);
}

static int engine_inspect(const struct engine *e, struct engine_query *q)
{
	const char *argv[] = { e->client[0], e->client[1], e->client[2], "--", q->name, NULL };
	struct captured output;
	int err = client_call(argv, q, &output);

	if (err == -EIO && (strcasestr(output.error_line, "no such container") ||
			    strcasestr(output.error_line, "no such object")))
		err = -ENOENT;
	if (!err)
		err = answer_read_container(q, output.text);
	capture_done(&output);
	return err;
}

/* Reads [{"id": ..., "pid": ..., "status": ...}, ...], or null. */
static int answer_read_list(struct engine_query *q, const char *text)
{
	json_t *root = jansson_loads(text, JSON_DECODE_ANY, NULL);
	bool is_understood = json_is_array(root) || json_is_null(root);
	json_t *c;
	size_t i;

	json_array_foreach(root, i, c) {
		const char *id = json_string_value(json_object_get(c, "id"));
		const char *status = json_string_value(json_object_get(c, "status"));

		if (id && status)
			engine_query_consider(q, id, json_integer_value(json_object_get(c, "pid")),
					      status);
		else
			is_understood = false;
	}
	json_decref(root);
	return is_understood ? engine_query_conclude(q) : answer_reject(q);
}

static int engine_list(const struct engine *e, struct engine_query *q)
{
	struct captured output;
	int err = client_call(e->client, q, &output);

	if (!err)
		err = answer_read_list(q, output.text);
	capture_done(&output);
	return err;
}

/* Reads the table "TASK PID STATUS" of one namespace. */
static int namespace_list(const char *ns, struct engine_query *q)
{
	const char *const argv[] = { "ctr", "-n", ns, "tasks", "ls", NULL };
	char id[128], state[32], *rest, *line;
	struct captured output;
	int err = client_call(argv, q, &output), pid;

	for (line = err ? NULL : strtok_r(output.text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		if (sscanf(line, "%127s %d %31s", id, &pid, state) == 3)
			engine_query_consider(q, id, pid, state);
	capture_done(&output);
	return err;
}

static int containerd_list(const struct engine *e, struct engine_query *q)
{
	struct captured output;
	char *rest, *ns;
	int err = client_call(e->client, q, &output);

	for (ns = err ? NULL : strtok_r(output.text, "\n", &rest); ns && !err;
	     ns = strtok_r(NULL, "\n", &rest))
		err = *ns == '-' ? 0 : namespace_list(ns, q);
	capture_done(&output);
	return err ? err : engine_query_conclude(q);
}

static const struct engine engines[NR_ENGINES] = {
	{ "podman", engine_inspect, { "podman", "container", "inspect" }, "" },
	{ "docker", engine_inspect, { "docker", "container", "inspect" }, "docker.sock" },
	{ "nerdctl", engine_inspect, { "nerdctl", "container", "inspect" }, "containerd-rootless" },
	{ "containerd", containerd_list, { "ctr", "namespaces", "ls", "-q" }, NULL },
	{ "runc", engine_list, { "runc", "list", "--format=json" }, "runc" },
	{ "crun", engine_list, { "crun", "list", "--format=json" }, "crun" },
};

/* Index in query order: each engine before those that it may be built on. */
static const char *engine_name(size_t i)
{
	return engines[i].name;
}

/* Without containers the client would fail with a misleading error. */
static bool engine_may_have(const struct engine *e, const struct user *user)
{
	char path[128];

	if (!e->user_entry || !*e->user_entry)
		return e->user_entry;
	snprintf(path, sizeof(path), "/run/user/%u/%s", user->uid, e->user_entry);
	return !access(path, F_OK);
}

/*
 * Queries engine @i for the container with that name, ID, or beginning of an ID, as user @as (NULL:
 * the effective one), with @limit_ns for each call of its client. @name must not begin with a
 * hyphen. Returns 0, -ENOENT if there is none, -ENOTUNIQ if there are several, -ENOPKG if the
 * engine is not installed or @as has no containers of it, or another negative errno with the reason
 * in @answer->why.
 */
static int engine_run_query(size_t i, const char *name, const struct user *as, uint64_t limit_ns,
			    struct engine_answer *answer)
{
	struct engine_query q = { .name = name, .as = as, .limit_ns = limit_ns, .answer = answer };

	memset(answer, 0, sizeof(*answer));
	if (as && !engine_may_have(&engines[i], as))
		return -ENOPKG;
	return engines[i].run(&engines[i], &q);
}

#define CLIENT_LIMIT_NS (10 * NSEC_PER_SEC) /* podman alone takes a second on a busy machine */

struct query {
	size_t engine;
	const struct user *as; /* NULL: the effective user */
	int err;
	bool is_repeated; /* an earlier query has found the same container */
	struct engine_answer answer;
};

struct container_search {
	const char *name; /* without "ENGINE:" */
	size_t nr;
	struct query queries[2 * NR_ENGINES]; /* of installed engines */
	FILE *why;
};

static void query_put_name(const struct container_search *s, const struct query *a)
{
	fprintf(s->why, "%s%s%s", engine_name(a->engine), a->as ? " of " : "",
		a->as ? a->as->name : "");
}

/*
 * A container of docker is also one of containerd and runc: only the first query that finds it
 * counts.
 */
static bool search_has(const struct container_search *s, const struct engine_answer *a)
{
	for (size_t i = 0; i < s->nr; i++)
		if (!s->queries[i].err && !strcmp(s->queries[i].answer.id, a->id) &&
		    s->queries[i].answer.pid == a->pid)
			return true;
	return false;
}

static void search_query(struct container_search *s, size_t engine, const struct user *as)
{
	struct query *a = &s->queries[s->nr];

	a->engine = engine;
	a->as = as;
	a->err = engine_run_query(engine, s->name, as, CLIENT_LIMIT_NS, &a->answer);
	if (a->err == -ENOPKG)
		return;
	a->is_repeated = !a->err && search_has(s, &a->answer);
	s->nr++;
}

static size_t search_count(const struct container_search *s, int err)
{
	size_t nr = 0;

	for (size_t i = 0; i < s->nr; i++)
		nr += s->queries[i].err == err && !s->queries[i].is_repeated;
	return nr;
}

/* Prints the engines with the result @err, as in "podman, podman of alice or runc". */
static void search_put_queries(const struct container_search *s, int err, const char *last)
{
	size_t left = search_count(s, err);

	for (size_t i = 0; i < s->nr; i++) {
		if (s->queries[i].err != err || s->queries[i].is_repeated)
			continue;
		query_put_name(s, &s->queries[i]);
		left--;
		fprintf(s->why, "%s", left > 1 ? ", " : left ? last : "");
	}
}

static bool query_has_failed(const struct query *a)
{
	return a->err && a->err != -ENOENT && a->err != -ENOTUNIQ;
}

static void search_put_failures(const struct container_search *s, const char *before)
{
	for (size_t i = 0; i < s->nr; i++) {
		if (!query_has_failed(&s->queries[i]))
			continue;
		fprintf(s->why, "%scannot query ", before);
		query_put_name(s, &s->queries[i]);
		fprintf(s->why, ": %s", s->queries[i].answer.why);
		before = "; ";
	}
}

static int search_report_missing(const struct container_search *s)
{
	if (search_count(s, -ENOTUNIQ)) {
		fprintf(s->why, "several containers of ");
		search_put_queries(s, -ENOTUNIQ, " and ");
		fprintf(s->why, " match the name or ID '%s'", s->name);
		return -ENOTUNIQ;
	}
	if (!search_count(s, -ENOENT)) {
		search_put_failures(s, "");
		return -EIO;
	}
	fprintf(s->why, "no container '%s' in ", s->name);
	search_put_queries(s, -ENOENT, " or ");
	search_put_failures(s, "; ");
	return -ENOENT;
}

static int search_report_several(const struct container_search *s)
{
	size_t first = s->nr, other = s->nr;

	for (size_t i = s->nr; i-- > 0;)
		if (!s->queries[i].err && !s->queries[i].is_repeated) {
			other = first;
			first = i;
		}
	fprintf(s->why, "'%s' is a container of ", s->name);
	search_put_queries(s, 0, " and of ");
	if (s->queries[first].engine == s->queries[other].engine)
		fprintf(s->why, ": use its ID instead");
	else
		fprintf(s->why, ": use %s:%s or %s:%s", engine_name(s->queries[first].engine),
			s->name, engine_name(s->queries[other].engine), s->name);
	return -ENOTUNIQ;
}

static int search_conclude(const struct container_search *s, struct container *c)
{
	const struct query *a = s->queries;

	if (search_count(s, 0) > 1)
		return search_report_several(s);
	while (a < s->queries + s->nr && a->err)
		a++;
	if (a == s->queries + s->nr)
		return search_report_missing(s);
	if (!a->answer.pid) {
		fprintf(s->why, "the container '%s' of ", s->name);
		query_put_name(s, a);
		fprintf(s->why, " is not running (%s)", a->answer.state);
		return -ESRCH;
	}
	c->engine = engine_name(a->engine);
	c->pid = a->answer.pid;
	snprintf(c->id, sizeof(c->id), "%s", a->answer.id);
	return 0;
}

/* Removes "ENGINE:" from the name. Returns the index of the engine, or NR_ENGINES. */
static size_t search_take_engine(struct container_search *s)
{
	size_t i;

	for (i = 0; i < NR_ENGINES; i++) {
		size_t n = strlen(engine_name(i));

		if (!strncmp(s->name, engine_name(i), n) && s->name[n] == ':') {
			s->name += n + 1;
			break;
		}
	}
	return i;
}

/* The search path of clients, for messages. */
static const char *search_folders(void)
{
	return user_rights_are_lent() ? CAPTURE_PATH : "PATH";
}

static int search_run(struct container_search *s, const struct user *caller, struct container *c)
{
	const size_t only = search_take_engine(s);
	const bool has_own = !geteuid() && caller->uid;

	if (!*s->name || *s->name == '-' || strchr(s->name, ':')) {
		fprintf(s->why, "'%s' is not a valid container name", s->name);
		return -EINVAL;
	}
	for (size_t i = 0; i < NR_ENGINES; i++) {
		if (only != NR_ENGINES && only != i)
			continue;
		search_query(s, i, NULL);
		if (has_own)
			search_query(s, i, caller);
	}
	if (s->nr)
		return search_conclude(s, c);
	if (only != NR_ENGINES)
		fprintf(s->why, "%s is not installed, or not in %s", engine_name(only),
			search_folders());
	else
		fprintf(s->why, "no container engine is installed, or none is in %s",
			search_folders());
	return -ENOPKG;
}

int container_find(const char *name, const struct user *caller, struct container *c, char *why,
		   size_t size)
{
	struct container_search s = { .name = name };
	int err;

	s.why = memory_fmemopen(why, size, "w");
	if (!s.why)
		return -errno;
	err = search_run(&s, caller, c);
	fclose(s.why);
	why[size - 1] = '\0';
	return err;
}

/*
 * In order of preference: first the one with limits and most of the values. NULL: the unified
 * hierarchy.
 */
static const char *const hierarchies[] = {
	"memory", NULL, "cpuacct", "pids", "freezer", "devices"
};
#define NR_HIERARCHIES (sizeof(hierarchies) / sizeof(*hierarchies))

/* As in libpod-ID, docker-ID.scope, crio-ID.scope, or ID itself. */
static bool name_has_id(const char *part, size_t n, const char *id)
{
	size_t length = strlen(id);

	for (size_t i = 0; length && i + length <= n; i++)
		if (!memcmp(part + i, id, length) && (!i || strchr("-:", part[i - 1])) &&
		    (i + length == n || part[i + length] == '.'))
			return true;
	return false;
}

/* Truncates @path after the component with @id in its name. Returns false if there is none. */
static bool path_cut_after_id(char *path, const char *id)
{
	for (char *part = path; *part;) {
		size_t n;

		part += *part == '/';
		n = strcspn(part, "/");
		if (name_has_id(part, n, id)) {
			part[n] = '\0';
			return true;
		}
		part += n;
	}
	return false;
}

int container_find_cgroup(const char *proc, const struct container *c, char folder[4096])
{
	char self[64], of[64], path[4096];
	size_t mount;
	bool is_v2;
	int number;

	snprintf(self, sizeof(self), "%s/self", proc);
	snprintf(of, sizeof(of), "%s/%d", proc, c->pid);
	for (size_t i = 0; i < NR_HIERARCHIES; i++) {
		const char *controller = hierarchies[i];

		if (cgroup_of_process(of, controller, path, &is_v2, &number) ||
		    is_v2 != !controller || !path_cut_after_id(path, c->id))
			continue;
		if (!cgroup_find_folder(self, controller, path, folder, &mount))
			return 0;
	}
	return -ENOENT;
}
