// SPDX-License-Identifier: BSD-2-Clause
#include "measure/exact_peak.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void shares_forget(struct exact_peak *x)
{
	for (size_t i = 0; i < x->nr; i++)
		free(x->shares[i].holder.exe);
	x->nr = 0;
}

static int share_add(struct exact_peak *x, const struct process_record *r, const struct process *p,
		     uint64_t mm)
{
	struct share *s = x->shares;

	if (x->nr == x->room) {
		size_t room = x->room ? x->room * 2 : 16;

		s = reallocarray(s, room, sizeof(*s));
		if (!s)
			return -ENOMEM;
		x->shares = s;
		x->room = room;
	}
	s = &x->shares[x->nr++];
	*s = (struct share){ .epoch = r->share_epoch, .serial = r->serial, .mm = mm };
	s->holder.pid = p->pid;
	s->holder.rss_bytes = r->share_pages * (uint64_t)sysconf(_SC_PAGESIZE);
	s->holder.exe = p->exe ? strdup(p->exe) : NULL;
	memcpy(s->holder.comm, p->comm, sizeof(s->holder.comm));
	return 0;
}

int exact_peak_ended(struct exact_peak *x, const struct process_record *r, const struct process *p)
{
	if (!r->share_pages || r->share_epoch < x->epoch)
		return 0;
	if (r->share_epoch > x->epoch)
		shares_forget(x);
	x->epoch = r->share_epoch;
	return share_add(x, r, p, 0);
}

int exact_peak_left(struct exact_peak *x, const struct process_record *r, const struct process *p,
		    uint64_t mm)
{
	return share_add(x, r, p, mm);
}

struct finish {
	struct exact_peak *x;
	struct tree_peak peak;
	struct holders *holders;
};

/* Adds an address space that still exists to the process that uses it, or else used it last. */
static void space_add(void *context, uint64_t mm, const struct mm_entry *e)
{
	struct finish *f = context;
	uint64_t pages = e->epoch == f->peak.epoch ? e->at_peak : e->pages;
	uint64_t bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE);
	struct holder unknown = { .comm = "?", .rss_bytes = bytes };

	if (!pages)
		return;
	for (size_t i = 0; i < f->x->nr; i++) {
		struct share *s = &f->x->shares[i];

		if (e->users ? s->mm == mm : s->serial == e->serial) {
			s->holder.rss_bytes += bytes;
			return;
		}
	}
	holders_add(f->holders, &unknown);
}

void exact_peak_finish(struct exact_peak *x, const struct tracker *t, uint64_t start_ns,
		       struct summary *s)
{
	struct finish f = { .x = x, .holders = &s->holders };

	if (tracker_peak(t, &f.peak) || !f.peak.peak_pages)
		return;
	s->has_rss_peak_exact = true;
	s->rss_peak_exact_bytes = f.peak.peak_pages * (uint64_t)sysconf(_SC_PAGESIZE);
	s->rss_peak_exact_elapsed_ns = f.peak.peak_ns > start_ns ? f.peak.peak_ns - start_ns : 0;
	for (size_t i = 0; i < x->nr; i++)
		if (x->shares[i].epoch != f.peak.epoch) /* it is of an earlier peak */
			x->shares[i].holder.rss_bytes = 0;
	tracker_each_mm(t, space_add, &f);
	for (size_t i = 0; i < x->nr; i++)
		if (x->shares[i].holder.rss_bytes)
			holders_add(&s->holders, &x->shares[i].holder);
}

void exact_peak_done(struct exact_peak *x)
{
	shares_forget(x);
	free(x->shares);
	*x = (struct exact_peak){ 0 };
}
