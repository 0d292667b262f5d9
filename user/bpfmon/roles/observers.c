// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/observers.h"

#include "base/log.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The most that @options can ask for. */
static size_t observers_count(const struct recorder_options *options)
{
	size_t nr = options->nr_outputs;

	for (size_t i = 0; observer_at(i); i++)
		nr++;
	return nr;
}

/* Adds an observer to @s, unless it is skipped or fails. */
static int observer_open(struct observers *s, const struct observer_ops *ops, const char *target,
			 const struct recorder_options *options, struct patience *patience)
{
	struct observer *o = &s->all[s->nr];
	const size_t failures = memory_failures_of_thread();
	int err;

	*o = (struct observer){ .ops = ops, .target = target, .patience = patience };
	o->own = calloc(1, ops->own_bytes + 1);
	if (!o->own)
		return -ENOMEM;
	err = ops->open ? ops->open(o, options) : 0;
	if (err) {
		free(o->own);
		return err == OBSERVER_SKIPPED ? 0 : err;
	}
	s->nr++;
	return memory_failures_of_thread() > failures ? -ENOMEM : 0;
}

int observers_open(struct observers *s, const struct recorder_options *options,
		   struct patience *patience)
{
	const struct observer_ops *ops;
	int err = 0;

	s->all = calloc(observers_count(options), sizeof(*s->all));
	if (!s->all)
		return -ENOMEM;
	for (size_t i = 0; !err && i < options->nr_outputs; i++)
		err = observer_open(s, options->outputs[i].format, options->outputs[i].path,
				    options, patience);
	for (size_t i = 0; !err && (ops = observer_at(i)); i++) {
		const char *target = ops->target ? ops->target(options) : NULL;

		if (target)
			err = observer_open(s, ops, target, options, patience);
	}
	return err;
}

static void observer_drop(struct observer *o, int err)
{
	o->has_failed = true;
	if (err == -ETIMEDOUT)
		log_warn("the launcher has ended and nobody reads '%s': its end is missing",
			 o->target);
	else
		log_warn("writing '%s' failed: %s; it holds what came before, %s", o->target,
			 strerror(-err), "and the command goes on");
}

void observers_begin(struct observers *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		struct observer *o = &s->all[i];
		int err = o->ops->begin ? o->ops->begin(o) : 0;

		if (!err)
			continue;
		o->has_failed = true;
		log_warn("cannot put the new '%s' in place: %s", o->target, strerror(-err));
	}
}

void observers_line(struct observers *s, const struct line *l, const char *text, size_t length)
{
	for (size_t i = 0; i < s->nr; i++) {
		struct observer *o = &s->all[i];
		int err = o->ops->line && !o->has_failed ? o->ops->line(o, l, text, length) : 0;

		if (err)
			observer_drop(o, err);
	}
}

void observers_flush(struct observers *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		struct observer *o = &s->all[i];
		int err = o->ops->flush && !o->has_failed ? o->ops->flush(o) : 0;

		if (err)
			observer_drop(o, err);
	}
}

void observers_end(struct observers *s, struct summary *total)
{
	for (size_t i = s->nr; i > 0; i--) {
		struct observer *o = &s->all[i - 1];
		int err = o->ops->end && !o->has_failed ? o->ops->end(o, total) : 0;

		if (err)
			observer_drop(o, err);
	}
}

void observers_close(struct observers *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		struct observer *o = &s->all[i];
		int err = o->ops->close ? o->ops->close(o) : 0;

		if (err && !o->has_failed)
			log_warn("closing '%s' failed: %s", o->target, strerror(-err));
		free(o->own);
	}
	free(s->all);
	*s = (struct observers){ 0 };
}
