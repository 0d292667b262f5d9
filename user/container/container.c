// SPDX-License-Identifier: BSD-2-Clause
#include "container/container.h"

#include "base/clock.h"
#include "container/capture.h"
#include "container/engine.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CLIENT_LIMIT_NS (10 * NSEC_PER_SEC) /* podman alone takes a second on a busy machine */

struct query {
	size_t engine;
	const struct user *as; /* NULL: the effective user */
	int err;
	bool is_repeated; /* an earlier query has found the same container */
	struct engine_answer answer;
};

struct container_search {
	const char *name; /* without the engine before it */
	size_t nr;
	struct query queries[2 * NR_ENGINES]; /* of the engines that are installed */
	FILE *why;
};

static void query_put_name(const struct container_search *s, const struct query *a)
{
	fprintf(s->why, "%s%s%s", engine_name(a->engine), a->as ? " of " : "",
		a->as ? a->as->name : "");
}

/* A container of docker is one of containerd and runc, too: the first query that finds it counts.
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
	a->err = engine_ask(engine, s->name, as, CLIENT_LIMIT_NS, &a->answer);
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

/* "podman, podman of alice or runc": the engines that answered @err. */
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
		fprintf(s->why, "%scannot ask ", before);
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
		fprintf(s->why, " are called '%s', or have an id that begins so", s->name);
		return -ENOTUNIQ;
	}
	if (!search_count(s, -ENOENT)) {
		search_put_failures(s, "");
		return -EIO;
	}
	fprintf(s->why, "there is no container '%s' in ", s->name);
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
		fprintf(s->why, ": write its id instead");
	else
		fprintf(s->why, ": write %s:%s or %s:%s", engine_name(s->queries[first].engine),
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

/* Takes "ENGINE:" off the name; its index, or NR_ENGINES. */
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

/* Where clients are searched for, as a message names it. */
static const char *search_folders(void)
{
	return user_rights_are_lent() ? CAPTURE_PATH : "PATH";
}

static int search_run(struct container_search *s, const struct user *caller, struct container *c)
{
	const size_t only = search_take_engine(s);
	const bool has_own = !geteuid() && caller->uid;

	if (!*s->name || *s->name == '-' || strchr(s->name, ':')) {
		fprintf(s->why, "'%s' is not the name of a container", s->name);
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

	s.why = fmemopen(why, size, "w");
	if (!s.why)
		return -errno;
	err = search_run(&s, caller, c);
	fclose(s.why);
	why[size - 1] = '\0';
	return err;
}
