// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The exact peak of the tree's resident memory (--exact-peak). A hook runs at each change of a
 * counter. When the central part of a counter has moved (since 6.2: by a batch), it sums the
 * address space again and updates the tree's total. What each one held at the peak is stored
 * lazily, at the first change after a new peak, so a peak costs the same for any number of address
 * spaces.
 */
#include "memory.bpf.h"

#define LOOKS 2

const volatile bool want_exact_peak;
__u64 watched_pages; /* a larger total emits one event and resets this; 0: not watched */
bool peak_is_frozen; /* the run is over and the sizes at the peak are being read */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192); /* set before loading */
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u64);
	__type(value, struct mm_entry);
} mms SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct tree_peak);
} peak SEC(".maps");

static const struct mm_entry no_space;

static __always_inline struct tree_peak *tree_peak_get(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&peak, &zero);
}

static __always_inline struct mm_entry *mm_find(u64 mm)
{
	return bpf_map_lookup_elem(&mms, &mm);
}

/*
 * Sets the size of @mm, the address space of @e, to @pages, unless the entry has changed since
 * @version: @pages may be outdated then. @is_last: sets it in any case and closes the entry.
 * Returns false if nothing was set.
 */
static __always_inline bool mm_set(struct mm_entry *e, u64 mm, u64 pages, u64 version, bool is_last)
{
	struct tree_peak *t = tree_peak_get();
	bool is_above = false;
	u64 now = mono_now();

	if (!t || peak_is_frozen)
		return false;
	bpf_spin_lock(&t->lock);
	if (e->mm != mm || (!is_last && e->version != version)) {
		bpf_spin_unlock(&t->lock);
		return false;
	}
	e->version = ++t->sets;
	if (is_last)
		e->mm = 0;
	if (e->epoch != t->epoch) {
		e->at_peak = e->pages;
		e->epoch = t->epoch;
	}
	t->pages += pages - e->pages;
	e->pages = pages;
	if ((s64)t->pages > (s64)t->peak_pages) {
		t->peak_pages = t->pages;
		t->peak_ns = now;
		t->epoch++;
		is_above = watched_pages && t->pages > watched_pages;
		if (is_above)
			watched_pages = 0;
	}
	bpf_spin_unlock(&t->lock);
	if (is_above)
		account_emit(0, 0, EVENT_MEMORY);
	return true;
}

/* Reads the size of @mm. If another CPU sets it during each attempt, that value stays. */
static __always_inline void mm_read(struct mm_entry *e, u64 mm)
{
	for (int i = 0; i < LOOKS; i++) {
		u64 version = *(volatile u64 *)&e->version, pages;

		if (e->mm != mm)
			return;
		pages = resident_read((struct mm_struct *)mm);
		/*
		 * an unused address space does not grow: this is an untracked one at the same
		 * address
		 */
		if ((!e->users && pages > e->pages) || mm_set(e, mm, pages, version, false))
			return;
	}
}

/* Closes @e and adds what it held at the peak to the record of its process. */
static __always_inline void mm_close(u64 mm, struct mm_entry *e)
{
	struct process_entry *p;
	struct tree_peak *t = tree_peak_get();

	if (!mm_set(e, mm, 0, 0, true)) /* a few pages may still be counted after the teardown */
		return;
	p = process_find(e->owner, e->serial);
	if (p && t && p->event.rec.serial == e->serial && e->at_peak) {
		if (p->event.rec.share_epoch != e->epoch)
			p->event.rec.share_pages = 0;
		p->event.rec.share_epoch = e->epoch;
		p->event.rec.share_pages += e->at_peak;
	}
	bpf_map_delete_elem(&mms, &mm);
}

int mm_refresh(u64 mm)
{
	struct mm_entry *e = mm_find(mm);

	if (e)
		mm_read(e, mm);
	return 0;
}

/* Returns the entry of the address space of @p, but not that of a later one at the same address. */
static __always_inline struct mm_entry *process_mm(struct process_entry *p)
{
	struct mm_entry *e = p && p->mm ? mm_find(p->mm) : NULL;

	return e && e->id == p->mm_id ? e : NULL;
}

/* An entry with users is shared. The address of one without users may have been reused. */
int mm_join(u64 signal, u64 serial, u64 mm)
{
	struct process_entry *p = process_find(signal, serial);
	struct mm_entry *e = mm ? mm_find(mm) : NULL;
	struct tree_peak *t = tree_peak_get();

	if (!p || !mm || !t)
		return 0;
	p->mm = mm;
	if (e && e->users) {
		p->mm_id = e->id;
		add(e->users, 1);
		return 0;
	}
	if (e)
		mm_close(mm, e);
	/*
	 * filled in within the map: the stack has no room for an entry this deep in the call chain
	 */
	if (bpf_map_update_elem(&mms, &mm, &no_space, BPF_NOEXIST)) {
		account_lose(p->event.rec.account.tree, p->event.rec.account.cgroup, LOSS_MMS, 1);
		return 0;
	}
	e = mm_find(mm);
	if (!e)
		return 0;
	p->mm_id = serial_new();
	e->id = p->mm_id;
	e->users = 1;
	e->owner = signal;
	e->serial = p->event.rec.serial;
	e->epoch = t->epoch;
	e->mm = mm;
	return mm_refresh(mm);
}

int mm_leave(u64 signal, u64 serial, u32 is_torn_down)
{
	struct process_entry *p = process_find(signal, serial);
	struct mm_entry *e = process_mm(p);

	if (!p || !e || !e->users)
		return 0;
	add(e->users, -1);
	if (e->users) {
		p->mm_id = 0; /* closing its record later leaves again */
		return 0;
	}
	e->owner = signal;
	e->serial = p->event.rec.serial;
	if (is_torn_down)
		mm_close(p->mm, e);
	return 0;
}

int mm_forget(u64 signal, u64 serial)
{
	struct process_entry *p = process_find(signal, serial);
	struct mm_entry *e = process_mm(p);

	if (p && e && !e->users && e->serial == serial)
		mm_close(p->mm, e);
	return 0;
}

/* After this the address may be reused, even by an untracked address space. */
int mm_note_freed(u64 mm, u64 signal, u64 serial)
{
	struct process_entry *p = process_find(signal, serial);
	struct mm_entry *e = mm_find(mm);

	if (!e)
		return 0;
	if (p && p->mm_id == e->id) { /* its last user, at exec */
		e->owner = signal;
		e->serial = p->event.rec.serial;
	}
	mm_close(mm, e);
	return 0;
}

int mm_note_born(u64 mm)
{
	struct mm_entry *e = mm_find(mm);

	if (e)
		mm_close(mm, e);
	return 0;
}

SEC("?tp_btf/rss_stat")
int BPF_PROG(peak__rss, struct mm_struct *mm, int member)
{
	u64 addr = (u64)mm;
	struct mm_entry *e = mm_find(addr);
	s64 central;

	if (!e || member < 0 || member >= NR_RSS)
		return 0;
	central = rss_central_read(mm, member);
	if (central == e->central[member])
		return 0;
	e->central[member] = central;
	mm_read(e, addr);
	return 0;
}
