// SPDX-License-Identifier: BSD-2-Clause
#include "container/engine.h"

#include "container/capture.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct question {
	const char *name;
	const struct user *as;
	uint64_t limit_ns;
	struct engine_answer *answer;
	unsigned nr_whole, nr_partial; /* containers with this id, and with an id that begins so */
};

struct engine {
	const char *name;
	int (*ask)(const struct engine *e, struct question *q);
	const char *client[5]; /* with its arguments */
	/* exists in /run/user/UID if that user may have containers of it; "": any may, NULL: none
	 */
	const char *user_entry;
};

/* 0: the client has ended with success, and @output is what it wrote. */
static int client_call(const char *const *argv, struct question *q, struct captured *output)
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

static int answer_reject(struct question *q)
{
	snprintf(q->answer->why, sizeof(q->answer->why), "its answer is not understood");
	return -EBADMSG;
}

/* Takes one container of a list into account: a whole id precedes the beginning of one. */
static void question_consider(struct question *q, const char *id, json_int_t pid, const char *state)
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

static int question_conclude(const struct question *q)
{
	unsigned nr = q->nr_whole ? q->nr_whole : q->nr_partial;

	if (nr > 1)
		return -ENOTUNIQ;
	return nr ? 0 : -ENOENT;
}

/* [{"Id": ..., "State": {"Pid": ..., "Status": ...}}]: the client itself decides between matches.
 */
static int answer_read_container(struct question *q, const char *text)
{
	json_t *root = json_loads(text, 0, NULL);
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

static int engine_inspect(const struct engine *e, struct question *q)
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

/* [{"id": ..., "pid": ..., "status": ...}, ...], or null */
static int answer_read_list(struct question *q, const char *text)
{
	json_t *root = json_loads(text, JSON_DECODE_ANY, NULL);
	bool is_understood = json_is_array(root) || json_is_null(root);
	json_t *c;
	size_t i;

	json_array_foreach(root, i, c) {
		const char *id = json_string_value(json_object_get(c, "id"));
		const char *status = json_string_value(json_object_get(c, "status"));

		if (id && status)
			question_consider(q, id, json_integer_value(json_object_get(c, "pid")),
					  status);
		else
			is_understood = false;
	}
	json_decref(root);
	return is_understood ? question_conclude(q) : answer_reject(q);
}

static int engine_list(const struct engine *e, struct question *q)
{
	struct captured output;
	int err = client_call(e->client, q, &output);

	if (!err)
		err = answer_read_list(q, output.text);
	capture_done(&output);
	return err;
}

/* "TASK PID STATUS" and the tasks of one namespace below it */
static int namespace_list(const char *ns, struct question *q)
{
	const char *const argv[] = { "ctr", "-n", ns, "tasks", "ls", NULL };
	char id[128], state[32], *rest, *line;
	struct captured output;
	int err = client_call(argv, q, &output), pid;

	for (line = err ? NULL : strtok_r(output.text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		if (sscanf(line, "%127s %d %31s", id, &pid, state) == 3)
			question_consider(q, id, pid, state);
	capture_done(&output);
	return err;
}

static int containerd_list(const struct engine *e, struct question *q)
{
	struct captured output;
	char *rest, *ns;
	int err = client_call(e->client, q, &output);

	for (ns = err ? NULL : strtok_r(output.text, "\n", &rest); ns && !err;
	     ns = strtok_r(NULL, "\n", &rest))
		err = *ns == '-' ? 0 : namespace_list(ns, q);
	capture_done(&output);
	return err ? err : question_conclude(q);
}

static const struct engine engines[NR_ENGINES] = {
	{ "podman", engine_inspect, { "podman", "container", "inspect" }, "" },
	{ "docker", engine_inspect, { "docker", "container", "inspect" }, "docker.sock" },
	{ "nerdctl", engine_inspect, { "nerdctl", "container", "inspect" }, "containerd-rootless" },
	{ "containerd", containerd_list, { "ctr", "namespaces", "ls", "-q" }, NULL },
	{ "runc", engine_list, { "runc", "list", "--format=json" }, "runc" },
	{ "crun", engine_list, { "crun", "list", "--format=json" }, "crun" },
};

const char *engine_name(size_t i)
{
	return engines[i].name;
}

/* If not, the client would fail, and its error would only distract. */
static bool engine_may_have(const struct engine *e, const struct user *user)
{
	char path[128];

	if (!e->user_entry || !*e->user_entry)
		return e->user_entry;
	snprintf(path, sizeof(path), "/run/user/%u/%s", user->uid, e->user_entry);
	return !access(path, F_OK);
}

int engine_ask(size_t i, const char *name, const struct user *as, uint64_t limit_ns,
	       struct engine_answer *answer)
{
	struct question q = { .name = name, .as = as, .limit_ns = limit_ns, .answer = answer };

	memset(answer, 0, sizeof(*answer));
	if (as && !engine_may_have(&engines[i], as))
		return -ENOPKG;
	return engines[i].ask(&engines[i], &q);
}
