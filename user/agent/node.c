// SPDX-License-Identifier: BSD-2-Clause
#include "agent/node.h"
#include "base/memory.h"
#include "measure/live_processes.h"
#include "measure/needed_watch.h"
#include "measure/record.h"
#include "measure/resume.h"

#include "agent/agent_stream.h"
#include "base/clock.h"
#include "run/job_id.h"
#include "waits/waits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns a rule for a job that no row of the table makes. */
static struct rules_job node_job_name(const char *id, const char *name)
{
	struct rules_job rule = { .uid = -1 };

	snprintf(rule.kind, sizeof(rule.kind), "%s", id);
	snprintf(rule.id, sizeof(rule.id), "%s", id);
	snprintf(rule.name, sizeof(rule.name), "%s", name);
	return rule;
}

/*
 * Returns the first @depth components of @path, which are the job's cgroup; NULL if out of memory.
 */
static char *cgroup_of_job(const char *path, unsigned depth)
{
	const char *end = path;

	for (unsigned i = 0; i < depth && *end; i++)
		end = strchrnul(end + 1, '/');
	return depth ? memory_strndup(path, (size_t)(end - path)) : memory_strdup(path);
}

/*
 * Only the metrics of accounts and drains: others would read files for each job. The energy of the
 * machine is read at each drain, and told by the node alone.
 */
static void metrics_of_view(const struct node *n, const struct node_job *j, struct metric_set *set)
{
	const struct metric_set *usable = &n->books->tracker.usable;

	for (int i = 0; i < NR_METRICS; i++) {
		const enum metric_source source = metric_get((enum metric_id)i)->source;

		if (metric_has(usable, (enum metric_id)i) &&
		    (!metric_source_get(source)->of_files ||
		     (source == SOURCE_HOST_ENERGY && !j->above)) &&
		    i != M_net_sockets)
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
					     .cgroup_id = cgroups_id_of(&n->cgroups, j->cgroup),
					     .is_adopted = !n->is_started && j->above,
					     .is_nested = j->above && j->above != &n->whole,
					     .within = j->above ? j->above->subject.run.id : NULL };
	user_name_find(j->rule.uid, subject->user, sizeof(subject->user));
	slurm_subject_label(subject, &j->rule);
	run_describe_machine(run);
	gethostname(run->host, sizeof(run->host) - 1);
	snprintf(run->user, sizeof(run->user), "%s", subject->user);
	run->uid = j->rule.uid >= 0 ? (uid_t)j->rule.uid : 0;
	run->name = j->rule.name;
	run->job = j->rule.id;
	run->cgroup = j->cgroup ? j->cgroup : "/";
	run->hierarchy = n->hierarchy;
	run->interval_ns = n->interval_ns;
	metrics_of_view(n, j, &run->wanted);
	run->of_node = &subject->label;
}

/* Only a hierarchy with the memory controller has the memory of a job. */
static bool hierarchy_has_memory(const struct node *n)
{
	return !strcmp(n->hierarchy, "unified") || !strcmp(n->hierarchy, "memory");
}

static bool node_job_find_folder(const struct node *n, const struct node_job *j, struct cgroup *cg)
{
	int length;

	if (!j->is_one_cgroup)
		return false;
	cg->is_v2 = !strcmp(n->hierarchy, "unified");
	length = snprintf(cg->path, sizeof(cg->path), "%s%s", n->cgroups.point, j->cgroup);
	return length < (int)sizeof(cg->path);
}

/*
 * Records the memory need of the job from its cgroup, if the job has used CPU since the last read.
 * The PSS of its processes would cost too much.
 */
static void node_job_watch_needed(const struct node *n, struct node_job *j)
{
	struct needed_seen *seen = &j->view.tally.summary.seen;
	const uint64_t cpu_ns = j->view.tally.totals.cpu;
	uint64_t bytes, most;
	struct cgroup cg;

	if ((j->has_looked && cpu_ns == j->looked_cpu_ns) || !node_job_find_folder(n, j, &cg))
		return;
	j->looked_cpu_ns = cpu_ns;
	j->has_looked = cgroup_read_needed(&cg, seen->cgroup_bytes, &bytes, &most);
	if (!j->has_looked)
		return;
	needed_record_cgroup(seen, bytes, j->view.smp.elapsed_ns);
	seen->has_cgroup_most = most;
	seen->cgroup_most_bytes = most;
}

static void node_job_sample(const struct node *n, struct node_job *j, uint64_t now_ns)
{
	j->view.has_block_io = n->counts_blocks;
	tally_view_make_sample(&j->view, now_ns);
	node_job_watch_needed(n, j);
	tally_view_put_sample(&j->view);
	live_processes_publish(&j->view);
	tally_view_note_stall(&j->view, j->view.smp.elapsed_ns);
}

bool node_job_read_limits(const struct node *n, struct node_job *j)
{
	struct cgroup cg;

	return node_job_find_folder(n, j, &cg) &&
	       cgroups_read_limits(&n->cgroups, &cg, j->looks > 1, &j->subject.label);
}

/* Adds the cgroup of @path. The memory of a job with several is in none of them. */
static void node_job_extend(struct node_job *j, const char *path, unsigned depth)
{
	char *own = cgroup_of_job(path, depth);

	if (own && j->cgroup && strcmp(own, j->cgroup) != 0) {
		j->is_one_cgroup = false;
		j->view.tally.summary.seen.has_cgroup = false;
		j->subject.label.bounds = (struct job_bounds){ 0 };
		stream_put_meta(j->subject.stream, &j->subject, NULL);
	}
	free(own);
}

/* Continues the job of the agent before. Returns false if there is none. */
static bool node_job_resume(struct node *n, struct node_job *j)
{
	struct node_before *before = n->before;
	const json_t *state = before ? json_object_get(before->jobs, j->rule.id) : NULL;

	if (!state ||
	    tally_view_resume(&j->view, json_object_get(state, "view"), before->same_books))
		return false;
	j->subject.label.is_adopted = json_is_true(json_object_get(state, "adopted"));
	if (before->gap)
		summary_set_gap(&j->view.tally.summary, before->gap);
	before->continued++;
	return true;
}

/* Also those that were removed since: their accounts must not count for another job. */
static void cgroups_resume(struct cgroups *c, const json_t *all)
{
	for (size_t i = 0; i < json_array_size(all); i++) {
		const json_t *one = json_array_get(all, i);

		cgroups_find_or_add(c, (uint64_t)json_integer_value(json_object_get(one, "id")),
				    json_string_value(json_object_get(one, "path")));
	}
}

/*
 * Begins a job within @above (NULL for the node) and writes its meta line. @path is its cgroup or
 * one below that; NULL if it has none.
 */
static void node_job_begin(struct node *n, struct node_job *j, struct rules_job rule,
			   const char *path, struct node_job *above)
{
	memset(j, 0, sizeof(*j));
	j->above = above;
	j->rule = rule;
	j->cgroup = path ? cgroup_of_job(path, rule.depth) : NULL;
	j->is_one_cgroup = j->cgroup && hierarchy_has_memory(n);
	node_job_describe(n, j);
	node_job_read_limits(n, j);
	tally_view_init(&j->view);
	tally_view_open(&j->view, &j->subject.run, n->books);
	tally_view_choose_metrics(&j->view);
	j->view.tally.gpu.has_all = !above;
	j->view.tally.summary.is_attached = j->subject.run.is_attached = true;
	j->view.is_idle = processes_are_idle;
	j->view.stall.after_ns = n->stalled_after_ns;
	j->view.stall.below_ppm = n->stalled_below_ppm;
	j->view.hides_others = true;
	j->view.shown_to = rule.uid >= 0 ? (uid_t)rule.uid : 0;
	j->view.observer = &stream_observer;
	j->view.observer_context = &j->subject;
	if (!node_job_resume(n, j))
		tally_view_begin(&j->view, clock_ns(CLOCK_MONOTONIC));
	stream_put_meta(n->stream, &j->subject, NULL);
}

/* Ends a job: writes its summary and releases everything but @j itself. */
static void node_job_end(const struct node *n, struct node_job *j)
{
	struct feed *f;

	/* the totals are those of the last drain and of removed accounts */
	node_job_sample(n, j, clock_ns(CLOCK_MONOTONIC));
	tally_view_note_losses(&j->view);
	tally_view_note_costs(&j->view);
	tally_view_put_summary(&j->view);
	feeds_flush(&j->view.feeds);
	while ((f = j->view.feeds.first)) {
		f->is_ended = true;
		feeds_remove(&j->view.feeds, f);
	}
	tally_view_done(&j->view);
	job_title_done(&j->title);
	free(j->cgroup);
}

#define LOOK_DRAINS 64 /* idle drains after which the existence of the cgroup is checked */
#define IDLE_DRAINS 2  /* idle drains after which the last use of exited tasks has been counted */

int node_open(struct node *n, struct books *books, const struct cgroup_target *root,
	      const struct rules *rules, struct stream *stream, uint64_t interval_ns,
	      struct node_before *before)
{
	int err;

	memset(n, 0, sizeof(*n));
	n->before = before;
	n->books = books;
	n->rules = rules;
	n->stream = stream;
	n->interval_ns = interval_ns;
	snprintf(n->hierarchy, sizeof(n->hierarchy), "%s",
		 root->cg.is_v2 ? "unified" : root->controller);
	node_job_begin(n, &n->whole, node_job_name("node", "the whole node"), NULL, NULL);
	node_job_begin(n, &n->other, node_job_name("other", "cgroups without a rule"), NULL,
		       &n->whole);
	n->counts_blocks = metric_set_has_source(&books->tracker.usable, SOURCE_BLOCK);
	err = cgroups_open(&n->cgroups, root);
	if (!err)
		cgroups_resume(&n->cgroups, before->cgroups);
	return err;
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
		if ((strcmp(j->rule.name, name) != 0 && !job_id_is(j->rule.id, name)) ||
		    !listener_sees(l, &j->subject))
			continue;
		found = j;
		nr++;
	}
	return nr == 1 ? found : NULL;
}

/* Returns the job of @rule; begins it within @above if it is new. */
static struct node_job *node_job_get(struct node *n, const struct rules_job *rule, const char *path,
				     struct node_job *above)
{
	struct node_job *j = node_find(n, rule->id);

	if (j) {
		node_job_extend(j, path, rule->depth);
		return j;
	}
	j = memory_calloc(1, sizeof(*j));
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

static void cgroup_assign(struct node *n, struct known_cgroup *one)
{
	struct rules_job found[RULES_JOBS];
	struct node_job *j = &n->whole;
	size_t nr = one->path ? slurm_rules_find(n, one->path, found) : 0;

	for (size_t i = 0; i < nr; i++)
		j = node_job_get(n, &found[i], one->path, j);
	one->job = nr ? j : &n->other;
	one->job->nr_cgroups++;
	one->gap = one->path ? rules_find_gap(n->rules, one->path) : 0;
}

/*
 * Returns the cgroup of an account, adding it if it is new; NULL if out of memory, or if the id is
 * 0.
 */
static struct known_cgroup *cgroup_get(struct node *n, uint64_t id)
{
	struct known_cgroup *one = cgroups_find(&n->cgroups, id);

	if (!one && id)
		one = cgroups_find_or_add(&n->cgroups, id, NULL);
	if (one && !one->job)
		cgroup_assign(n, one);
	return one;
}

static struct node_job *job_of_account(struct node *n, const struct account_key *key)
{
	struct known_cgroup *one = cgroup_get(n, key->cgroup);

	return one ? one->job : &n->other;
}

void node_begun(struct node *n, const struct account_key *key)
{
	job_of_account(n, key);
}

void node_resume(struct node *n)
{
	struct accounts *all = &n->books->tracker.accounts;

	tracker_read_accounts(&n->books->tracker);
	for (size_t i = 0; i < all->nr; i++)
		job_of_account(n, &all->keys[i]);
}

void node_cgroup(struct node *n, const struct cgroup_name_event *e)
{
	struct known_cgroup *one;

	if (e->bytes == sizeof(e->path)) /* truncated: looked up when it has a process */
		return;
	if (e->bytes) {
		/* in a cgroup namespace the kernel's path begins above the visible root */
		cgroups_find_or_add(&n->cgroups, e->id, n->cgroups.is_whole ? e->path : NULL);
		return;
	}
	one = cgroups_find(&n->cgroups, e->id);
	if (one && one->job)
		one->is_gone = true;
	else if (one)
		cgroups_forget(&n->cgroups, one);
}

static void job_begin_drain(void *context, struct node_job *j)
{
	(void)context;
	tally_drain_begin(&j->view.tally);
}

void node_drain_begin(struct node *n)
{
	node_each(n, job_begin_drain, NULL);
	for (size_t i = 0; i < n->cgroups.nr; i++) {
		n->cgroups.all[i]->nr_accounts = 0;
		n->cgroups.all[i]->is_busy = false;
	}
}

void node_total(struct node *n, const struct account_key *key, const struct account *total)
{
	struct known_cgroup *one = cgroup_get(n, key->cgroup);
	struct account whole = *total;

	account_make_consistent(&whole);
	if (one) {
		one->nr_accounts++;
		one->is_busy |= whole.processes > 0;
	}
	for (struct node_job *j = one ? one->job : &n->other; j; j = j->above)
		tally_total(&j->view.tally, total);
}

void node_slice(struct node *n, const struct slice *slice)
{
	for (struct node_job *j = job_of_account(n, &slice->account); j; j = j->above)
		tally_slice(&j->view.tally, slice);
}

static void job_end_drain(void *context, struct node_job *j)
{
	(void)context;
	tally_view_drain_end(&j->view);
}

void node_drain_end(struct node *n)
{
	node_each(n, job_end_drain, NULL);
	for (size_t i = 0; i < n->cgroups.nr; i++) {
		struct known_cgroup *one = n->cgroups.all[i];

		one->idle_drains = one->is_busy ? 0 : one->idle_drains + 1;
	}
	n->has_drained = true;
}

void node_ended(struct node *n, const struct process_record *r)
{
	for (struct node_job *j = job_of_account(n, &r->account); j; j = j->above)
		tally_take_account(&j->view.tally, &n->books->gpus, r->serial);
}

void node_oom(struct node *n, const struct oom_event *e)
{
	const struct oom_kill k = oom_kill_read(e, 0);

	for (struct node_job *j = job_of_account(n, &e->account); j; j = j->above)
		tally_view_oom(&j->view, &k, e->time_ns);
}

void node_removed(struct node *n, const struct account_key *key, const struct account *total)
{
	for (struct node_job *j = job_of_account(n, key); j; j = j->above)
		account_add(&j->view.tally.removed, total);
}

/* Removes accounts that belong to the cgroup but to no run; the owning run removes the others. */
static void accounts_remove(struct node *n, const struct known_cgroup *one)
{
	const struct accounts *all = &n->books->tracker.accounts;
	struct account total;

	for (size_t i = 0; i < all->nr; i++) {
		const struct account_key key = all->keys[i];

		if (key.cgroup != one->id || books_owner(n->books, &key) ||
		    tracker_remove_account(&n->books->tracker, &key, &total))
			continue;
		account_make_consistent(&total);
		node_removed(n, &key, &total);
	}
}

/* Returns whether nothing of the cgroup is left to be counted. */
static bool cgroup_is_over(struct node *n, struct known_cgroup *one)
{
	if (!one->job || one->idle_drains < IDLE_DRAINS)
		return false;
	/* in case the removal hook is missing, or its event was lost */
	if (!one->is_gone && one->idle_drains % LOOK_DRAINS == IDLE_DRAINS)
		one->is_gone = !cgroups_has_id(&n->cgroups, one->id);
	if (!one->is_gone)
		return false;
	if (one->nr_accounts)
		accounts_remove(n, one);
	return !one->nr_accounts;
}

/* Returns whether a job has ended: it is empty, and none of its cgroups was created again. */
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
	node_job_end(n, j);
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
	while (*at) /* the list is newest first, so inner jobs precede the outer ones */
		if (node_job_is_over(n, *at))
			node_job_remove(n, at);
		else
			at = &(*at)->next;
}

static void job_put_sample(void *context, struct node_job *j)
{
	const struct node *n = context;

	if (j->view.start_ns > n->books->tracker.began_ns) /* its first drain is the next one */
		return;
	node_job_sample(n, j, n->books->tracker.began_ns);
	feeds_flush(&j->view.feeds);
}

void node_publish(struct node *n)
{
	books_consume(n->books);
	node_block_read(n);
	node_each(n, job_put_sample, n);
}

void node_start(struct node *n)
{
	n->before = NULL;
	n->is_started = true;
}

void node_end(struct node *n)
{
	while (n->jobs) {
		struct node_job *j = n->jobs;

		n->jobs = j->next;
		j->view.tally.summary.complete = false;
		snprintf(j->view.tally.summary.reason, sizeof(j->view.tally.summary.reason),
			 "the agent was stopped");
		node_job_end(n, j);
		free(j);
	}
	node_job_end(n, &n->other);
	node_job_end(n, &n->whole);
}

void node_done(struct node *n)
{
	cgroups_done(&n->cgroups);
}
