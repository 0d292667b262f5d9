// SPDX-License-Identifier: BSD-2-Clause
#include "measure/tally_view.h"

#include "base/clock.h"
#include "base/memory.h"
#include "measure/live_processes.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>

#define MAX_STALL_PIDS 64 /* in a stall event */

void tally_view_init(struct tally_view *v)
{
	memset(v, 0, sizeof(*v));
}

static void tally_view_note_base(struct tally_view *v)
{
	const struct tracking *t = tracker_tracking(&v->books->tracker);
	struct account of_accounts;

	tracker_totals(&v->books->tracker, &of_accounts);
	for (int i = 0; i < NR_LOSSES; i++)
		v->base.loss[i] = t->loss[i] - of_accounts.loss[i];
	v->base.repaired = tracker_repaired(&v->books->tracker);
	v->base.unrepaired = tracker_unrepaired(&v->books->tracker);
	v->base.socket_misses = tracker_socket_misses(&v->books->tracker);
	v->base.unnamed = v->books->unnamed;
	v->base.rows_lost = v->books->rows.lost;
	v->base.blocks_lost = tracker_blocks_lost(&v->books->tracker);
	v->base.gpus_dropped = v->books->gpus.dropped;
	v->base.peers_lost = tracker_peers_lost(&v->books->tracker);
	v->base.sockets_lost = tracker_sockets_lost(&v->books->tracker);
	if (!v->books->whole_node)
		return;
	v->base.memory_failures = memory_failures();
	v->base.drains = v->books->tracker.drains;
	v->base.drain_ns_total = v->books->tracker.drain_ns_total;
}

void tally_view_open(struct tally_view *v, struct run *run, struct books *books)
{
	v->run = run;
	v->books = books;
	tally_init(&v->tally, &run->usable);
	if (books->tracker.optional.missing[OPTIONAL_OOM][0])
		run->no_oom_kills = books->tracker.optional.missing[OPTIONAL_OOM];
	v->tally.summary.has_oom_kills = !run->no_oom_kills;
	v->cores.cpus = v->tally.summary.cores.cpus = run->cpus;
	tally_view_note_base(v);
}

/* The books of a node read all metrics; each job reports those it wants. */
void tally_view_choose_metrics(struct tally_view *v)
{
	const struct tracker *t = &v->books->tracker;
	struct run *run = v->run;

	run->usable = (struct metric_set){ 0 };
	for (int i = 0; i < NR_METRICS; i++) {
		run->unusable[i] = NULL;
		if (!metric_has(&run->wanted, (enum metric_id)i))
			continue;
		run->unusable[i] = t->unusable[i];
		if (metric_has(&t->usable, (enum metric_id)i))
			metric_put(&run->usable, (enum metric_id)i);
	}
}

void tally_view_done(struct tally_view *v)
{
	tally_done(&v->tally);
	sample_reset(&v->smp);
	block_io_done(&v->block_io);
	jsonw_done(&v->json);
}

void tally_view_begin(struct tally_view *v, uint64_t start_ns)
{
	uint64_t since_ns = clock_ns(CLOCK_MONOTONIC) - start_ns;

	v->start_ns = start_ns;
	energy_part_begin(&v->energy, &v->books->energy,
			  metric_has(&v->run->usable, M_host_energy));
	v->run->start_epoch_ns = clock_ns(CLOCK_REALTIME) - since_ns;
	/* precision of published times */
	v->run->start_epoch_ns -= v->run->start_epoch_ns % 1000;
	v->epoch_less_boot_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);
	write_meta(&v->json, v->run);
	feeds_put(&v->feeds, &v->json);
}

void tally_view_oom(struct tally_view *v, const struct oom_kill *k, uint64_t time_ns)
{
	summary_add_oom(&v->tally.summary, k);
	write_oom(&v->json, v->run, growth_since(time_ns, v->start_ns), k);
	feeds_put(&v->feeds, &v->json);
}

static void sample_put_wire(const struct tally_view *v, struct sample *smp)
{
	struct wire_counters now;

	if (!metric_set_has_source(&v->run->usable, SOURCE_WIRE) ||
	    tracker_wire(&v->books->tracker, &now))
		return;
#define WIRE_METRIC(base, ...)                                                                     \
	if (metric_has(&v->run->usable, M_##base))                                                 \
		sample_set(smp, M_##base, now.base);
#include "bpfmon/metrics.def"
}

/* If all CPUs are busy, more may have come online. */
static void sample_put_cores(struct tally_view *v, struct sample *smp, uint64_t milli)
{
	unsigned cpus = milli < v->cores.cpus * 1000ULL ? 0 : (unsigned)get_nprocs();

	sample_set(smp, M_cores, milli);
	if (cpus > v->cores.cpus)
		v->cores.cpus = v->tally.summary.cores.cpus = cpus;
}

static void sample_put_totals(struct tally_view *v, struct sample *smp, const struct account *a)
{
	uint64_t milli;

	tally_put_totals(&v->tally, smp, a);
	if (metric_has(&v->run->usable, M_cores) &&
	    cores_read(&v->cores, smp->elapsed_ns, a->cpu, &milli))
		sample_put_cores(v, smp, milli);
}

static void sample_put_block_io(struct tally_view *v, struct sample *smp)
{
	if (!v->has_block_io || !metric_set_has_source(&v->run->usable, SOURCE_BLOCK))
		return;
	block_io_put(&v->block_io, &v->run->usable, smp);
	block_io_put_latencies(&v->block_io, &v->tally.summary.latencies);
}

void tally_view_drain_end(struct tally_view *v)
{
	tally_drain_end(&v->tally, &v->books->gpus);
	account_add(&v->tally.totals, &v->tally.removed);
	v->tally.totals.cpu += tracker_unsplit(&v->books->tracker);
	energy_part_drain(&v->energy, &v->books->energy, v->tally.totals.cpu);
}

/* The GPUs that are held, and the machine's energy. */
static void tally_view_put_devices(struct tally_view *v, struct sample *smp)
{
	const struct gpu_desk *gpus = &v->books->gpus;

	v->tally.forgone += gpu_tally_put(&v->tally.gpu, gpus, &v->run->usable, v->stall.after_ns,
					  true, smp) != 0;
	v->tally.forgone +=
		energy_part_put(&v->energy, &v->books->energy, &v->run->usable, smp) != 0;
}

void tally_view_make_sample(struct tally_view *v, uint64_t now_ns)
{
	struct summary *sum = &v->tally.summary;
	const struct account *totals = &v->tally.totals;

	sample_reset(&v->smp);
	v->smp.elapsed_ns = now_ns - v->start_ns;
	sample_put_totals(v, &v->smp, totals);
	tally_put_memory(&v->tally, &v->smp);
	sample_put_wire(v, &v->smp);
	tally_view_put_devices(v, &v->smp);
	sample_put_block_io(v, &v->smp);
	/* even if the metric of forks is not wanted */
	sum->processes_total = processes_born(totals);
	sum->entered = totals->roots;
	sum->left = totals->left;
	sum->blkio_wrong = totals->blkio_wrong > 0;
}

void tally_view_put_sample(struct tally_view *v)
{
	struct summary *sum = &v->tally.summary;
	const uint64_t processes_total = sum->processes_total;

	summary_add_sample(sum, &v->smp);
	sum->processes_total = processes_total; /* summary_add_sample() counts forks only */
	if (v->feeds.first) {
		write_sample(&v->json, v->run, &v->smp);
		feeds_put(&v->feeds, &v->json);
	}
	if (v->observer)
		v->observer->sample(v->observer_context, &v->smp);
}

/* These PIDs suffice to find the reason. */
static size_t live_pids(const struct tally_view *v, int32_t pids[MAX_STALL_PIDS])
{
	size_t nr = 0;

	for (size_t i = 0; i < v->tally.rows.nr && nr < MAX_STALL_PIDS; i++)
		if (!v->tally.rows.all[i]->end_boot_ns)
			pids[nr++] = (int32_t)v->tally.rows.all[i]->pid;
	return nr;
}

/*
 * Returns true if the run hangs: it has work. An idle server has none, but may hang later, so this
 * is checked again after the same time. A single check may hit a page fault: the next sample
 * decides.
 */
static bool stall_is_busy(const struct tally_view *v, struct stall *s, const int32_t *pids,
			  size_t nr)
{
	const bool is_busy = !v->is_idle(pids, nr), was_doubted = s->is_doubted;

	s->is_doubted = is_busy && !was_doubted;
	if (s->is_doubted)
		s->checked_ns -= s->after_ns;
	return is_busy && was_doubted;
}

static void tally_view_put_stall(struct tally_view *v, const struct stall_event *e)
{
	write_stall(&v->json, v->run, e);
	feeds_put(&v->feeds, &v->json);
	if (v->observer)
		v->observer->stall(v->observer_context, e);
}

/* Without the rights to check, the event is repeated, and its reader checks. */
static void tally_view_report_stall(struct tally_view *v, uint64_t elapsed_ns)
{
	struct stall *s = &v->stall;
	int32_t pids[MAX_STALL_PIDS];
	size_t nr = live_pids(v, pids);

	s->checked_ns = elapsed_ns;
	if (v->is_idle && !stall_is_busy(v, s, pids, nr))
		return;
	s->is_reported = true;
	tally_view_put_stall(v, &(struct stall_event){ elapsed_ns, true, s->begun_ns, pids, nr });
}

void tally_view_note_stall(struct tally_view *v, uint64_t elapsed_ns)
{
	struct stall *s = &v->stall;
	bool has_changed;

	has_changed = stall_update(s, elapsed_ns, &v->tally.totals, gpu_tally_busy(&v->tally.gpu));
	if (s->is_stalled) {
		if (has_changed ||
		    (elapsed_ns - s->checked_ns >= s->after_ns && !(s->is_reported && v->is_idle)))
			tally_view_report_stall(v, elapsed_ns);
		return;
	}
	s->is_doubted = false;
	if (!s->is_reported)
		return;
	s->is_reported = false;
	tally_view_put_stall(v, &(struct stall_event){ elapsed_ns, false, s->begun_ns, NULL, 0 });
}

void tally_view_put_latest(struct tally_view *v, struct feed *feed)
{
	if (v->is_held || !v->smp.elapsed_ns) /* the first one will come soon */
		return;
	write_sample(&v->json, v->run, &v->smp);
	feed_put(feed, v->json.text, v->json.used);
	jsonw_reset(&v->json);
	if (!feed->wants_processes)
		return;
	live_processes_write(v, feed->shows_all, &v->json);
	feed_put(feed, v->json.text, v->json.used);
	jsonw_reset(&v->json);
}

/* Returns the losses of the view's accounts, plus those since it began that are in no account. */
static uint64_t loss_of_view(struct tally_view *v, int loss, const struct account *of_accounts)
{
	const uint64_t of_machine = tracker_tracking(&v->books->tracker)->loss[loss];

	return v->tally.totals.loss[loss] +
	       growth_since(of_machine - of_accounts->loss[loss], v->base.loss[loss]);
}

void tally_view_note_losses(struct tally_view *v)
{
	const struct books *b = v->books;
	struct summary *sum = &v->tally.summary;
	struct account of_accounts;
	const uint64_t failures = growth_since(memory_failures(), v->base.memory_failures);
	uint64_t lost;

	tracker_totals(&v->books->tracker, &of_accounts);
	for (int i = 0; i < NR_LOSSES; i++)
		summary_add_loss(sum, loss_name(i), loss_of_view(v, i, &of_accounts));
	if (metric_set_has_source(&v->run->usable, SOURCE_GPU))
		summary_add_loss(sum, "gpu_uses",
				 growth_since(b->gpus.dropped, v->base.gpus_dropped));
	if (metric_set_has_source(&v->run->usable, SOURCE_NET))
		summary_add_loss(
			sum, "socket_events",
			growth_since(tracker_socket_misses(&b->tracker), v->base.socket_misses));
	if (metric_has(&v->run->usable, M_net_sockets))
		summary_add_loss(
			sum, "live_sockets",
			growth_since(tracker_sockets_lost(&b->tracker), v->base.sockets_lost));
	/* failed allocations that were not counted elsewhere count, too */
	lost = v->tally.forgone + growth_since(b->unnamed, v->base.unnamed) +
	       growth_since(b->rows.lost, v->base.rows_lost);
	summary_add_loss(sum, "memory_allocations", lost > failures ? lost : failures);
	if (metric_set_has_source(&v->run->usable, SOURCE_BLOCK))
		summary_add_loss(
			sum, "block_requests",
			growth_since(tracker_blocks_lost(&b->tracker), v->base.blocks_lost) +
				v->block_io.forgone);
	if (loss_of_view(v, LOSS_TASKS_FULL, &of_accounts) ||
	    loss_of_view(v, LOSS_PROCESSES_FULL, &of_accounts))
		snprintf(sum->reason, sizeof(sum->reason), "the limit is %u tasks; see --max-tasks",
			 tracker_max_tasks(&b->tracker));
}

void tally_view_note_costs(struct tally_view *v)
{
	const struct tracker *t = &v->books->tracker;
	struct summary *sum = &v->tally.summary;

	sum->drains = growth_since(t->drains, v->base.drains);
	sum->drain_ns_total = growth_since(t->drain_ns_total, v->base.drain_ns_total);
	sum->drain_ns_max = t->drain_ns_max;
	sum->drain_ns_median = books_drain_median(v->books);
	sum->is_of_agent = v->books->whole_node;
}

/*
 * Each listener gets a summary of its own, because lines it did not take are only its loss. The
 * observer gets one without these.
 */
void tally_view_put_summary(struct tally_view *v)
{
	struct summary *sum = &v->tally.summary;
	size_t nr_losses;
	bool complete;

	sum->has_cores = metric_has(&v->run->usable, M_cores);
	summary_finish(sum);
	nr_losses = sum->nr_losses;
	complete = sum->complete;
	for (struct feed *f = v->feeds.first; f; f = f->next) {
		sum->nr_losses = nr_losses;
		sum->complete = complete;
		summary_add_loss(sum, "stream_lines", f->dropped);
		summary_add_loss(sum, "process_samples", f->spared);
		write_summary(&v->json, sum);
		feed_put(f, v->json.text, v->json.used);
		jsonw_reset(&v->json);
	}
	sum->nr_losses = nr_losses;
	sum->complete = complete;
	if (v->observer)
		v->observer->summary(v->observer_context, sum);
}

void tally_view_report_so_far(struct tally_view *v, struct feed *feed)
{
	struct summary *sum = &v->tally.summary, saved = *sum;

	sum->nr_losses = 0;
	tally_view_note_losses(v);
	tally_view_note_costs(v);
	sum->has_cores = metric_has(&v->run->usable, M_cores);
	summary_finish(sum);
	summary_add_loss(sum, "stream_lines", feed->dropped);
	write_summary(&v->json, sum);
	feed_put(feed, v->json.text, v->json.used);
	jsonw_reset(&v->json);
	*sum = saved;
}
