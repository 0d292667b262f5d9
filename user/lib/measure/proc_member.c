// SPDX-License-Identifier: BSD-2-Clause
#include "measure/proc_member.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define USED_FIELDS (sizeof(struct proc_used) / sizeof(uint64_t))

void proc_used_add(struct proc_used *sum, const struct proc_used *part)
{
	uint64_t *to = (uint64_t *)sum;
	const uint64_t *from = (const uint64_t *)part;

	for (size_t i = 0; i < USED_FIELDS; i++)
		to[i] += from[i];
}

void proc_used_subtract(struct proc_used *sum, const struct proc_used *part)
{
	uint64_t *to = (uint64_t *)sum;
	const uint64_t *from = (const uint64_t *)part;

	for (size_t i = 0; i < USED_FIELDS; i++)
		to[i] -= from[i];
}

struct proc_used proc_used_least(const struct proc_used *a, const struct proc_used *b)
{
	struct proc_used least = *a;
	uint64_t *to = (uint64_t *)&least;
	const uint64_t *other = (const uint64_t *)b;

	for (size_t i = 0; i < USED_FIELDS; i++)
		if (other[i] < to[i])
			to[i] = other[i];
	return least;
}

void proc_used_take(struct proc_used *u, const struct proc_used *part)
{
	const struct proc_used least = proc_used_least(u, part);

	proc_used_subtract(u, &least);
}

bool proc_used_is_zero(const struct proc_used *u)
{
	static const struct proc_used nothing;

	return !memcmp(u, &nothing, sizeof(nothing));
}

/* Negative values, modulo 2^64, are ignored. */
static void counter_raise(__u64 *published, uint64_t now)
{
	if ((int64_t)now > 0 && now > *published)
		*published = now;
}

void proc_used_publish(const struct proc_used *u, struct account *a)
{
	counter_raise(&a->user, u->user_ns);
	counter_raise(&a->system, u->system_ns);
	counter_raise(&a->minflt, u->minflt);
	counter_raise(&a->majflt, u->majflt);
	counter_raise(&a->nvcsw, u->nvcsw);
	counter_raise(&a->nivcsw, u->nivcsw);
	counter_raise(&a->rchar, u->io.rchar);
	counter_raise(&a->wchar, u->io.wchar);
	counter_raise(&a->syscr, u->io.syscr);
	counter_raise(&a->syscw, u->io.syscw);
	counter_raise(&a->read, u->io.read_bytes);
	counter_raise(&a->write, u->io.write_bytes);
	counter_raise(&a->cancelled_write, u->io.cancelled_write_bytes);
	a->cpu = a->user + a->system;
}

#define KERNEL_STATES "RSDTtXZPI"
#define OPEN_MOST 1024

struct proc_budget proc_budget_of_process(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur / 2 > OPEN_MOST)
		return (struct proc_budget){ .most = OPEN_MOST };
	return (struct proc_budget){ .most = (unsigned)limit.rlim_cur / 2 };
}

struct proc_member *proc_member_new(pid_t pid)
{
	struct proc_member *m = memory_calloc(1, sizeof(*m));

	if (m)
		proc_files_init(&m->files, pid);
	return m;
}

void proc_member_free(struct proc_member *m, struct proc_budget *b)
{
	if (!m)
		return;
	proc_files_done(&m->files, &b->nr_open);
	free(m);
}

/* Encodes the state like the kernel's __state and exit_state. */
static uint16_t state_of(char letter)
{
	const char *at = strchr(KERNEL_STATES, letter);
	unsigned n = at ? (unsigned)(at - KERNEL_STATES) : 0;

	return (uint16_t)(STATE_READ | (n ? 1U << (n - 1) : 0));
}

static uint64_t page_bytes(void)
{
	static uint64_t bytes;

	if (!bytes)
		bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	return bytes;
}

static struct proc_used used_itself(const struct proc_member *m)
{
	return (struct proc_used){ .user_ns = m->stat.user_ns,
				   .system_ns = m->stat.system_ns,
				   .minflt = m->stat.minflt,
				   .majflt = m->stat.majflt,
				   .nvcsw = m->status.nvcsw,
				   .nivcsw = m->status.nivcsw,
				   .io = m->io };
}

struct proc_used proc_member_inherited(const struct proc_member *m)
{
	return (struct proc_used){ .user_ns = m->stat.children_user_ns,
				   .system_ns = m->stat.children_system_ns,
				   .minflt = m->stat.children_minflt,
				   .majflt = m->stat.children_majflt,
				   .io = m->io };
}

struct proc_used proc_member_both(const struct proc_member *m)
{
	struct proc_used used = used_itself(m), children = proc_member_inherited(m);

	children.io = (struct proc_io){ 0 }; /* included in its own */
	proc_used_add(&used, &children);
	return used;
}

static uint64_t cpu_of_used(const struct proc_used *u)
{
	return u->user_ns + u->system_ns;
}

/* Inherited CPU time and own I/O, without what is in the records of its children. */
static void record_fill_children(struct proc_member *m)
{
	const struct proc_used inherited = proc_member_inherited(m);
	const uint64_t got_ns = m->is_reaped ? m->reaped_children_ns : cpu_of_used(&inherited);
	const uint64_t elsewhere_ns = cpu_of_used(&m->children) + m->base_children_ns;
	struct proc_used u = { .io = m->io };
	struct process_record *r = &m->rec;

	proc_used_take(&u, &m->children);
	proc_used_take(&u, &m->base);
	r->children_ns = got_ns > elsewhere_ns ? got_ns - elsewhere_ns : 0;
	r->counters.rchar = u.io.rchar;
	r->counters.wchar = u.io.wchar;
	r->counters.syscr = u.io.syscr;
	r->counters.syscw = u.io.syscw;
	r->counters.read = u.io.read_bytes;
	r->counters.write = u.io.write_bytes;
	r->counters.cancelled_write = u.io.cancelled_write_bytes;
}

static void record_fill(struct proc_member *m)
{
	struct process_record *r = &m->rec;
	const struct proc_stat *s = &m->stat;
	const struct proc_status *status = &m->status;
	struct proc_used u = used_itself(m);

	r->ppid = (uint32_t)s->parent;
	proc_used_take(&u, &m->base);
	r->user = u.user_ns;
	r->system = u.system_ns;
	r->counters.cpu = u.user_ns + u.system_ns;
	r->counters.minflt = u.minflt;
	r->counters.majflt = u.majflt;
	r->state = state_of(s->state);
	if (s->threads > r->threads_total)
		r->threads_total = s->threads;
	memcpy(r->comm, s->comm, sizeof(r->comm));
	r->uid = status->uid;
	r->ns_pid = (uint32_t)status->ns_pid;
	r->counters.nvcsw = u.nvcsw;
	r->counters.nivcsw = u.nivcsw;
	if (status->peak_bytes / page_bytes() > r->rss_peak_pages)
		r->rss_peak_pages = r->rss_bound_pages = status->peak_bytes / page_bytes();
	record_fill_children(m);
}

static void row_fill(struct proc_member *m)
{
	const struct proc_status *status = &m->status;
	const uint64_t page = page_bytes();
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

void proc_member_fill(struct proc_member *m)
{
	record_fill(m);
	row_fill(m);
}

void proc_member_set_base(struct proc_member *m)
{
	m->base = used_itself(m);
	m->base_children_ns = m->stat.children_user_ns + m->stat.children_system_ns;
	record_fill(m);
}

void proc_member_note_reaped(struct proc_member *m, const struct reaped *r)
{
	const uint64_t peak_pages = r->last_peak_bytes / page_bytes();
	struct process_record *rec = &m->rec;

	m->is_reaped = true;
	rec->flags |= PROCESS_ENDED;
	rec->wait_status = (uint32_t)r->status;
	if (!rec->end_boot_ns) /* unless the kernel has reported it */
		rec->end_boot_ns = clock_ns(CLOCK_BOOTTIME);
	counter_raise(&rec->user, r->last_user_ns);
	counter_raise(&rec->system, r->last_system_ns);
	rec->counters.cpu = rec->user + rec->system;
	if (peak_pages > rec->rss_peak_pages)
		rec->rss_peak_pages = rec->rss_bound_pages = peak_pages;
	m->reaped_children_ns = r->last_children_user_ns + r->last_children_system_ns;
}

void proc_member_end(struct proc_member *m)
{
	record_fill_children(m);
	m->rec.released_boot_ns = clock_ns(CLOCK_BOOTTIME);
	if (!m->is_reaped)
		m->rec.state = state_of('X');
}

/* A file that cannot be read, for example because the process ends, leaves the last values. */
static void others_read(struct proc_member *m, struct proc_budget *b)
{
	char text[PROC_TEXT_BYTES];
	struct proc_status status;
	struct proc_io io;
	ssize_t n;

	n = proc_files_read(&m->files, PROC_STATUS, &b->nr_open, b->most, text, sizeof(text));
	if (n > 0 && !proc_status_parse(text, &status))
		m->status = status;
	n = proc_files_read(&m->files, PROC_IO, &b->nr_open, b->most, text, sizeof(text));
	if (n > 0 && !proc_io_parse(text, &io))
		m->io = io;
	m->io_is_refused |= n == -EACCES || n == -EPERM;
}

/* Returns false if the first thread has not run since. Without CONFIG_SCHED_INFO returns true. */
static bool member_has_run(struct proc_member *m, struct proc_budget *b)
{
	char text[PROC_SCHED_BYTES];
	ssize_t n;

	n = proc_files_read(&m->files, PROC_SCHED, &b->nr_open, b->most, text, sizeof(text));
	if (n <= 0 || !strncmp(text, "0 0 0", 5))
		return true;
	if (!strcmp(text, m->sched_text))
		return false;
	memcpy(m->sched_text, text, (size_t)n + 1);
	return true;
}

int proc_member_look(struct proc_member *m, enum proc_look look, struct proc_budget *b)
{
	const bool is_single = m->stat.threads == 1;
	char text[PROC_STAT_BYTES];
	struct proc_stat s;
	ssize_t n;

	m->is_changed = look == LOOK_WHOLE;
	/*
	 * Read the run count first: whatever it does after this read changes the count at the next
	 * scan.
	 */
	if (!member_has_run(m, b) && is_single && !m->is_changed)
		return 0;
	n = proc_files_read(&m->files, PROC_STAT, &b->nr_open, b->most, text, sizeof(text));
	if (n <= 0)
		return n ? (int)n : -ESRCH;
	m->is_changed |= is_single || look == LOOK_FULL || strcmp(text, m->text) != 0;
	if (!m->is_changed)
		return 0;
	memcpy(m->text, text, (size_t)n + 1);
	if (proc_stat_parse(text, &s))
		return -EBADMSG;
	if (m->stat.start_ns && s.start_ns != m->stat.start_ns)
		return -ESRCH; /* the file was not kept open, and the PID was reused */
	m->stat = s;
	others_read(m, b);
	return 0;
}

void proc_member_children(struct proc_member *m, enum proc_look look, struct proc_budget *b,
			  void (*fn)(void *context, pid_t child), void *context)
{
	if (m->stat.state == 'Z' &&
	    m->stat.threads <= 1) /* with more threads, only the first has ended */
		return;
	if (m->stat.threads > 1 && look != LOOK_QUICK)
		proc_each_child(m->files.pid, m->stat.threads, fn, context);
	else
		proc_files_children(&m->files, &b->nr_open, b->most, fn, context);
}

/* Returns the slot of @pid, or a free one. There is always one. */
static size_t member_slot(const struct proc_members *t, pid_t pid)
{
	size_t i = ((size_t)pid * 2654435761U) & (t->slots - 1);

	while (t->by_pid[i] && t->by_pid[i]->files.pid != pid)
		i = (i + 1) & (t->slots - 1);
	return i;
}

struct proc_member *proc_members_find(const struct proc_members *t, pid_t pid)
{
	return t->slots ? t->by_pid[member_slot(t, pid)] : NULL;
}

/* Serials rise in the order in which members are found. */
struct proc_member *proc_members_find_serial(const struct proc_members *t, uint64_t serial)
{
	size_t first = 0, behind = t->nr;

	while (first < behind) {
		size_t middle = first + (behind - first) / 2;

		if (t->all[middle]->rec.serial == serial)
			return t->all[middle];
		if (t->all[middle]->rec.serial < serial)
			first = middle + 1;
		else
			behind = middle;
	}
	return NULL;
}

static void by_pid_fill(struct proc_members *t)
{
	memset(t->by_pid, 0, t->slots * sizeof(*t->by_pid));
	for (size_t i = 0; i < t->nr; i++)
		t->by_pid[member_slot(t, t->all[i]->files.pid)] = t->all[i];
}

static bool members_grow(struct proc_members *t)
{
	size_t room = t->room ? t->room * 2 : 32;
	struct proc_member **all = memory_reallocarray(t->all, room, sizeof(*all)), **by_pid;

	if (!all)
		return false;
	t->all = all;
	by_pid = memory_reallocarray(t->by_pid, room * 2, sizeof(*by_pid));
	if (!by_pid)
		return false;
	t->by_pid = by_pid;
	t->room = room;
	t->slots = room * 2;
	by_pid_fill(t);
	return true;
}

bool proc_members_add(struct proc_members *t, struct proc_member *m)
{
	if (t->nr == t->room && !members_grow(t))
		return false;
	t->all[t->nr++] = m;
	t->by_pid[member_slot(t, m->files.pid)] = m;
	return true;
}

void proc_members_sweep(struct proc_members *t, uint64_t look,
			void (*end)(void *context, struct proc_member *m), void *context)
{
	size_t n = 0, before = t->nr;

	for (size_t i = 0; i < before; i++) {
		if (t->all[i]->look == look)
			t->all[n++] = t->all[i];
		else
			end(context, t->all[i]);
	}
	t->nr = n;
	if (n < before)
		by_pid_fill(t);
}

void proc_members_done(struct proc_members *t, struct proc_budget *b)
{
	for (size_t i = 0; i < t->nr; i++)
		proc_member_free(t->all[i], b);
	free(t->all);
	free(t->by_pid);
	*t = (struct proc_members){ 0 };
}
