// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/job_request.h"

#include "base/log.h"
#include "base/message.h"
#include "base/pidfd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define PATIENCE_MS 5000 /* with a collector that takes nothing */

static int request_open_process(struct request *r, pid_t pid)
{
	int fd = pidfd_make(pid);

	if (fd < 0)
		return fd;
	r->pid_fds[r->nr_pids++] = fd;
	return 0;
}

/* One that has ended since it was named is left out, unless it is the last one. */
static int request_open_targets(struct request *r, const struct launch_options *o)
{
	int err = 0;

	for (size_t i = 0; !err && i < o->nr_targets; i++) {
		err = request_open_process(r, o->targets[i]);
		if (err == -ESRCH && (r->nr_pids || i + 1 < o->nr_targets))
			err = 0;
		else if (err == -ESRCH)
			log_error("process %d has just ended; there is nothing to attach to",
				  o->targets[i]);
		else if (err)
			log_error("cannot open process %d: %s", o->targets[i], strerror(-err));
	}
	return err;
}

static int request_open_command(struct request *r, pid_t command)
{
	int err = request_open_process(r, command);

	if (err)
		log_error("cannot open the command's process %d: %s", command, strerror(-err));
	return err;
}

static int request_open_cgroup(struct request *r, const char *path)
{
	r->cgroup_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (r->cgroup_fd >= 0)
		return 0;
	log_error("cannot open the cgroup '%s': %s", path, strerror(errno));
	return -errno;
}

static int request_open_followed(struct request *r, const struct launch_options *o, pid_t command)
{
	const char *cgroup = o->target ? o->target->cg.path : o->cgroup ? o->cgroup->path : NULL;
	int err = 0;

	if (o->target_job) {
		r->follow = FOLLOW_JOB;
		snprintf(r->job, sizeof(r->job), "%s", o->target_job);
		return 0;
	}
	r->follow = command ? FOLLOW_COMMAND : o->target ? FOLLOW_CGROUP : FOLLOW_PROCESSES;
	if (r->follow != FOLLOW_CGROUP)
		err = command ? request_open_command(r, command) : request_open_targets(r, o);
	if (!err && cgroup)
		err = request_open_cgroup(r, cgroup);
	return err;
}

static int request_send(const struct role *collector, const struct request *r)
{
	int fds[REQUEST_FDS], err;
	size_t nr = request_fds(r, fds);
	struct jsonw j = { 0 };

	request_write(&j, r);
	err = message_send_json(collector->control_fd, CONTROL_REQUEST, &j, fds, nr, PATIENCE_MS);
	/* a collector that has ended is seen where it is waited for */
	if (err && err != -EPIPE && err != -ECONNRESET)
		log_error("cannot send the collector its request: %s", strerror(-err));
	return err == -EPIPE || err == -ECONNRESET ? 0 : err;
}

int job_request_send(struct roles *roles, struct launch_options *o, pid_t command)
{
	struct request *r = &o->request;
	int err;

	r->stream_fd = roles->stream_fd;
	if (o->intake && o->intake->is_on) {
		r->marks_fd = o->intake->intake.marks_fd;
		memcpy(r->udp_fds, o->intake->intake.udp_fds, sizeof(r->udp_fds));
	}
	if (o->intake && o->intake->span_fd >= 0)
		r->span_fd = o->intake->span_fd;
	if (o->intake)
		snprintf(r->spans, sizeof(r->spans), "%s", o->intake->span_name);
	err = request_open_followed(r, o, command);
	if (!err)
		err = request_send(&roles->collector, r);
	request_close_followed(r);
	close(roles->stream_fd);
	roles->stream_fd = -1;
	if (o->intake)
		intake_hand_over(o->intake);
	return err;
}
