/* SPDX-License-Identifier: BSD-2-Clause */
/* Where what programs push comes in: sockets that are there before the command is. */
#ifndef ROLES_INTAKE_H
#define ROLES_INTAKE_H

#include "base/user.h"
#include "measure/inbox.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/un.h>

/*
 * The socket for the command's marks: in a folder that only the command's user may enter, made and
 * removed by a process that has that user's rights and no more. So no path is followed with more
 * rights than the users have that can change it.
 */
struct mark_socket {
	int fd;        /* marks come out of it */
	int keeper_fd; /* while it is open the folder stays */
	pid_t keeper;  /* removes the folder */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* for the command's environment */
};

struct intake_options {
	bool marks;       /* --marks */
	bool metrics_udp; /* --metrics-udp */
	unsigned port;    /* of it; 0: any that is free */
};

struct intake_sockets {
	struct intake intake; /* sent to the collector */
	bool is_on;
	struct mark_socket marks;
	int span_fd;        /* spans begin there; negative: they cannot */
	char span_name[64]; /* or there, where an agent listens */
};

/*
 * Opens what @o has, marks as the user @as (NULL: the own one), and puts the variable for them into
 * the environment, which the command inherits; and the socket for spans, which is always there, or
 * @by_agent only its name. A negative errno after one line to the user.
 */
int intake_open(struct intake_sockets *in, const struct intake_options *o, const struct user *as,
		bool by_agent);
/* In the roles, which do not inherit them; */
void intake_close(struct intake_sockets *in);
/* and in the launcher, which has sent them to the collector and only keeps the folder. */
void intake_hand_over(struct intake_sockets *in);
/* The end: nothing is left of them in the file system. */
void intake_remove(struct intake_sockets *in);

#endif
