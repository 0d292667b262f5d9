// SPDX-License-Identifier: BSD-2-Clause
#include "agent/node.h"

#include "agent/node_block.h"
#include "agent/node_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_DRAINS 64 /* without a process: then it looks whether the cgroup is there */
#define IDLE_DRAINS 2  /* without a process: what the last tasks used has been counted by then */

int node_open(struct node *n, struct books *books, const struct cgroup_target *root,
	      const struct rules *rules, struct stream *stream, uint64_t interval_ns)
{
	memset(n, 0, sizeof(*n));
	n->books = books;
	n->rules = rules;
	n->stream = stream;
	n->interval_ns = interval_ns;
	snprintf(n->hierarchy, sizeof(n->hierarchy), "%s",
		 root->cg.is_v2 ? "unified" : root->controller);
	node_job_begin(n, &n->whole, node_job_name("node", "the whole node"), NULL, NULL);
	node_job_begin(n, &n->other, node_job_name("other", "what no rule knows"), NULL, &n->whole);
	n->counts_blocks = metric_set_has_source(&books->tracker.usable, SOURCE_BLOCK);
	return cgroups_open(&n->cgroups, root);
}

void node_set_rules(struct node *n, const struct rules *rules)
{
	n->rules = rules;
}

static struct node_job *node_find(struct node *n, const char *id)
{
	struct node_job *j = n->jobs;

	while (j && strcmp(j->rule.id, id) != 0)
		j = j->next;
	if (!j && !strcmp(n->whole.rule.id, id))
		return &n->whole;
	return !j && !strcmp(n->other.rule.id, id) ? &n->other : j;
}

struct node_job *node_find_named(struct node *n, const char *name, const struct listener *l)
{
	struct node_job *found = node_find(n, name);
	size_t nr = 0;

	if (found)
		return listener_sees(l, &found->subject) ? found : NULL;
	for (struct node_job *j = n->jobs; j; j = j->next) {
		if (strcmp(j->rule.name, name) != 0 || !listener_sees(l, &j->subject))
			continue;
		found = j;
		nr++;
	}
	return nr == 1 ? found : NULL;
}

void node_each(struct node *n, void (*each)(void *context, struct node_job *j), void *context)
{
	each(context, &n->whole);
	each(context, &n->other);
	for (struct node_job *j = n->jobs; j; j = j->next)
		each(context, j);
}

/* The job of the rule @rule within @above, which begins now unless it is there. */
static struct node_job *node_job_get(struct node *n, const struct rules_job *rule, const char *path,
				     struct node_job *above)
{
	struct node_job *j = node_find(n, rule->id);

	if (j) {
		node_job_extend(j, path, rule->depth);
		return j;
	}
	j = calloc(1, sizeof(*j));
	if (!j) {
		n->forgone++;
		return above;
	}
	node_job_begin(n, j, *rule, path, above);
	j->next = n->jobs;
	n->jobs = j;
	n->nr_jobs++;
	n->nr_begun++;
	above->nr_within++;
	return j;
}

/* Gives @one its job, by its path. */
static void cgroup_assign(struct node *n, struct known_cgroup *one)
{
	struct rules_job found[RULES_JOBS];
	struct node_job *j = &n->whole;
	size_t nr = one->path ? rules_find(n->rules, one->path, found) : 0;

	for (size_t i = 0; i < nr; i++)
		j = node_job_get(n, &found[i], one->path, j);
	one->job = nr ? j : &n->other;
	one->job->nr_cgroups++;
	one->gap = one->path ? rules_find_gap(n->rules, one->path) : 0;
}

/* The cgroup of an account, known from then on. NULL: there is no memory, or it has no cgroup. */
static struct known_cgroup *cgroup_meet(struct node *n, uint64_t id)
{
	struct known_cgroup *one = cgroups_find(&n->cgroups, id);

	if (!one && id)
		one = cgroups_learn(&n->cgroups, id, NULL);
	if (one && !one->job)
		cgroup_assign(n, one);
	return one;
}

static struct node_job *job_of_account(struct node *n, const struct account_key *key)
{
	struct known_cgroup *one = cgroup_meet(n, key->cgroup);

	return one ? one->job : &n->other;
}

struct node_job *node_job_of(const struct node *n, uint64_t id)
{
	const struct known_cgroup *one = cgroups_find(&n->cgroups, id);

	return one ? one->job : NULL;
}

void node_begun(struct node *n, const struct account_key *key)
{
	job_of_account(n, key);
}

void node_cgroup(struct node *n, const struct cgroup_name_event *e)
{
	struct known_cgroup *one;

	if (e->bytes == sizeof(e->path)) /* cut: it is looked up when it has a process */
		return;
	if (e->bytes) {
		/* in a namespace of cgroups the kernel's path begins above what is seen here */
		cgroups_learn(&n->cgroups, e->id, n->cgroups.is_whole ? e->path : NULL);
		return;
	}
	one = cgroups_find(&n->cgroups, e->id);
	if (one && one->job)
		one->is_gone = true;
	else if (one)
		cgroups_forget(&n->cgroups, one);
}

static void view_drain_begin(void *context, struct node_job *j)
{
	(void)context;
	job_drain_begin(&j->job);
}

void node_drain_begin(struct node *n)
{
	node_each(n, view_drain_begin, NULL);
	for (size_t i = 0; i < n->cgroups.nr; i++) {
		n->cgroups.all[i]->nr_accounts = 0;
		n->cgroups.all[i]->is_busy = false;
	}
}

void node_total(struct node *n, const struct account_key *key, const struct account *total)
{
	struct known_cgroup *one = cgroup_meet(n, key->cgroup);
	struct account whole = *total;

	account_untear(&whole);
	if (one) {
		one->nr_accounts++;
		one->is_busy |= whole.processes > 0;
	}
	for (struct node_job *j = one ? one->job : &n->other; j; j = j->above)
		job_total(&j->job, key, total);
}

void node_slice(struct node *n, const struct slice *slice)
{
	for (struct node_job *j = job_of_account(n, &slice->account); j; j = j->above)
		job_slice(&j->job, slice);
}

static void view_drain_end(void *context, struct node_job *j)
{
	(void)context;
	job_drain_end(&j->job);
}

void node_drain_end(struct node *n)
{
	node_each(n, view_drain_end, NULL);
	for (size_t i = 0; i < n->cgroups.nr; i++) {
		struct known_cgroup *one = n->cgroups.all[i];

		one->idle_drains = one->is_busy ? 0 : one->idle_drains + 1;
	}
	n->has_drained = true;
}

void node_oom(struct node *n, const struct oom_event *e)
{
	for (struct node_job *j = job_of_account(n, &e->account); j; j = j->above)
		job_oom(&j->job, e);
}

void node_removed(struct node *n, const struct account_key *key, const struct account *total)
{
	for (struct node_job *j = job_of_account(n, key); j; j = j->above)
		account_add(&j->job.removed, total);
}

/* Of the cgroup and of no run: the run that has the others removes those. */
static void accounts_remove(struct node *n, const struct known_cgroup *one)
{
	const struct accounts *all = &n->books->tracker.accounts;
	struct account total;

	for (size_t i = 0; i < all->nr; i++) {
		const struct account_key key = all->keys[i];

		if (key.cgroup != one->id || books_owner(n->books, &key) ||
		    tracker_remove_account(&n->books->tracker, &key, &total))
			continue;
		account_untear(&total);
		node_removed(n, &key, &total);
	}
}

/* True: nothing of it is left to be counted. */
static bool cgroup_is_over(struct node *n, struct known_cgroup *one)
{
	if (!one->job || one->idle_drains < IDLE_DRAINS)
		return false;
	/* where the hook of its removal is missing, or its event was lost */
	if (!one->is_gone && one->idle_drains % LOOK_DRAINS == IDLE_DRAINS)
		one->is_gone = !cgroups_has_id(&n->cgroups, one->id);
	if (!one->is_gone)
		return false;
	if (one->nr_accounts)
		accounts_remove(n, one);
	return !one->nr_accounts;
}

/* Of a job that is over: true if none of its cgroups has been made again. */
static bool node_job_is_over(const struct node *n, const struct node_job *j)
{
	return !j->nr_cgroups && !j->nr_within &&
	       !(j->cgroup && cgroups_has(&n->cgroups, j->cgroup, j->rule.depth));
}

static void node_job_remove(struct node *n, struct node_job **at)
{
	struct node_job *j = *at;

	*at = j->next;
	j->above->nr_within--;
	n->nr_jobs--;
	node_job_end(j);
	free(j);
}

static bool cgroups_find_over(struct node *n)
{
	bool is_any = false;

	for (size_t i = 0; i < n->cgroups.nr; i++) {
		n->cgroups.all[i]->is_over = cgroup_is_over(n, n->cgroups.all[i]);
		is_any |= n->cgroups.all[i]->is_over;
	}
	return is_any;
}

void node_settle(struct node *n)
{
	struct node_job **at = &n->jobs;

	if (!n->has_drained)
		return;
	n->has_drained = false;
	if (cgroups_find_over(n))
		node_block_settle(n);
	for (size_t i = n->cgroups.nr; i-- > 0;) {
		struct known_cgroup *one = n->cgroups.all[i];

		if (!one->is_over)
			continue;
		one->job->nr_cgroups--;
		cgroups_forget(&n->cgroups, one);
	}
	while (*at) /* those that began later come first: jobs within others */
		if (node_job_is_over(n, *at))
			node_job_remove(n, at);
		else
			at = &(*at)->next;
}

static void view_publish(void *context, struct node_job *j)
{
	const struct node *n = context;

	if (j->job.start_ns > n->books->tracker.began_ns) /* the first drain of it is the next */
		return;
	job_publish(&j->job);
	feeds_flush(&j->job.feeds);
}

void node_publish(struct node *n)
{
	node_block_read(n);
	node_each(n, view_publish, n);
}

void node_start(struct node *n)
{
	n->is_started = true;
}

void node_end(struct node *n)
{
	while (n->jobs) {
		struct node_job *j = n->jobs;

		n->jobs = j->next;
		j->job.summary.complete = false;
		snprintf(j->job.summary.reason, sizeof(j->job.summary.reason),
			 "the agent was stopped");
		node_job_end(j);
		free(j);
	}
	node_job_end(&n->other);
	node_job_end(&n->whole);
}

void node_done(struct node *n)
{
	cgroups_done(&n->cgroups);
}
