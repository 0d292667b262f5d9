// SPDX-License-Identifier: BSD-2-Clause
#include "record/outputs.h"

#include "base/control.h"
#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NO_READER_MS 20 /* between two looks at a pipe that nobody has opened */
#define SILENCE_MS 1000 /* until we say that we wait for its reader */

static void refuse(const struct recorder_options *o, const struct output *out, const char *path,
		   int err)
{
	char why[1024];

	if (err == -EBADF && !strcmp(path, "-"))
		snprintf(why, sizeof(why), "cannot write to stdout (-o -): it is closed");
	else if (err == -EALREADY)
		snprintf(why, sizeof(why),
			 "'%s' is being written already, by another bpfmon or another output of "
			 "this one",
			 path);
	else if (err == -EEXIST)
		snprintf(why, sizeof(why),
			 "'%s' exists and is not overwritten; --force replaces it", path);
	else if (!out->why && o->as_user && (err == -EACCES || err == -EPERM || err == -EROFS))
		snprintf(why, sizeof(why),
			 "cannot write '%s' as user %s: %s; --record-as root writes as root", path,
			 o->as_user, strerror(-err));
	else
		snprintf(why, sizeof(why), "cannot write '%s': %s", path, output_error(out, err));
	control_send(o->control_fd, CONTROL_FAILED, err, 0, why);
}

/* -ECANCELED: the launcher is gone, or does not want the run any more. */
static int open_output(struct output *out, const char *path, const struct recorder_options *o)
{
	struct pollfd launcher = { .fd = o->control_fd };
	int err;

	if (o->stdout_is_closed && !strcmp(path, "-"))
		return -EBADF;
	for (int ms = 0; (err = output_open(out, path, o->force)) == -EAGAIN; ms += NO_READER_MS) {
		if (ms == SILENCE_MS)
			log_warn("waiting for a reader of '%s'; until there is one nothing is run",
				 path);
		if (poll(&launcher, 1, NO_READER_MS) > 0)
			return -ECANCELED;
	}
	return err;
}

int outputs_open(struct outputs *all, const struct recorder_options *o, struct patience *patience)
{
	for (size_t i = 0; i < o->nr_outputs; i++) {
		struct observer *s = &all->observers[all->nr];
		int err = open_output(&s->out, o->outputs[i].path, o);

		if (err == -EALREADY && o->outputs_are_defaults) {
			log_warn("BPFMON_OUTPUT: '%s' is being written by another bpfmon; "
				 "this run is not kept there, and -o would name another",
				 o->outputs[i].path);
			continue;
		}
		if (err) {
			refuse(o, &s->out, o->outputs[i].path, err);
			return err;
		}
		s->out.patience = patience;
		s->ops = o->outputs[i].format;
		all->nr++;
		log_info("the run goes to '%s' as %s%s%s", o->outputs[i].path, s->ops->name,
			 o->as_user ? ", written by user " : "", o->as_user ? o->as_user : "");
	}
	if (!o->quiet) {
		struct observer *s = &all->observers[all->nr++];

		s->ops = &text_observer;
		output_open_fd(&s->out, STDERR_FILENO);
		s->out.patience = patience;
	}
	return 0;
}

void outputs_flush(struct outputs *all)
{
	for (size_t i = 0; i < all->nr; i++) {
		int err = output_flush(&all->observers[i].out);

		if (err == -ETIMEDOUT)
			log_warn("the launcher has ended and nobody reads '%s': its end is missing",
				 all->observers[i].out.path);
		else if (err)
			log_warn("writing '%s' failed: %s; it holds what came before, %s",
				 all->observers[i].out.path, strerror(-err),
				 "and the command goes on");
	}
}

void outputs_commit(struct outputs *all)
{
	for (size_t i = 0; i < all->nr; i++) {
		int err = output_commit(&all->observers[i].out);

		if (err)
			log_warn("cannot put the new '%s' in place: %s", all->observers[i].out.path,
				 strerror(-err));
	}
}

void outputs_close(struct outputs *all)
{
	for (size_t i = 0; i < all->nr; i++) {
		const char *path = all->observers[i].out.path;
		int late = output_close(&all->observers[i].out);

		if (late)
			log_warn("closing '%s' failed: %s", path, strerror(-late));
	}
}
