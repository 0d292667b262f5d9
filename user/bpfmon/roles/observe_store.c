// SPDX-License-Identifier: BSD-2-Clause
/* The store. Its thread waits for the disk and reports failures: no hook here fails. */
#include "store/store.h"

#include "base/log.h"
#include "bpfmon/roles/recorder.h"

#include <errno.h>
#include <string.h>

struct stored {
	struct store *store; /* owned */
};

static struct store *observer_store(struct observer *o)
{
	return ((struct stored *)o->own)->store;
}

static const char *store_observer_target(const struct recorder_options *options)
{
	return options->store;
}

static int store_observer_open(struct observer *o, const struct recorder_options *options)
{
	struct stored *own = o->own;

	(void)options;
	own->store = store_start(o->target);
	if (!own->store) {
		log_warn("the run is not kept in the store '%s': %s", o->target, strerror(ENOMEM));
		return OBSERVER_SKIPPED;
	}
	log_info("the run is kept in the store '%s'", o->target);
	return 0;
}

static int store_observer_line(struct observer *o, const struct line *l, const char *text,
			       size_t length)
{
	(void)l; /* queued lines are text: parsed ones would take several times the memory */
	store_put(observer_store(o), text, length);
	return 0;
}

/* Waits a few seconds, so that the summary can show where the run is, or why it is not kept. */
static int store_observer_end(struct observer *o, struct summary *total)
{
	struct store *s = observer_store(o);

	store_finish(s);
	if (!store_trouble(s, total->not_kept, sizeof(total->not_kept)))
		total->kept_as = store_run(s);
	return 0;
}

static int store_observer_close(struct observer *o)
{
	store_free(observer_store(o));
	return 0;
}

const struct observer_ops store_observer = {
	.name = "store",
	.own_bytes = sizeof(struct stored),
	.target = store_observer_target,
	.open = store_observer_open,
	.line = store_observer_line,
	.end = store_observer_end,
	.close = store_observer_close,
};
