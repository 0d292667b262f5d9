// SPDX-License-Identifier: BSD-2-Clause
#include "measure/books.h"

#include "base/clock.h"
#include "base/memory.h"
#include "measure/images.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RETIRE_TRIES 1000 /* with pauses of 1 ms */

const struct account_key account_of_none;

static int ownership_compare(const void *key, const void *item)
{
	return account_key_compare(key, &((const struct ownership *)item)->account);
}

static struct account_key key_to_own(const struct books *b, const struct account_key *key)
{
	return b->whole_node ? (struct account_key){ .tree = key->tree } : *key;
}

static struct ownership *ownership_find(const struct books *b, const struct account_key *key)
{
	const struct account_key owned = key_to_own(b, key);

	if (!b->nr_owners)
		return NULL;
	return bsearch(&owned, b->owners, b->nr_owners, sizeof(*b->owners), ownership_compare);
}

void *books_owner(const struct books *b, const struct account_key *key)
{
	const struct ownership *o = ownership_find(b, key);

	if (o)
		return o->owner;
	return account_key_compare(key, &account_of_none) ? b->rest : NULL;
}

bool books_find_owned(const struct books *b, const void *owner, struct account_key *key)
{
	for (size_t i = 0; i < b->nr_owners; i++) {
		if (b->owners[i].owner != owner)
			continue;
		*key = b->owners[i].account;
		return true;
	}
	return false;
}

uint64_t books_new_tree(struct books *b)
{
	return (1ULL << 32) + b->nr_trees++; /* PIDs name the first trees */
}

int books_own(struct books *b, const struct account_key *key, void *owner)
{
	struct ownership *o = ownership_find(b, key);
	size_t at;

	if (o) {
		o->owner = owner;
		return 0;
	}
	o = memory_reallocarray(b->owners, b->nr_owners + 1, sizeof(*o));
	if (!o)
		return -ENOMEM;
	b->owners = o;
	for (at = b->nr_owners; at && account_key_compare(&o[at - 1].account, key) > 0; at--)
		o[at] = o[at - 1];
	o[at] = (struct ownership){ key_to_own(b, key), owner };
	b->nr_owners++;
	return 0;
}

void books_disown(struct books *b, const struct account_key *key)
{
	struct ownership *o = ownership_find(b, key);

	if (!o)
		return;
	tracker_kill_stop(&b->tracker, o->account.tree);
	b->nr_owners--;
	memmove(o, o + 1, (size_t)(b->owners + b->nr_owners - o) * sizeof(*o));
}

/* Completes an OOM event of which the hook knows only the PID. */
static void oom_event_complete(void *context, const struct process_record *r)
{
	struct oom_event *e = context;

	if (e->serial || r->tgid != e->pid || r->flags & PROCESS_ENDED)
		return;
	e->serial = r->serial;
	e->account = r->account;
	e->pid = r->pid;
	memcpy(e->comm, r->comm, sizeof(e->comm));
}

static void oom_report(struct books *b, struct oom_event e)
{
	void *owner;

	if (!e.serial)
		tracker_each_process(&b->tracker, oom_event_complete, &e);
	owner = e.serial ? books_owner(b, &e.account) : NULL;
	if (owner)
		b->ops->oom(owner, &e);
	if (e.serial && b->ops->node_oom)
		b->ops->node_oom(b->context, &e);
}

static void process_tell(struct books *b, const struct process_record *r)
{
	void *owner = books_owner(b, &r->account);

	if (owner)
		b->ops->process(owner, r);
	if (b->gpus.table && b->ops->node_ended && r->flags & PROCESS_ENDED)
		b->ops->node_ended(b->context, r);
}

static void process_report(struct books *b, const struct process_record *r)
{
	if (!gpu_desk_keep(&b->gpus, r, clock_ns(CLOCK_MONOTONIC)))
		process_tell(b, r);
}

void books_report_leavers(struct books *b, const void *owner)
{
	struct gpu_leaver *all = b->gpus.leavers;
	struct process_record r;

	for (size_t i = 0; owner && i < b->gpus.nr_leavers; i++)
		if (books_owner(b, &all[i].record.account) == owner)
			all[i].until_ns = 0;
	while (gpu_desk_next_leaver(&b->gpus, clock_ns(CLOCK_MONOTONIC), &r))
		process_tell(b, &r);
}

/* Events without call_counters are shorter. */
static void process_take(struct books *b, const void *data, size_t size)
{
	struct process_event e = { 0 };

	memcpy(&e, data, size < sizeof(e) ? size : sizeof(e));
	process_report(b, &e.rec);
}

static int event_take(void *context, void *data, size_t size)
{
	struct books *b = context;
	const __u32 *kind = data;

	switch (*kind) {
	case EVENT_PROCESS:
		process_take(b, data, size);
		break;
	case EVENT_OOM:
		oom_report(b, *(struct oom_event *)data);
		break;
	case EVENT_TARGET:
		b->ops->cgroup(b->context, data);
		break;
	case EVENT_EXEC:
		b->unnamed += images_add(&b->images, data, clock_ns(CLOCK_MONOTONIC)) != 0;
		break;
	case EVENT_BEGUN:
		if (b->ops->node_begun)
			b->ops->node_begun(b->context, &((struct account_event *)data)->account);
		break;
	case EVENT_MEMORY:
		if (b->ops->memory)
			b->ops->memory(b->context);
		break;
	case EVENT_EMPTY: /* even without a callback, the event wakes the loop, which checks */
		if (b->ops->node_empty)
			b->ops->node_empty(b->context, &((struct account_event *)data)->account);
		break;
	case EVENT_CGROUP_NEWS:
		b->ops->node_cgroup(b->context, data);
		break;
	default:
		break;
	}
	return 0;
}

void books_consume(struct books *b)
{
	tracker_consume(&b->tracker);
}

void books_name_process(struct books *b, uint32_t pid, uint64_t image)
{
	struct exec_event e;

	if (image_of_running((pid_t)pid, b->wants_args, &e))
		return;
	e.image = image;
	b->unnamed += images_add(&b->images, &e, clock_ns(CLOCK_MONOTONIC)) != 0;
}

static void name_seeded(void *context, const struct process_record *r)
{
	if (r->image == r->serial)
		books_name_process(context, r->pid, r->image);
}

void books_name_seeded(struct books *b)
{
	tracker_each_process(&b->tracker, name_seeded, b);
}

static void name_owned(void *context, const struct process_record *r)
{
	struct books *b = context;

	if (!(r->flags & PROCESS_ENDED) && r->pid && r->image && books_owner(b, &r->account) &&
	    !images_find(&b->images, r->image))
		books_name_process(b, r->pid, r->image);
}

void books_name_owned(struct books *b)
{
	tracker_each_process(&b->tracker, name_owned, b);
}

/* Reads from /proc what the process of @row runs, if there was no exec event. */
static void books_name_row(struct books *b, const struct drain_row *row)
{
	if (row->image == row->serial && !row->end_boot_ns && !images_find(&b->images, row->image))
		books_name_process(b, row->pid, row->image);
}

int books_retire(struct books *b, const struct account_key *key, const struct account_key *heir,
		 void (*record)(void *context, const struct process_record *r), void *context)
{
	const struct timespec pause = { .tv_nsec = NSEC_PER_MSEC };
	int moved = 1;

	/* a pass may miss an entry while others are deleted: repeat until one finds none */
	for (int i = 0; moved && i < RETIRE_TRIES; i++) {
		moved = tracker_retire(&b->tracker, key, heir, record, context);
		books_consume(b);
		if (moved == -EAGAIN) /* another CPU is about to send a record */
			nanosleep(&pause, NULL);
		else if (moved < 0)
			break;
	}
	return moved < 0 ? moved : 0;
}

/* The processes left have been moved to the heir's account. */
static void account_empty(struct account *a)
{
	account_make_consistent(a);
	a->moved_out += a->processes;
	a->processes = a->threads = 0;
}

int books_remove(struct books *b, const struct account_key *key, struct account *total)
{
	const struct accounts *all = &b->tracker.accounts;
	struct account one;
	int err = -ENOENT;

	if (!b->whole_node)
		return tracker_remove_account(&b->tracker, key, total);
	memset(total, 0, sizeof(*total));
	for (size_t i = 0; i < all->nr; i++) {
		if (all->keys[i].tree != key->tree ||
		    tracker_remove_account(&b->tracker, &all->keys[i], &one))
			continue;
		account_empty(&one);
		account_add(total, &one);
		b->ops->node_removed(b->context, &all->keys[i], &one);
		err = 0;
	}
	return err;
}

/* Before there are programs of the kernel or threads, which the reader of GPUs does not need. */
static void books_open_devices(struct books *b, const struct tracker_options *o)
{
	if (metric_set_has_source(&o->wanted, SOURCE_GPU) ||
	    metric_set_has_source(&o->wanted, SOURCE_GPU_DEVICE))
		b->gpus_err = gpu_desk_open(&b->gpus, o->interval_ns);
	if (metric_set_has_source(&o->wanted, SOURCE_ENERGY) ||
	    metric_set_has_source(&o->wanted, SOURCE_HOST_ENERGY))
		energy_meter_open(&b->energy);
}

static void books_drop_gpus(struct books *b)
{
	struct tracker *t = &b->tracker;

	for (int i = 0; i < NR_METRICS; i++) {
		const enum metric_source source = metric_get((enum metric_id)i)->source;

		if (source != SOURCE_GPU && source != SOURCE_GPU_DEVICE)
			continue;
		metric_drop(&t->usable, (enum metric_id)i);
		t->unusable[i] = "the process that reads GPUs cannot be started";
	}
}

int books_open(struct books *b, const struct tracker_options *o, const struct books_ops *ops,
	       void *context, char *why, size_t size)
{
	int err;

	memset(b, 0, sizeof(*b));
	b->ops = ops;
	b->context = context;
	b->wants_args = !o->no_args;
	b->by_cgroup = o->cgroup && !o->whole_node;
	b->whole_node = o->whole_node;
	err = images_init(&b->images);
	if (!err)
		books_open_devices(b, o);
	if (!err)
		err = tracker_open(&b->tracker, o, why, size);
	if (err)
		return err;
	if (b->gpus_err)
		books_drop_gpus(b);
	b->gpus.is_foreign = b->tracker.proc && gpus_why_foreign();
	b->gpus.is_closed = tracker_is_in_a_pid_namespace(&b->tracker);
	err = tracker_listen(&b->tracker, event_take, b);
	if (!err)
		return 0;
	snprintf(why, size, "the ring buffer cannot be mapped: %s", strerror(-err));
	return err;
}

void books_close(struct books *b)
{
	tracker_close(&b->tracker);
	gpu_desk_done(&b->gpus);
	energy_meter_done(&b->energy);
	images_done(&b->images);
	rows_done(&b->rows);
	free(b->owners);
	free(b->unread);
	memset(b, 0, sizeof(*b));
}

#define DRAIN_AGAIN 3 /* extra passes while a process is missing */
#define DRAIN_TRIES 3
#define HELD_UP_NS (NSEC_PER_MSEC / 2) /* tolerated wait for a CPU during a drain */
#define LONG_NS (10 * NSEC_PER_MSEC)   /* a longer drain would have to wait again */

static void row_keep(void *context, const struct drain_row *row)
{
	rows_add(context, row);
}

static void drain_time_note(struct books *b, uint64_t before_ns)
{
	b->drain_us[(b->tracker.drains - 1) % DRAIN_TIMES] =
		(uint32_t)((b->tracker.drain_ns_total - before_ns) / 1000);
}

static void unread_add(struct books *b, const struct account_key *key)
{
	struct account_key *all = b->unread;
	size_t room = b->room_unread ? b->room_unread * 2 : 64;

	if (b->nr_unread == b->room_unread) {
		all = memory_reallocarray(all, room, sizeof(*all));
		if (!all) {
			b->rows.lost++;
			return;
		}
		b->unread = all;
		b->room_unread = room;
	}
	all[b->nr_unread++] = *key;
}

/*
 * Returns true if the process is alive according to its record, and adds its account to the unread
 * ones.
 */
static bool is_alive(void *context, const struct met *m)
{
	const struct drain_row key = { .signal = m->signal, .serial = m->serial };
	struct books *b = context;
	struct process_record r;

	if (tracker_process(&b->tracker, &key, &r, NULL) || r.flags & PROCESS_ENDED)
		return false;
	unread_add(b, &r.account);
	return true;
}

static size_t unread_collect(struct books *b)
{
	b->nr_unread = 0;
	return rows_unread(&b->rows, is_alive, b);
}

/*
 * Repeats the pass while processes are missing: under churn it may miss the only task of a process
 * that has its memory.
 */
static void drain_repeat_for_missed(struct books *b)
{
	bool was_whole = tracker_visited_all(&b->tracker);

	rows_settle(&b->rows);
	b->nr_unread = 0;
	if (!tracker_reads_memory(&b->tracker) || (was_whole && !b->rows.nr_blank))
		return;
	for (int i = 0; i < DRAIN_AGAIN && unread_collect(b); i++) {
		tracker_drain_again(&b->tracker, row_keep, &b->rows);
		rows_settle(&b->rows);
	}
	unread_collect(b);
}

/* Returns false if the drain had to wait for a CPU, so that tasks were met at different times. */
static bool drain_attempt(struct books *b, bool whole)
{
	uint64_t before_ns = b->tracker.drain_ns_total, last_ns = b->tracker.began_ns, cpu_ns;

	/* Records of ended processes come first. These have left the map, so none is met twice. */
	books_consume(b);
	b->ops->drain_begin(b->context);
	rows_discard(&b->rows);
	b->drain_boot_ns = clock_ns(CLOCK_BOOTTIME);
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (whole)
		tracker_drain_whole(&b->tracker, row_keep, &b->rows);
	else
		tracker_drain(&b->tracker, row_keep, &b->rows);
	drain_repeat_for_missed(b);
	drain_time_note(b, before_ns);
	if (b->tracker.began_ns - last_ns > b->longest_ns)
		b->longest_ns = b->tracker.began_ns - last_ns;
	tracker_read_accounts(&b->tracker);
	b->drained_ns = clock_ns(CLOCK_MONOTONIC);
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	return cpu_ns > LONG_NS || b->drained_ns - b->tracker.began_ns < cpu_ns + HELD_UP_NS;
}

static void socket_report(void *context, const void *item)
{
	const struct socket_row *row = item;
	const struct account_key key = { row->tree, row->cgroup };
	struct books *b = context;
	void *owner = books_owner(b, &key);

	if (owner)
		b->ops->socket(owner, row);
}

static void drain_report(struct books *b)
{
	const struct accounts *a = &b->tracker.accounts;
	void *owner;

	for (size_t i = 0; b->whole_node && i < a->nr; i++)
		b->ops->node_total(b->context, &a->keys[i], &a->totals[i]);
	for (size_t i = 0; b->whole_node && i < b->rows.nr_slices; i++)
		b->ops->node_slice(b->context, &b->rows.slices[i]);
	for (size_t i = 0; i < a->nr; i++)
		if ((owner = books_owner(b, &a->keys[i])))
			b->ops->total(owner, &a->keys[i], &a->totals[i]);
	for (size_t i = 0; i < b->rows.nr_slices; i++)
		if ((owner = books_owner(b, &b->rows.slices[i].account)))
			b->ops->slice(owner, &b->rows.slices[i]);
	for (size_t i = 0; i < b->nr_unread; i++)
		if ((owner = books_owner(b, &b->unread[i])))
			b->ops->unread(owner);
	if (metric_has(&b->tracker.usable, M_net_sockets))
		tracker_each_socket(&b->tracker, socket_report, b);
	b->ops->drain_end(b->context);
}

void books_drain(struct books *b, bool whole)
{
	rows_begin(&b->rows);
	for (int i = 0; i < DRAIN_TRIES; i++)
		if (drain_attempt(b, whole))
			break;
	rows_sort(&b->rows);
	for (size_t i = 0; i < b->rows.nr; i++) {
		if (b->by_cgroup)
			books_name_row(b, &b->rows.all[i]);
		images_touch(&b->images, b->rows.all[i].image, b->drained_ns);
	}
	images_prune(&b->images, b->drained_ns);
	/* before the report: ends during its processing belong to the next interval */
	books_consume(b);
	gpu_desk_drain(&b->gpus, gpu_desk_take(&b->gpus), &b->rows, b->drained_ns);
	energy_meter_drain(&b->energy, b->tracker.began_ns);
	books_report_leavers(b, NULL);
	drain_report(b);
}

static int us_compare(const void *a, const void *b)
{
	const uint32_t *p = a, *q = b;

	return *p < *q ? -1 : *p > *q;
}

uint64_t books_drain_median(struct books *b)
{
	size_t n = b->tracker.drains < DRAIN_TIMES ? b->tracker.drains : DRAIN_TIMES;

	if (!n)
		return 0;
	qsort(b->drain_us, n, sizeof(*b->drain_us), us_compare);
	return b->drain_us[n / 2] * 1000ULL;
}
