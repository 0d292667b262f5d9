// SPDX-License-Identifier: BSD-2-Clause
#include "container/container.h"

#include "base/clock.h"
#include "container/capture.h"
#include "container/engine.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_NS (10 * NSEC_PER_SEC) /* podman alone takes a second on a busy machine */

struct asked {
	size_t engine;
	const struct user *as; /* NULL: as we are */
	int err;
	bool is_known; /* the same container as an earlier one told of */
	struct engine_answer answer;
};

struct search {
	const char *name; /* without the engine before it */
	size_t nr;
	struct asked asked[2 * NR_ENGINES]; /* those that are installed */
	FILE *why;
};

static void put_asked(const struct search *s, const struct asked *a)
{
	fprintf(s->why, "%s%s%s", engine_name(a->engine), a->as ? " of " : "",
		a->as ? a->as->name : "");
}

/* docker's are containerd's and runc's, too: whoever was asked first has it. */
static bool is_known(const struct search *s, const struct engine_answer *a)
{
	for (size_t i = 0; i < s->nr; i++)
		if (!s->asked[i].err && !strcmp(s->asked[i].answer.id, a->id) &&
		    s->asked[i].answer.pid == a->pid)
			return true;
	return false;
}

static void ask(struct search *s, size_t engine, const struct user *as)
{
	struct asked *a = &s->asked[s->nr];

	a->engine = engine;
	a->as = as;
	a->err = engine_ask(engine, s->name, as, PATIENCE_NS, &a->answer);
	if (a->err == -ENOPKG)
		return;
	a->is_known = !a->err && is_known(s, &a->answer);
	s->nr++;
}

static size_t count(const struct search *s, int err)
{
	size_t nr = 0;

	for (size_t i = 0; i < s->nr; i++)
		nr += s->asked[i].err == err && !s->asked[i].is_known;
	return nr;
}

/* "podman, podman of alice or runc": those that gave this answer. */
static void put_all(const struct search *s, int err, const char *last)
{
	size_t left = count(s, err);

	for (size_t i = 0; i < s->nr; i++) {
		if (s->asked[i].err != err || s->asked[i].is_known)
			continue;
		put_asked(s, &s->asked[i]);
		left--;
		fprintf(s->why, "%s", left > 1 ? ", " : left ? last : "");
	}
}

static bool has_failed(const struct asked *a)
{
	return a->err && a->err != -ENOENT && a->err != -ENOTUNIQ;
}

static void put_failures(const struct search *s, const char *before)
{
	for (size_t i = 0; i < s->nr; i++) {
		if (!has_failed(&s->asked[i]))
			continue;
		fprintf(s->why, "%scannot ask ", before);
		put_asked(s, &s->asked[i]);
		fprintf(s->why, ": %s", s->asked[i].answer.why);
		before = "; ";
	}
}

static int not_found(const struct search *s)
{
	if (count(s, -ENOTUNIQ)) {
		fprintf(s->why, "several containers of ");
		put_all(s, -ENOTUNIQ, " and ");
		fprintf(s->why, " are called '%s', or have an id that begins so", s->name);
		return -ENOTUNIQ;
	}
	if (!count(s, -ENOENT)) {
		put_failures(s, "");
		return -EIO;
	}
	fprintf(s->why, "there is no container '%s' in ", s->name);
	put_all(s, -ENOENT, " or ");
	put_failures(s, "; ");
	return -ENOENT;
}

static int several(const struct search *s)
{
	size_t first = s->nr, other = s->nr;

	for (size_t i = s->nr; i-- > 0;)
		if (!s->asked[i].err && !s->asked[i].is_known) {
			other = first;
			first = i;
		}
	fprintf(s->why, "'%s' is a container of ", s->name);
	put_all(s, 0, " and of ");
	if (s->asked[first].engine == s->asked[other].engine)
		fprintf(s->why, ": write its id instead");
	else
		fprintf(s->why, ": write %s:%s or %s:%s", engine_name(s->asked[first].engine),
			s->name, engine_name(s->asked[other].engine), s->name);
	return -ENOTUNIQ;
}

static int conclude(const struct search *s, struct container *c)
{
	const struct asked *a = s->asked;

	if (count(s, 0) > 1)
		return several(s);
	while (a < s->asked + s->nr && a->err)
		a++;
	if (a == s->asked + s->nr)
		return not_found(s);
	if (!a->answer.pid) {
		fprintf(s->why, "the container '%s' of ", s->name);
		put_asked(s, a);
		fprintf(s->why, " is not running (%s)", a->answer.state);
		return -ESRCH;
	}
	c->engine = engine_name(a->engine);
	c->pid = a->answer.pid;
	snprintf(c->id, sizeof(c->id), "%s", a->answer.id);
	return 0;
}

/* The engine named before it, or NR_ENGINES. */
static size_t take_engine(struct search *s)
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

/* Where the clients are looked for. */
static const char *folders(void)
{
	return user_rights_are_lent() ? CAPTURE_PATH : "PATH";
}

static int find(struct search *s, const struct user *caller, struct container *c)
{
	const size_t only = take_engine(s);
	const bool has_own = !geteuid() && caller->uid;

	if (!*s->name || *s->name == '-' || strchr(s->name, ':')) {
		fprintf(s->why, "'%s' is not the name of a container", s->name);
		return -EINVAL;
	}
	for (size_t i = 0; i < NR_ENGINES; i++) {
		if (only != NR_ENGINES && only != i)
			continue;
		ask(s, i, NULL);
		if (has_own)
			ask(s, i, caller);
	}
	if (s->nr)
		return conclude(s, c);
	if (only != NR_ENGINES)
		fprintf(s->why, "%s is not installed, or not in %s", engine_name(only), folders());
	else
		fprintf(s->why, "no container engine is installed, or none is in %s", folders());
	return -ENOPKG;
}

int container_find(const char *name, const struct user *caller, struct container *c, char *why,
		   size_t size)
{
	struct search s = { .name = name };
	int err;

	s.why = fmemopen(why, size, "w");
	if (!s.why)
		return -errno;
	err = find(&s, caller, c);
	fclose(s.why);
	why[size - 1] = '\0';
	return err;
}
