/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The socket for the command's marks: in a folder that only the command's user may enter, made and
 * removed by a process that has that user's rights and no more. So no path is followed with more
 * rights than the users have who can change it.
 */
#ifndef ROLES_MARK_SOCKET_H
#define ROLES_MARK_SOCKET_H

#include "base/user.h"

#include <sys/un.h>

struct mark_socket {
	int fd;        /* marks come out of it */
	int keeper_fd; /* while it is open the folder stays */
	pid_t keeper;  /* removes the folder */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* for the command's environment */
};

/*
 * Makes it as the user @as (NULL: ourselves) in XDG_RUNTIME_DIR, if that is the user's, else in
 * /tmp. A negative errno; @why then is what could not be made, in a sentence without a full stop.
 */
int mark_socket_make(struct mark_socket *m, const struct user *as, char *why, size_t size);
/* Closes it and waits until the folder is gone, but not for ever. */
void mark_socket_remove(struct mark_socket *m);

#endif
