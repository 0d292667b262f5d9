// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/prepare.h"

#include "base/log.h"
#include "base/procstat.h"
#include "store/stores.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int launch_begin(const struct subcommand *sub, void *options, const struct recording_options *r,
		 int argc, char **argv)
{
	int go_on = options_begin(sub, options, argc, argv);

	if (go_on <= 0)
		return go_on;
	log_set_level(r->verbose ? LOG_VERBOSE : LOG_NORMAL);
	if (procstat_is_own_namespace())
		return 1;
	log_error("/proc is not mounted, or is that of another PID namespace: its PIDs are not "
		  "those of our processes; try: mount -t proc proc /proc");
	return -1;
}

bool recorder_choose(const struct recording_options *o, struct user *caller,
		     struct launch_options *l)
{
	bool was_sudo;

	user_find_caller(caller, &was_sudo);
	if (was_sudo)
		l->caller = caller;
	if (was_sudo && !o->record_as_root)
		l->record_as = caller;
	return was_sudo;
}

static void run_fill_in(struct run *run, const struct recording_options *o,
			const struct user *caller)
{
	run_describe(run);
	snprintf(run->user, sizeof(run->user), "%s", caller->name);
	run->uid = caller->uid;
	run->name = o->name;
	run->job = o->job;
	run->note = o->note;
	memcpy(run->tags, o->tags.list, sizeof(o->tags.list));
	run->nr_tags = o->tags.nr;
}

/* NULL: the run is not kept. */
static const char *store_choose(const struct recording_options *o, const struct user *caller,
				const char *host)
{
	if (o->store.is_off)
		return NULL;
	return o->store.path ? o->store.path : user_store(caller, host, o->record_as_root);
}

void launch_prepare(struct launch_options *l, const struct recording_options *o,
		    const struct user *caller, struct run *run)
{
	struct collector_options *c = &l->collector;
	struct request *q = &l->request;
	struct recorder_options *r = &l->recorder;

	run_fill_in(run, o, caller);
	l->run = run;
	request_init(q);
	q->wanted = o->wanted;
	q->interval_ns = o->interval_ns;
	q->process_samples = o->process_samples;
	q->stalled_after_ns = o->stalled_after_ns;
	q->stalled_below_ppm = o->stalled_below_ppm;
	q->pss_ppm = o->pss_ppm;
	q->exact_peak = o->exact_peak;
	q->net_peers = o->net_peers;
	q->no_args = o->no_args;
	q->hides_others = user_borrows_rights();
	q->shown_to = caller->uid;
	c->verbose = o->verbose;
	c->max_tasks = o->max_tasks;
	c->inject_misses = o->inject_misses;
	c->inject_free_misses = o->inject_free_misses;
	c->slow_pss_ms = o->slow_pss_ms;
	c->refusals = o->refusals;
	memcpy(r->outputs, o->outputs, sizeof(o->outputs));
	r->nr_outputs = o->nr_outputs;
	r->outputs_are_defaults = o->outputs_are_defaults;
	r->force = o->force;
	r->on_stall = (struct event_command){ "on-stall", "BPFMON_STALL_REASON", o->on_stall, -1 };
	r->on_limit = (struct event_command){ "on-limit", "BPFMON_LIMIT", NULL, -1 };
	r->store = store_choose(o, caller, run->host);
	r->quiet = o->quiet;
	r->live = o->live;
	r->template = o->template;
	r->as_user = l->record_as ? caller->name : NULL;
}
