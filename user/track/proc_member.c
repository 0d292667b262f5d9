// SPDX-License-Identifier: BSD-2-Clause
#include "track/proc_member.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KERNEL_STATES "RSDTtXZPI"

static int member_compare(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

struct member *members_find(const struct members *m, pid_t pid)
{
	const struct member key = { .pid = pid };

	return m->nr ? bsearch(&key, m->all, m->nr, sizeof(key), member_compare) : NULL;
}

struct member *members_put(struct members *m)
{
	size_t room = m->room ? m->room * 2 : 16;
	struct member *all = m->all;

	if (m->nr == m->room) {
		all = reallocarray(all, room, sizeof(*all));
		if (!all)
			return NULL;
		m->all = all;
		m->room = room;
	}
	return memset(&all[m->nr++], 0, sizeof(*all));
}

void members_sort(struct members *m)
{
	if (m->nr)
		qsort(m->all, m->nr, sizeof(*m->all), member_compare);
}

/* As the kernel has it in __state and exit_state. */
static uint16_t state_of(char letter)
{
	const char *at = strchr(KERNEL_STATES, letter);
	unsigned n = at ? (unsigned)(at - KERNEL_STATES) : 0;

	return (uint16_t)(STATE_READ | (n ? 1U << (n - 1) : 0));
}

static void record_fill_children(struct member *m)
{
	const struct proc_io io = proc_children_without(&m->children, &m->io);
	struct process_record *r = &m->rec;

	r->children_ns = proc_children_unseen_ns(&m->children, &m->stat);
	r->counters.rchar = io.rchar;
	r->counters.wchar = io.wchar;
	r->counters.syscr = io.syscr;
	r->counters.syscw = io.syscw;
	r->counters.read = io.read_bytes;
	r->counters.write = io.write_bytes;
	r->counters.cancelled_write = io.cancelled_write_bytes;
}

static void record_fill(struct member *m, const struct proc_status *status)
{
	struct process_record *r = &m->rec;
	const struct proc_stat *s = &m->stat;
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	r->ppid = (uint32_t)s->parent;
	r->user = s->user_ns;
	r->system = s->system_ns;
	r->counters.cpu = s->user_ns + s->system_ns;
	r->counters.minflt = s->minflt;
	r->counters.majflt = s->majflt;
	r->state = state_of(s->state);
	if (s->threads > r->threads_total)
		r->threads_total = s->threads;
	memcpy(r->comm, s->comm, sizeof(r->comm));
	r->uid = status->uid;
	r->ns_pid = (uint32_t)status->ns_pid;
	r->counters.nvcsw = status->nvcsw;
	r->counters.nivcsw = status->nivcsw;
	if (status->peak_bytes / page > r->rss_peak_pages)
		r->rss_peak_pages = r->rss_bound_pages = status->peak_bytes / page;
	record_fill_children(m);
}

static void row_fill(struct member *m, const struct proc_status *status)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const struct process_record *r = &m->rec;

	m->row = (struct drain_row){
		.account = r->account,
		.signal = r->signal,
		.serial = r->serial,
		.image = r->image,
		.mm = status->has_memory ? r->serial : 0,
		.used_mm = r->serial,
		.pages = { [RSS_FILE] = status->file_bytes / page,
			   [RSS_ANON] = status->anon_bytes / page,
			   [RSS_SWAP] = status->swap_bytes / page,
			   [RSS_SHMEM] = status->shmem_bytes / page },
		.hugetlb_pages = status->hugetlb_bytes / page,
		.page_table_bytes = status->tables_bytes,
		.vms_pages = m->stat.vms_bytes / page,
		.peak_pages = status->peak_bytes / page,
		.bound_pages = r->rss_bound_pages,
		.start_boot_ns = r->start_boot_ns,
		.pid = r->pid,
		.flags = m->stat.state != 'Z' && m->stat.state != 'X' && status->has_memory
				 ? ROW_ALIVE
				 : 0,
	};
}

/* Of what a process and its children have used; no less than it had when it was seen last. */
static uint64_t own_part(uint64_t both_ns, uint64_t children_ns, uint64_t seen_ns)
{
	uint64_t own = both_ns > children_ns ? both_ns - children_ns : 0;

	return own > seen_ns ? own : seen_ns;
}

void member_fill(struct member *m, const struct proc_status *status)
{
	record_fill(m, status);
	row_fill(m, status);
}

void member_note_reaped(struct member *m, const struct reaped *r)
{
	const uint64_t peak_pages = r->last_peak_bytes / (uint64_t)sysconf(_SC_PAGESIZE);
	struct process_record *rec = &m->rec;

	m->is_reaped = true;
	rec->flags |= PROCESS_ENDED;
	rec->wait_status = (uint32_t)r->status;
	rec->end_boot_ns = clock_ns(CLOCK_BOOTTIME);
	rec->user = own_part(r->last_user_ns, r->last_children_user_ns, rec->user);
	rec->system = own_part(r->last_system_ns, r->last_children_system_ns, rec->system);
	rec->counters.cpu = rec->user + rec->system;
	if (peak_pages > rec->rss_peak_pages)
		rec->rss_peak_pages = rec->rss_bound_pages = peak_pages;
	m->stat.children_user_ns = r->last_children_user_ns;
	m->stat.children_system_ns = r->last_children_system_ns;
}

void member_note_end(struct member *m)
{
	record_fill_children(m);
	m->rec.released_boot_ns = clock_ns(CLOCK_BOOTTIME);
	if (!m->is_reaped)
		m->rec.state = state_of('X');
}
