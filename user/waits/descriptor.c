// SPDX-License-Identifier: BSD-2-Clause
/* What a descriptor of another process is, and which ends of it others have. */
#include "waits/fdinfo.h"
#include "waits/look.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static enum wait_kind pipe_look(struct wait *wait, struct other_end *end, const char *link,
				bool writes)
{
	wait->has_other_end = true;
	end->is_wanted = true;
	end->use = writes ? END_READS : END_WRITES;
	snprintf(end->link, sizeof(end->link), "%s", link);
	return writes ? WAIT_PIPE_WRITE : WAIT_PIPE_READ;
}

static enum wait_kind socket_look(struct look *look, struct wait *wait, struct other_end *end,
				  const char *link, bool writes)
{
	struct socket_view view;
	uint64_t inode = 0;

	if (sscanf(link, "socket:[%" SCNu64 "]", &inode) == 1 &&
	    socket_find(&look->net, wait->pid, inode, &view)) {
		const char *which = *view.remote ? view.remote : view.local;

		text_copy_inert(wait->object, sizeof(wait->object), which);
		if (view.peer) {
			wait->has_other_end = true;
			end->is_wanted = true;
			end->use = END_ANY;
			snprintf(end->link, sizeof(end->link), "socket:[%" PRIu64 "]", view.peer);
		}
	}
	return writes ? WAIT_SEND : WAIT_RECEIVE;
}

enum wait_kind descriptor_look(struct look *look, struct wait *wait, struct other_end *end, int fd,
			       bool writes)
{
	char path[64], link[sizeof(end->link)];
	struct statx st;

	if (!descriptor_link(wait->pid, fd, link, sizeof(link))) {
		wait->unread |= WAIT_NO_FILES;
		return WAIT_OTHER;
	}
	if (!strncmp(link, "pipe:[", 6))
		return pipe_look(wait, end, link, writes);
	if (!strncmp(link, "socket:[", 8))
		return socket_look(look, wait, end, link, writes);
	path_copy_inert(wait->object, sizeof(wait->object), link);
	if (link_is_terminal(link))
		return WAIT_TERMINAL;
	/* a file server that hangs is not asked: what is known of the file will do */
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", wait->pid, fd);
	if (link[0] == '/' && wait->state == 'S' &&
	    !statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_TYPE, &st) && S_ISFIFO(st.stx_mode))
		return pipe_look(wait, end, link, writes);
	return WAIT_FILE;
}
