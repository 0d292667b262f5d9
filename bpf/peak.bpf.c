// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The exact peak of the tree's resident memory (--exact-peak). A hook runs at each change of a
 * counter; when its central part has moved (by a batch, since 6.2), the address space is summed
 * again and the tree's total updated. What each held at the peak is stored lazily: an entry stores
 * what it held at its first change after a new peak, so that a peak costs the same for any number
 * of address spaces.
 */
#include "memory.bpf.h"

#define LOOKS 2

const volatile bool want_exact_peak;
__u64 watched_pages; /* above these there is one event, which resets it; 0: nothing is watched */
bool peak_is_frozen; /* the run is over: what was held at the peak is being read */

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
 * Sets what @mm, the address space of @e, holds to @pages, unless the entry was set since it had
 * @version: then @pages may be older than what it has. @is_last: in any case, and for the last
 * time. False: not set.
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

/* Reads what @mm holds. If another CPU sets it meanwhile each time, that value is kept. */
static __always_inline void mm_read(struct mm_entry *e, u64 mm)
{
	for (int i = 0; i < LOOKS; i++) {
		u64 version = *(volatile u64 *)&e->version, pages;

		if (e->mm != mm)
			return;
		pages = resident_read((struct mm_struct *)mm);
		/* what nothing uses does not grow: it is another one, which is not followed */
		if ((!e->users && pages > e->pages) || mm_set(e, mm, pages, version, false))
			return;
	}
}

/* Ends @e: what it held at the peak goes into the record of the process that it belongs to. */
static __always_inline void mm_end(u64 mm, struct mm_entry *e)
{
	struct process_entry *p;
	struct tree_peak *t = tree_peak_get();

	if (!mm_set(e, mm, 0, 0, true)) /* after the teardown a few pages may still be counted */
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

/* The entry of the address space that @p uses; not that of a later one at the same address. */
static __always_inline struct mm_entry *process_mm(struct process_entry *p)
{
	struct mm_entry *e = p && p->mm ? mm_find(p->mm) : NULL;

	return e && e->id == p->mm_id ? e : NULL;
}

/* An entry with users is shared; the address of one without may have been reused. */
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
		mm_end(mm, e);
	/* filled in within the map: deep down in calls, the stack has no room for an entry */
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

/* The process no longer uses its address space, by exit or exec. */
int mm_leave(u64 signal, u64 serial, u32 is_torn_down)
{
	struct process_entry *p = process_find(signal, serial);
	struct mm_entry *e = process_mm(p);

	if (!p || !e || !e->users)
		return 0;
	add(e->users, -1);
	if (e->users) {
		p->mm_id = 0; /* its record may be closed later, which leaves again */
		return 0;
	}
	e->owner = signal;
	e->serial = p->event.rec.serial;
	if (is_torn_down)
		mm_end(p->mm, e);
	return 0;
}

/* The process is about to be emitted and removed. */
int mm_forget(u64 signal, u64 serial)
{
	struct process_entry *p = process_find(signal, serial);
	struct mm_entry *e = process_mm(p);

	if (p && e && !e->users && e->serial == serial)
		mm_end(p->mm, e);
	return 0;
}

/* From now on the address may be reused, also by an address space that is not followed. */
int mm_note_freed(u64 mm, u64 signal, u64 serial)
{
	struct process_entry *p = process_find(signal, serial);
	struct mm_entry *e = mm_find(mm);

	if (!e)
		return 0;
	if (p && p->mm_id == e->id) { /* its last user, by exec */
		e->owner = signal;
		e->serial = p->event.rec.serial;
	}
	mm_end(mm, e);
	return 0;
}

int mm_note_born(u64 mm)
{
	struct mm_entry *e = mm_find(mm);

	if (e)
		mm_end(mm, e);
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
