/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sockets on which programs push marks, metrics and spans. They exist before the command runs.
 */
#ifndef ROLES_INTAKE_H
#define ROLES_INTAKE_H

#include "base/user.h"
#include "measure/inbox.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/un.h>

/*
 * The socket for the command's marks, in a folder that only the command's user may enter. A process
 * with just that user's rights makes and removes the folder, so no path is resolved with more
 * rights than the users have that can change it.
 */
struct mark_socket {
	int fd;        /* receives marks */
	int keeper_fd; /* the folder stays while this is open */
	pid_t keeper;  /* removes the folder */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* for the command's environment */
};

struct intake_options {
	bool marks;
	bool metrics_udp;
	unsigned port; /* 0: any free port */
};

struct intake_sockets {
	struct intake intake; /* sent to the collector */
	bool is_on;
	struct mark_socket marks;
	int span_fd;        /* listens for new spans; negative: spans are not possible */
	char span_name[64]; /* name of that socket if an agent listens */
};

/*
 * Opens the sockets that @o requests, the one for marks as user @as (NULL: the current user), and
 * puts its path into the environment, which the command inherits. Also opens the socket for spans,
 * which always exists; @by_agent: only chooses its name. Returns 0, or a negative errno after a
 * message to the user.
 */
int intake_open(struct intake_sockets *in, const struct intake_options *o, const struct user *as,
		bool by_agent);
/* Closes the sockets in a forked role. The collector receives them with its request. */
void intake_close(struct intake_sockets *in);
/* Closes the sockets in the launcher, once sent to the collector; keeps the folder. */
void intake_hand_over(struct intake_sockets *in);
/* Closes the sockets and removes the folder. */
void intake_remove(struct intake_sockets *in);

#endif
