// SPDX-License-Identifier: BSD-2-Clause
/* Sockets of Unix: their names and other ends, and what listens at an address, by sock_diag. */
#include "waits/sockets.h"
#include "waits/task.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define UNIX_LISTEN (1u << 10) /* the bit of TCP_LISTEN */

struct unix_row {
	uint64_t inode, peer;
	struct unix_diag_vfs file;             /* of its path */
	char name[sizeof(struct sockaddr_un)]; /* "@..." of one without a file */
};

/* @inode 0: all of these @states. */
static int unix_ask(uint64_t inode, uint32_t states, uint32_t show)
{
	struct {
		struct nlmsghdr head;
		struct unix_diag_req body;
	} ask = { { sizeof(ask), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 0, 0 },
		  { .sdiag_family = AF_UNIX,
		    .udiag_states = states,
		    .udiag_ino = (uint32_t)inode,
		    .udiag_show = show,
		    .udiag_cookie = { ~0u, ~0u } } };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	if (!inode)
		ask.head.nlmsg_flags |= NLM_F_DUMP;
	if (fd >= 0 && (inode > UINT32_MAX || send(fd, &ask, sizeof(ask), 0) < 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

static void unix_attribute_parse(const struct rtattr *at, struct unix_row *row)
{
	size_t n = RTA_PAYLOAD(at);
	uint32_t peer;

	if (at->rta_type == UNIX_DIAG_PEER && n == sizeof(peer)) {
		memcpy(&peer, RTA_DATA(at), sizeof(peer));
		row->peer = peer;
	} else if (at->rta_type == UNIX_DIAG_VFS && n == sizeof(row->file)) {
		memcpy(&row->file, RTA_DATA(at), sizeof(row->file));
	} else if (at->rta_type == UNIX_DIAG_NAME && n < sizeof(row->name)) {
		memcpy(row->name, RTA_DATA(at), n);
		if (!*row->name)
			*row->name = '@';
	}
}

static bool unix_row_parse(const struct nlmsghdr *head, struct unix_row *row)
{
	const size_t before = NLMSG_ALIGN(sizeof(struct unix_diag_msg));
	const char *body = NLMSG_DATA(head);
	const struct rtattr *at = (const struct rtattr *)(const void *)(body + before);
	const struct unix_diag_msg *message = NLMSG_DATA(head);
	ssize_t n = (ssize_t)head->nlmsg_len - (ssize_t)NLMSG_LENGTH(before);

	memset(row, 0, sizeof(*row));
	if (head->nlmsg_type != SOCK_DIAG_BY_FAMILY || n < 0)
		return false;
	row->inode = message->udiag_ino;
	for (; n > 0 && RTA_OK(at, (size_t)n); at = RTA_NEXT(at, n))
		unix_attribute_parse(at, row);
	return true;
}

static bool unix_row_find(uint64_t inode, struct unix_row *row)
{
	__cleanup(closep) int fd = unix_ask(inode, ~0u, UDIAG_SHOW_NAME | UDIAG_SHOW_PEER);
	_Alignas(struct nlmsghdr) char answer[1024];
	const struct nlmsghdr *head = (const struct nlmsghdr *)answer;
	ssize_t n = fd >= 0 ? recv(fd, answer, sizeof(answer), 0) : -1;

	return n > 0 && NLMSG_OK(head, (size_t)n) && unix_row_parse(head, row);
}

bool unix_find(uint64_t inode, struct socket_view *view)
{
	struct unix_row row, peer;

	if (!inode || !unix_row_find(inode, &row))
		return false;
	view->is_unix = true;
	view->peer = row.peer;
	text_copy_inert(view->local, sizeof(view->local), row.name);
	/* of the two ends of a connection mostly that of the server has a name */
	if (row.peer && unix_row_find(row.peer, &peer))
		text_copy_inert(view->remote, sizeof(view->remote), peer.name);
	return true;
}

/* What a listener is known by. */
struct unix_wanted {
	const char *name; /* of one without a file, as in struct unix_row */
	struct statx file;
};

static const char *name_of_file(const char *path)
{
	return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

static bool unix_row_is(const struct unix_row *row, const struct unix_wanted *wanted)
{
	uint32_t device = wanted->file.stx_dev_major << 20 | wanted->file.stx_dev_minor;

	if (*wanted->name == '@')
		return !strcmp(row->name, wanted->name);
	/* some file systems show another device than they have */
	return wanted->file.stx_ino && row->file.udiag_vfs_ino == (uint32_t)wanted->file.stx_ino &&
	       (row->file.udiag_vfs_dev == device ||
		!strcmp(name_of_file(row->name), name_of_file(wanted->name)));
}

static uint64_t unix_listener(const struct unix_wanted *wanted)
{
	__cleanup(closep) int fd = unix_ask(0, UNIX_LISTEN, UDIAG_SHOW_NAME | UDIAG_SHOW_VFS);
	_Alignas(struct nlmsghdr) char answer[16384];
	struct unix_row row;
	ssize_t n;

	while (fd >= 0 && (n = recv(fd, answer, sizeof(answer), 0)) > 0) {
		const struct nlmsghdr *head = (const struct nlmsghdr *)answer;

		for (; n > 0 && NLMSG_OK(head, (size_t)n); head = NLMSG_NEXT(head, n)) {
			if (head->nlmsg_type == NLMSG_DONE || head->nlmsg_type == NLMSG_ERROR)
				return 0;
			if (unix_row_parse(head, &row) && unix_row_is(&row, wanted))
				return row.inode;
		}
	}
	return 0;
}

uint64_t unix_find_listener(pid_t pid, const void *address, size_t length, char *name, size_t size)
{
	struct sockaddr_un un = { 0 };
	struct unix_wanted wanted = { 0 };
	char raw[sizeof(un.sun_path) + 1] = "", path[sizeof(raw) + 64];

	if (length <= offsetof(struct sockaddr_un, sun_path) || length > sizeof(un))
		return 0;
	memcpy(&un, address, length);
	memcpy(raw, un.sun_path, length - offsetof(struct sockaddr_un, sun_path));
	if (!*raw)
		*raw = '@';
	path_copy_inert(name, size, raw);
	wanted.name = raw;
	snprintf(path, sizeof(path), "/proc/%d/%s%s%s", pid, *raw == '/' ? "root" : "cwd",
		 *raw == '/' ? "" : "/", raw);
	if (*raw != '@')
		statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_INO, &wanted.file);
	return unix_listener(&wanted);
}
