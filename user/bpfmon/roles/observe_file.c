// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/observe_file.h"

#include "base/control.h"
#include "base/log.h"
#include "bpfmon/roles/recorder.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define NO_READER_MS 20 /* between two attempts to open a pipe without a reader */
#define SILENCE_MS 1000 /* before a warning that a reader is missing */

static void output_refuse(const struct recorder_options *options, const struct output *out,
			  const char *path, int err)
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
	else if (!out->why && options->as_user &&
		 (err == -EACCES || err == -EPERM || err == -EROFS))
		snprintf(why, sizeof(why),
			 "cannot write '%s' as user %s: %s; --record-as root writes as root", path,
			 options->as_user, strerror(-err));
	else
		snprintf(why, sizeof(why), "cannot write '%s': %s", path, output_error(out, err));
	control_send(options->control_fd, CONTROL_FAILED, err, 0, why);
}

/* -ECANCELED: the launcher has ended, or has cancelled the run. */
static int output_open_waiting(struct output *out, const char *path,
			       const struct recorder_options *options)
{
	struct pollfd launcher = { .fd = options->control_fd };
	int err;

	if (options->stdout_is_closed && !strcmp(path, "-"))
		return -EBADF;
	for (int ms = 0; (err = output_open(out, path, options->force)) == -EAGAIN;
	     ms += NO_READER_MS) {
		if (ms == SILENCE_MS)
			log_warn("waiting for a reader of '%s'; until there is one nothing is run",
				 path);
		if (poll(&launcher, 1, NO_READER_MS) > 0)
			return -ECANCELED;
	}
	return err;
}

int file_observer_open(struct observer *o, const struct recorder_options *options)
{
	struct output *out = file_observer_output(o);
	int err = output_open_waiting(out, o->target, options);

	if (err == -EALREADY && options->outputs_are_defaults) {
		log_warn("BPFMON_OUTPUT: '%s' is being written by another bpfmon; "
			 "this run is not kept there, and -o would name another",
			 o->target);
		return OBSERVER_SKIPPED;
	}
	if (err) {
		output_refuse(options, out, o->target, err);
		return err;
	}
	out->patience = o->patience;
	log_info("the run goes to '%s' as %s%s%s", o->target, o->ops->name,
		 options->as_user ? ", written by user " : "",
		 options->as_user ? options->as_user : "");
	return 0;
}

int file_observer_begin(struct observer *o)
{
	return output_commit(file_observer_output(o));
}

int file_observer_flush(struct observer *o)
{
	return output_flush(file_observer_output(o));
}

int file_observer_close(struct observer *o)
{
	return output_close(file_observer_output(o));
}
