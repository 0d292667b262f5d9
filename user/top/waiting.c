// SPDX-License-Identifier: BSD-2-Clause
#include "top/waiting.h"

#include "base/clock.h"
#include "waits/waits.h"

void waiting_begin(struct waiting *w)
{
	if (!w->set)
		w->set = waits_new();
	if (w->is_put_off)
		return;
	/* of what was asked about for a key, the screen may have gone on */
	if (w->set && (w->is_owed || clock_ns(CLOCK_MONOTONIC) - w->read_ns >= NSEC_PER_SEC)) {
		waits_clear(w->set);
		w->nr_read = 0;
	}
	w->is_owed = false;
}

void waiting_add(struct waiting *w, int32_t pid, uint64_t start_epoch_ns)
{
	if (w->set)
		waits_add(w->set, pid, start_epoch_ns);
}

/* What came to the screen since the last reading makes it be read again. */
static void waiting_read(struct waiting *w)
{
	if (w->nr_read == waits_given(w->set))
		return;
	waits_read(w->set, false);
	w->nr_read = waits_given(w->set);
	w->read_ns = clock_ns(CLOCK_MONOTONIC);
}

bool waiting_text(struct waiting *w, int32_t pid, uint64_t start_epoch_ns, char *state, char *out,
		  size_t size)
{
	const struct wait *one;
	int at = w->set ? waits_add(w->set, pid, start_epoch_ns) : -1;

	if (at < 0)
		return false;
	if (w->is_put_off && (size_t)at >= w->nr_read) {
		w->is_owed = true;
		return false;
	}
	if (!w->is_put_off)
		waiting_read(w);
	one = waits_get(w->set, (size_t)at);
	if (one->kind == WAIT_ENDED || one->kind == WAIT_HIDDEN)
		return false;
	*state = one->state;
	out[0] = '\0';
	if (one->kind != WAIT_RUNS && one->kind != WAIT_IDLE)
		wait_text(one, out, size);
	return *state;
}

void waiting_done(struct waiting *w)
{
	waits_free(w->set);
	*w = (struct waiting){ 0 };
}
