// SPDX-License-Identifier: BSD-2-Clause
#include "text/answer.h"

#include "base/clock.h"
#include "text/format.h"

#define LEAST_STALLED 10 /* a stall of a tenth of the time is told */
#define LEAST_WAITED 5
#define LEAST_NS (NSEC_PER_SEC / 2) /* a shorter wait is no answer */
#define CAUSE_COLUMNS 240

static uint64_t total_of(const struct summary *s, enum metric_id id)
{
	return summary_has_total(s, id) ? s->total.value[id] : 0;
}

/* Returns whether @ns, the time of all threads, is that of about one at a time. */
static bool is_serial(const struct slowdown *a, uint64_t ns)
{
	return ns <= a->wall_ns + a->wall_ns / 10;
}

/* Returns why the threads had no CPU; "" if that is not certain. */
static const char *queue_cause(const struct slowdown *a, const struct summary *s,
			       uint64_t cores_available)
{
	const uint64_t used = summary_cores_mean(s);

	if (total_of(s, M_cgroup_throttled) >= a->ns / 2)
		return "the CPU limit of its cgroup was used up";
	if (is_serial(a, a->ns + a->cpu_ns) || used < cores_available / 2)
		return "the machine was busy with other work";
	if (cores_available && used >= cores_available - cores_available / 10)
		return "it had more threads than CPUs";
	return "";
}

/* Returns whether the threads waited so long in a queue for a CPU that this is the answer. */
static bool queue_is_answer(struct slowdown *a, const struct summary *s)
{
	a->ns = total_of(s, M_runqueue_wait);
	a->is_part = is_serial(a, a->ns + a->cpu_ns);
	return a->ns >= LEAST_NS && a->ns >= a->wall_ns / LEAST_WAITED &&
	       (a->is_part || a->ns >= a->cpu_ns / 2);
}

static bool wait_is_answer(struct slowdown *a, uint64_t ns)
{
	a->ns = ns;
	a->is_part = is_serial(a, ns);
	return ns >= LEAST_NS && ns >= a->wall_ns / LEAST_WAITED;
}

/* Returns what the threads were seen to wait for in most of @ns; "" if that is not one thing. */
static const char *waits_cause(const struct summary *s, uint64_t ns)
{
	static const struct {
		enum metric_id id;
		const char *text;
	} all[] = {
		{ M_wait_lock, "it waited for the lock of a file" },
		{ M_wait_disk, "it waited for disks or file servers" },
		{ M_wait_pipe, "it waited for a pipe" },
		{ M_wait_socket, "it waited for a socket or terminal" },
		{ M_wait_futex, "it waited for a mutex, condition or thread" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (total_of(s, all[i].id) >= ns / 2)
			return all[i].text;
	return "";
}

void slowdown_of_run(struct slowdown *a, const struct summary *s, uint64_t start_epoch_ns,
		     uint64_t cores_available, struct stalls *stalls)
{
	*a = (struct slowdown){ .is_attached = s->is_attached,
				.wall_ns = s->wall_ns,
				.cpu_ns = total_of(s, M_cpu),
				.cause = "" };
	if (stalls)
		stalls_end(stalls, start_epoch_ns + s->wall_ns);
	/* what ended the run is the answer, and a run of less than a second has none */
	if (s->wall_ns < NSEC_PER_SEC || s->oom.is_command || s->limit.is_end)
		return;
	/* a run that gets no CPU is stalled, too */
	if (queue_is_answer(a, s) && (!stalls || stalls->ns <= a->ns)) {
		a->kind = SLOWDOWN_QUEUE;
		a->cause = queue_cause(a, s, cores_available);
	} else if (stalls && stalls->ns && stalls->ns >= s->wall_ns / LEAST_STALLED) {
		a->kind = SLOWDOWN_STALLED;
		a->ns = stalls->ns < s->wall_ns ? stalls->ns : s->wall_ns;
		a->cause = *stalls->longest_cause ? stalls->longest_cause : waits_cause(s, a->ns);
	} else if (wait_is_answer(a, total_of(s, M_wait_lock))) {
		a->kind = SLOWDOWN_LOCK;
	} else if (wait_is_answer(a, total_of(s, M_blkio_delay))) {
		a->kind = SLOWDOWN_DISK;
	}
}

static const char *const whats[] = {
	[SLOWDOWN_QUEUE] = "for a CPU",
	[SLOWDOWN_LOCK] = "for the lock of a file",
	[SLOWDOWN_DISK] = "for disks",
};

void slowdown_short_text(FILE *f, const struct slowdown *a)
{
	char ns[FORMAT_BYTES];

	format_seconds(ns, a->ns);
	if (a->kind == SLOWDOWN_STALLED)
		fprintf(f, "stood still for %s", ns);
	else if (a->kind != SLOWDOWN_NONE)
		fprintf(f, "waited %s %s", ns, whats[a->kind]);
}

/* Writes the time waited as a part of the time of the run, else beside it. */
static void waited_text(FILE *f, const struct slowdown *a)
{
	const char *about = a->kind == SLOWDOWN_LOCK ? "about " : "", *what = whats[a->kind];
	char wall[FORMAT_BYTES], waited[FORMAT_BYTES], cpu[FORMAT_BYTES];

	format_seconds(wall, a->wall_ns);
	format_seconds(waited, a->ns);
	fprintf(f, "%s for %s", a->is_attached ? "Followed" : "Ran", wall);
	if (a->is_part)
		fprintf(f, ", of which %s%s waiting %s", about, waited, what);
	else if (a->kind == SLOWDOWN_QUEUE)
		fprintf(f, "; its threads ran for %s and waited %s %s",
			format_seconds(cpu, a->cpu_ns), waited, what);
	else
		fprintf(f, "; its threads waited %s%s %s", about, waited, what);
}

void slowdown_text(FILE *f, const struct slowdown *a)
{
	char part[2 * FORMAT_BYTES];

	if (a->kind == SLOWDOWN_NONE)
		return;
	if (a->kind == SLOWDOWN_STALLED)
		fprintf(f, "Stood still for %s", format_seconds_of(part, a->ns, a->wall_ns));
	else
		waited_text(f, a);
	if (*a->cause) {
		fputs(": ", f);
		format_beginning(f, a->cause, CAUSE_COLUMNS);
	}
}
