/* SPDX-License-Identifier: BSD-2-Clause */
/* The launcher while the command runs, and until the roles have ended. */
#ifndef ROLES_ATTEND_H
#define ROLES_ATTEND_H

#include "base/reaped.h"
#include "bpfmon/roles/end_request.h"
#include "bpfmon/roles/limit_end.h"
#include "bpfmon/roles/roles.h"

struct attendance {
	pid_t command;
	struct roles *roles; /* not owned */
	int signal_fd;
	struct end_requests
		requests;        /* SIGTERM; when the command has ended or is left, all of them */
	struct limit_end limits; /* what it is ended with, and whether it is */
	bool command_ended;
	int command_status;   /* of wait(2) */
	bool is_detached;     /* the run is closed, whatever goes on still */
	struct reaped reaped; /* where the collector wants it */
	bool has_untold;      /* some of it has not been sent */
	bool has_stopped_too; /* with the command; a SIGCONT to the launcher is for both */
};

/*
 * Stands in for the command: forwards signals, stops and goes on with it; until it has ended, or is
 * to be left running, and the roles have ended. A third request ends it, and them, in any case.
 */
void attendance_run(struct attendance *a);

#endif
