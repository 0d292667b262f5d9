// SPDX-License-Identifier: BSD-2-Clause
#include "measure/record.h"

#include "base/procstat.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* States of the kernel; those of an end are in exit_state. */
#define TASK_UNINTERRUPTIBLE 0x2
#define TASK_REPORT 0x7f
#define TASK_REPORT_IDLE 0x80
#define TASK_IDLE 0x402
#define TASK_RTLOCK_WAIT 0x1000
#define TASK_FROZEN 0x8000 /* since 6.1; unused before */

/* Returns the letter in /proc/PID/stat, as task_state_index() does; 0: the state was not read. */
static char state_letter(unsigned state)
{
	static const char letters[] = "RSDTtXZPI";
	unsigned n = 0;

	if (!(state & STATE_READ))
		return 0;
	state &= ~STATE_READ;
	if ((state & TASK_IDLE) == TASK_IDLE)
		state = TASK_REPORT_IDLE;
	else if (state == TASK_RTLOCK_WAIT || state & TASK_FROZEN)
		state = TASK_UNINTERRUPTIBLE;
	else
		state &= TASK_REPORT;
	while (state >> n)
		n++;
	return letters[n];
}

static void record_read_end(struct process *p, const struct process_record *r, uint64_t offset_ns)
{
	pid_t parent;

	p->has_ended = r->flags & PROCESS_ENDED;
	if (!p->has_ended) {
		p->state = state_letter(r->state);
		if (!p->state && procstat_read((pid_t)r->pid, &p->state, &parent))
			p->state = 0; /* shown as unknown */
		return;
	}
	p->end_epoch_ns = r->end_boot_ns ? r->end_boot_ns + offset_ns : 0;
	if (WIFSIGNALED(r->wait_status))
		p->signal = WTERMSIG(r->wait_status);
	else
		p->exit_code = WEXITSTATUS(r->wait_status);
}

static void record_read_peak(struct process *p, const struct process_record *r,
			     const struct drain_row *row)
{
	uint64_t pages = r->rss_peak_pages;

	if (row && row->mm && row->peak_pages > pages)
		pages = row->peak_pages;
	p->has_rss_peak = pages > 0;
	p->rss_peak_bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE);
	/* the mark of a seeded process may be older than its seeding */
	p->rss_peak_exact = !r->mark_fell && r->unsure_pages <= pages &&
			    !(r->flags & (PROCESS_PEAK_UPPER_BOUND | PROCESS_SEEDED));
}

void record_read_counters(const struct process_record *r, const struct metric_set *usable,
			  uint64_t *value, struct metric_set *have)
{
	if (r->flags & PROCESS_UNREAD)
		return;
#define TASK_METRIC(base, ...)                                                                     \
	if (metric_has(usable, M_##base)) {                                                        \
		value[M_##base] = r->counters.base;                                                \
		metric_put(have, M_##base);                                                        \
	}
#define DELAY_METRIC(base, ...)                                                                    \
	if (metric_has(usable, M_##base) && !(r->flags & PROCESS_WITHOUT_DELAYS) &&                \
	    !(M_##base == M_blkio_delay && r->flags & PROCESS_BLKIO_WRONG)) {                      \
		value[M_##base] = r->counters.base;                                                \
		metric_put(have, M_##base);                                                        \
	}
#define SPLIT_METRIC(base, ...)                                                                    \
	if (metric_has(usable, M_##base)) {                                                        \
		value[M_##base] = r->base;                                                         \
		metric_put(have, M_##base);                                                        \
	}
#define NET_METRIC(base, ...)                                                                      \
	if (metric_has(usable, M_##base)) {                                                        \
		value[M_##base] = r->calls.base;                                                   \
		metric_put(have, M_##base);                                                        \
	}
#define REST_METRIC(base, group, kind, unit, of, help)                                             \
	if (metric_has(usable, M_##base)) {                                                        \
		value[M_##base] = kinds_remainder(r->counters.of, r->calls.of##_files,             \
						  r->calls.of##_sockets, r->calls.of##_pipes,      \
						  r->calls.of##_other);                            \
		metric_put(have, M_##base);                                                        \
	}
#include "bpfmon/metrics.def"
}

void record_read(struct process *p, const struct process_record *r, const struct drain_row *row,
		 const struct images *images, const struct metric_set *usable,
		 uint64_t epoch_less_boot_ns)
{
	const struct image *image = images_find(images, r->image);

	*p = (struct process){
		.pid = (int32_t)r->pid,
		.ns_pid = (int32_t)r->ns_pid,
		.ppid = (int32_t)r->ppid,
		.uid = r->uid,
		.start_epoch_ns = r->start_boot_ns + epoch_less_boot_ns,
		.threads_total = r->threads_total,
		.execs = r->execs,
		.children_cpu_ns = r->children_ns,
	};
	comm_copy(p->comm, r->comm, sizeof(r->comm));
	if (image) {
		p->exe = image->exe;
		p->args = image->has_args ? image->args : NULL;
		p->args_length = image->args_length;
		p->args_cut = image->args_cut;
	}
	if (r->joined_boot_ns)
		p->joined_epoch_ns = r->joined_boot_ns + epoch_less_boot_ns;
	if (r->flags & PROCESS_LEFT)
		p->left_epoch_ns = r->end_boot_ns + epoch_less_boot_ns;
	record_read_end(p, r, epoch_less_boot_ns);
	if (metric_has(usable, M_rss))
		record_read_peak(p, r, row);
	record_read_counters(r, usable, p->value, &p->have);
}

void record_add_gpus(struct process *p, const struct gpu_used *used,
		     const struct metric_set *usable)
{
	if (!used)
		return;
	if (used->has & GPU_BUSY && metric_has(usable, M_gpu)) {
		p->value[M_gpu] = used->busy_ns;
		metric_put(&p->have, M_gpu);
	}
	if (used->has & GPU_MEMORY_BUSY && metric_has(usable, M_gpu_memory_busy)) {
		p->value[M_gpu_memory_busy] = used->memory_busy_ns;
		metric_put(&p->have, M_gpu_memory_busy);
	}
	if (used->has & GPU_MEMORY && metric_has(usable, M_gpu_memory))
		p->gpu_memory_peak_bytes = used->memory_peak_bytes;
}

struct oom_kill oom_kill_read(const struct oom_event *e, pid_t command)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct oom_kill k = {
		.pid = (int32_t)e->pid,
		.is_command = (pid_t)e->pid == command,
		.has_rss = e->rss_pages > 0,
		.rss_bytes = e->rss_pages * page,
		.limit_bytes = e->limit_pages * page,
	};

	comm_copy(k.comm, e->comm, sizeof(e->comm));
	memcpy(k.cgroup, e->cgroup, sizeof(k.cgroup));
	return k;
}
