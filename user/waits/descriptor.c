// SPDX-License-Identifier: BSD-2-Clause
/* What a descriptor of another process is, and which ends of it others have. */
#include "waits/look.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static bool link_is_terminal(const char *link)
{
	return !strncmp(link, "/dev/pts/", 9) || !strncmp(link, "/dev/tty", 8) ||
	       !strcmp(link, "/dev/console");
}

enum wait_kind descriptor_look(struct look *look, struct wait *wait, struct other_end *end, int fd,
			       bool writes)
{
	char path[64], link[sizeof(end->link)];
	struct stat st;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", wait->pid, fd);
	n = readlink(path, link, sizeof(link) - 1);
	if (n <= 0) {
		wait->unread |= WAIT_NO_FILES;
		return WAIT_OTHER;
	}
	link[n] = '\0';
	if (!strncmp(link, "pipe:[", 6))
		return pipe_look(wait, end, link, writes);
	if (!strncmp(link, "socket:[", 8))
		return socket_look(look, wait, end, link, writes);
	path_copy_inert(wait->object, sizeof(wait->object), link);
	if (link_is_terminal(link))
		return WAIT_TERMINAL;
	/* stat() of what hangs, as a file server, would hang too: it is asked only of names that
	 * may be a FIFO */
	if (link[0] == '/' && wait->state == 'S' && !stat(path, &st) && S_ISFIFO(st.st_mode))
		return pipe_look(wait, end, link, writes);
	return WAIT_FILE;
}
