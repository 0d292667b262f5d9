// SPDX-License-Identifier: BSD-2-Clause
#include "base/fd_passing.h"

#include <string.h>

void fds_put(struct msghdr *h, union passed_fds *room, const int *fds, size_t nr)
{
	if (!nr)
		return;
	h->msg_control = room->room;
	h->msg_controllen = CMSG_SPACE(nr * sizeof(int));
	room->header.cmsg_level = SOL_SOCKET;
	room->header.cmsg_type = SCM_RIGHTS;
	room->header.cmsg_len = CMSG_LEN(nr * sizeof(int));
	memcpy(CMSG_DATA(&room->header), fds, nr * sizeof(int));
}

size_t fds_read(struct msghdr *h, int fds[FDS_AT_ONCE])
{
	size_t nr = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
		    n > FDS_AT_ONCE - nr)
			continue;
		memcpy(fds + nr, CMSG_DATA(c), n * sizeof(int));
		nr += n;
	}
	return nr;
}
