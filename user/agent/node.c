// SPDX-License-Identifier: BSD-2-Clause
#include "agent/node.h"

#include "agent/agent_stream.h"
#include "base/clock.h"
#include "waits/waits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The job that has the cgroup @id, or NULL. */
static struct node_job *node_job_of(const struct node *n, uint64_t id)
{
	const struct known_cgroup *one = cgroups_find(&n->cgroups, id);

	return one ? one->job : NULL;
}

static void block_begin(void *context, struct node_job *j)
{
	(void)context;
	block_io_begin(&j->job.block_io);
}

/* Of a cgroup that is not known any more, as of late writeback, the node has it alone. */
static struct node_job *job_of_block(struct node *n, const struct block_key *key)
{
	struct node_job *j = node_job_of(n, key->cgroup);

	return j ? j : &n->whole;
}

static void block_share(void *context, const struct block_key *key, const struct block_count *count)
{
	for (struct node_job *j = job_of_block(context, key); j; j = j->above)
		block_io_add(&j->job.block_io, key, count);
}

/* Reads what there is for all jobs, which their samples then have. */
static void node_block_read(struct node *n)
{
	if (!n->counts_blocks)
		return;
	node_each(n, block_begin, NULL);
	tracker_each_block(&n->books->tracker, block_share, n);
}

static void block_end(void *context, const struct block_key *key, const struct block_count *count)
{
	struct node *n = context;
	const struct known_cgroup *one = cgroups_find(&n->cgroups, key->cgroup);

	if (!one || !one->is_over)
		return;
	for (struct node_job *j = one->job; j; j = j->above)
		block_io_add_ended(&j->job.block_io, key, count);
	tracker_block_remove(&n->books->tracker, key);
}

/* The same, and keeps for good what cgroups have that are over. */
static void node_block_settle(struct node *n)
{
	if (!n->counts_blocks)
		return;
	tracker_each_block(&n->books->tracker, block_end, n);
	node_block_read(n);
}

/* A job that no rule of the table makes: its id, kind and name. */
static struct rules_job node_job_name(const char *id, const char *name)
{
	struct rules_job rule = { .uid = -1 };

	snprintf(rule.kind, sizeof(rule.kind), "%s", id);
	snprintf(rule.id, sizeof(rule.id), "%s", id);
	snprintf(rule.name, sizeof(rule.name), "%s", name);
	return rule;
}

/* The first @depth components of @path, which are the job's own. NULL without memory. */
static char *cgroup_of_job(const char *path, unsigned depth)
{
	const char *end = path;

	for (unsigned i = 0; i < depth && *end; i++)
		end = strchrnul(end + 1, '/');
	return depth ? strndup(path, (size_t)(end - path)) : strdup(path);
}

/* Those that the accounts and the drain have: for others each job would read files. */
static void metrics_of_view(const struct node *n, struct metric_set *set)
{
	const struct metric_set *usable = &n->books->tracker.usable;

	for (int i = 0; i < NR_METRICS; i++) {
		enum metric_source source = metric_get((enum metric_id)i)->source;

		if (metric_has(usable, (enum metric_id)i) && source != SOURCE_PROCFS &&
		    source != SOURCE_CGROUP && source != SOURCE_HOST)
			metric_put(set, (enum metric_id)i);
	}
}

static void node_job_describe(struct node *n, struct node_job *j)
{
	struct subject *subject = &j->subject;
	struct run *run = &subject->run;

	subject->stream = n->stream;
	subject->label = (struct job_label){ .id = j->rule.id,
					     .kind = j->rule.kind,
					     .name = j->rule.name,
					     .cgroup = j->cgroup,
					     .uid = j->rule.uid,
					     .user = subject->user,
					     .is_adopted = !n->is_started && j->above };
	user_name_of(j->rule.uid, subject->user, sizeof(subject->user));
	run_describe_machine(run);
	gethostname(run->host, sizeof(run->host) - 1);
	snprintf(run->user, sizeof(run->user), "%s", subject->user);
	run->uid = j->rule.uid >= 0 ? (uid_t)j->rule.uid : 0;
	run->name = j->rule.name;
	run->job = j->rule.id;
	run->cgroup = j->cgroup ? j->cgroup : "/";
	run->hierarchy = n->hierarchy;
	run->interval_ns = n->interval_ns;
	metrics_of_view(n, &run->wanted);
	run->of_node = &subject->label;
}

/* Where the memory of the job is: only a hierarchy with that controller has it. */
static const struct cgroup *folder_of_job(const struct node *n, struct node_job *j)
{
	struct cgroup *cg = &j->folder;
	int length;

	cg->is_v2 = !strcmp(n->hierarchy, "unified");
	if (!j->cgroup || (!cg->is_v2 && strcmp(n->hierarchy, "memory") != 0))
		return NULL;
	length = snprintf(cg->path, sizeof(cg->path), "%s%s", n->cgroups.point, j->cgroup);
	return length < (int)sizeof(cg->path) ? cg : NULL;
}

/* The cgroup @path, of @depth components or more, belongs to it, too: the memory of a job that is
 * in several is in none of them. */
static void node_job_extend(struct node_job *j, const char *path, unsigned depth)
{
	char *own = cgroup_of_job(path, depth);

	if (own && j->cgroup && strcmp(own, j->cgroup) != 0) {
		j->spec.cgroup = NULL;
		j->job.summary.seen.has_cgroup = false;
	}
	free(own);
}

/*
 * It begins now in @above (NULL: it is the node): its meta line is written. @path: of its cgroup,
 * or of one in that; NULL: it has none.
 */
static void node_job_begin(struct node *n, struct node_job *j, struct rules_job rule,
			   const char *path, struct node_job *above)
{
	char why[256];

	memset(j, 0, sizeof(*j));
	j->above = above;
	j->rule = rule;
	j->cgroup = path ? cgroup_of_job(path, rule.depth) : NULL;
	j->spec = (struct job_spec){
		.run = &j->subject.run,
		.is_view = true,
		.stream_fd = -1,
		.span_fd = -1,
		.is_idle = processes_are_idle,
		.stalled_after_ns = n->stalled_after_ns,
		.stalled_below_ppm = n->stalled_below_ppm,
		.hides_others = true,
		.shown_to = rule.uid >= 0 ? (uid_t)rule.uid : 0,
		.cgroup = folder_of_job(n, j),
	};
	node_job_describe(n, j);
	job_init(&j->job);
	job_open(&j->job, &j->spec, n->books, why, sizeof(why)); /* of a view it cannot fail */
	j->job.observer = &stream_observer;
	j->job.observer_context = &j->subject;
	job_write_begin(&j->job, clock_ns(CLOCK_MONOTONIC));
	stream_put_meta(n->stream, &j->subject, NULL);
}

/* It is over: its summary is written, and all that it has is released but @j itself. */
static void node_job_end(struct node_job *j)
{
	job_close(&j->job);
	job_close_step(&j->job); /* a view has nothing to wait for */
	feeds_flush(&j->job.feeds);
	while (j->job.feeds.first) {
		j->job.feeds.first->is_ended = true;
		feeds_remove(&j->job.feeds, j->job.feeds.first);
	}
	job_done(&j->job);
	free(j->cgroup);
}

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
