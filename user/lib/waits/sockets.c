// SPDX-License-Identifier: BSD-2-Clause
#include "waits/sockets.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "waits/task.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Unix sockets by sock_diag: their names, other ends, and listeners at an address. */

#define UNIX_LISTEN (1u << 10) /* as a state bit: 1 << TCP_LISTEN */

struct unix_row {
	uint64_t inode, peer;
	struct unix_diag_vfs file;             /* inode of its path */
	char name[sizeof(struct sockaddr_un)]; /* "@..." without a file */
};

/* Requests one socket, or if @inode is 0 all in these @states. Returns the netlink socket or -1. */
static int unix_diag_request(uint64_t inode, uint32_t states, uint32_t show)
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
	__cleanup(closep) int fd = unix_diag_request(inode, ~0u, UDIAG_SHOW_NAME | UDIAG_SHOW_PEER);
	_Alignas(struct nlmsghdr) char answer[1024];
	const struct nlmsghdr *head = (const struct nlmsghdr *)answer;
	ssize_t n = fd >= 0 ? recv(fd, answer, sizeof(answer), 0) : -1;

	return n > 0 && NLMSG_OK(head, (size_t)n) && unix_row_parse(head, row);
}

/*
 * Finds a Unix socket by inode, without a list of all sockets. The kernel shows any caller the
 * sockets of its own network namespace.
 */
static bool unix_find(uint64_t inode, struct socket_view *view)
{
	struct unix_row row, peer;

	if (!inode || !unix_row_find(inode, &row))
		return false;
	view->is_unix = true;
	view->peer = row.peer;
	text_copy_inert(view->local, sizeof(view->local), row.name);
	/* usually only the server's end of a connection has a name */
	if (row.peer && unix_row_find(row.peer, &peer))
		text_copy_inert(view->remote, sizeof(view->remote), peer.name);
	return true;
}

/* The address of a listener. */
struct unix_wanted {
	const char *name; /* as in struct unix_row */
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
	/* some file systems report a device other than their own */
	return wanted->file.stx_ino && row->file.udiag_vfs_ino == (uint32_t)wanted->file.stx_ino &&
	       (row->file.udiag_vfs_dev == device ||
		!strcmp(name_of_file(row->name), name_of_file(wanted->name)));
}

static uint64_t unix_listener(const struct unix_wanted *wanted)
{
	__cleanup(closep) int fd =
		unix_diag_request(0, UNIX_LISTEN, UDIAG_SHOW_NAME | UDIAG_SHOW_VFS);
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

/* TCP and UDP sockets, from the tables of /proc/PID/net. */

#define TABLE_BYTES (16u << 20) /* longer tables are cut: a hundred thousand sockets */
#define ADDRESS_BYTES 48        /* 32 digits, a colon, a port */

void net_tables_done(struct net_tables *t)
{
	for (size_t i = 0; i < NR_NET_TABLES; i++)
		free(t->text[i]);
	memset(t, 0, sizeof(*t));
}

/* Formats an address such as "0100007F:1F90": words in host byte order, port in hexadecimal. */
static void address_format(char *out, size_t size, const char *hex, const char *protocol)
{
	const char *colon = strchr(hex, ':');
	uint32_t word[4] = { 0 };
	char text[INET6_ADDRSTRLEN] = "?";
	bool is_v6 = colon && colon - hex == 32;
	unsigned port = 0;

	for (int i = 0; i < (is_v6 ? 4 : 1); i++)
		if (sscanf(hex + (ptrdiff_t)8 * i, "%8" SCNx32, &word[i]) != 1)
			return;
	if (colon && sscanf(colon + 1, "%x", &port) != 1)
		return;
	if (is_v6 && !word[0] && !word[1] && word[2] == htonl(0xffff)) {
		is_v6 = false;
		word[0] = word[3];
	}
	inet_ntop(is_v6 ? AF_INET6 : AF_INET, word, text, sizeof(text));
	snprintf(out, size, is_v6 ? "[%s]:%u (%s)" : "%s:%u (%s)", text, port, protocol);
}

struct net_row {
	char local[ADDRESS_BYTES], remote[ADDRESS_BYTES];
	uint64_t inode;
	unsigned state, queued; /* @queued: connections that a listener has not accepted */
};

static bool net_row_parse(const char *line, struct net_row *row)
{
	return sscanf(line, " %*u: %47s %47s %x %*x:%x %*s %*s %*s %*s %" SCNu64, row->local,
		      row->remote, &row->state, &row->queued, &row->inode) == 5;
}

static const char *line_begin(const char *text, const char *at)
{
	while (at > text && at[-1] != '\n')
		at--;
	return at;
}

static uint64_t net_row_opposite(const char *text, const char *local, const char *remote)
{
	char both[2 * ADDRESS_BYTES + 4];
	struct net_row row;
	const char *at;

	snprintf(both, sizeof(both), ": %s %s ", remote, local);
	at = text ? strstr(text, both) : NULL;
	return at && net_row_parse(line_begin(text, at), &row) ? row.inode : 0;
}

#define STATE_SYN_SENT 2
#define STATE_LISTEN 10

static const char mapped[] = "0000000000000000FFFF0000";

/* Returns the IPv4 part of a mapped address, as "0100007F:1F90"; else @address. */
static const char *address_unmap(const char *address)
{
	return strncmp(address, mapped, strlen(mapped)) ? address : address + strlen(mapped);
}

/*
 * Returns whether a row listens for @remote: at that address, or at its port of any address
 * (zeros).
 */
static bool row_listens(const struct net_row *row, const char *remote)
{
	const char *local = address_unmap(row->local), *port = strchr(local, ':');

	if (row->state != STATE_LISTEN || !port || !strchr(remote, ':') ||
	    strcmp(port, strchr(remote, ':')) != 0)
		return false;
	/* a listener at any IPv6 address usually accepts IPv4, too */
	return !strcmp(local, remote) || strspn(local, "0") == (size_t)(port - local);
}

/* Returns whether @remote is loopback, or the same address as @local. */
static bool address_is_here(const char *local, const char *remote)
{
	const char *port = strchr(remote, ':');
	size_t n = port ? (size_t)(port - remote) : 0;

	return (n == 8 && !strncmp(remote + 6, "7F", 2)) ||
	       (n == 32 && !strncmp(remote, "00000000000000000000000001000000", n)) ||
	       (n && !strncmp(local, remote, n + 1));
}

static bool net_listener_find(const char *text, const struct net_row *from,
			      struct socket_view *view)
{
	const char *remote = address_unmap(from->remote);
	struct net_row row;

	if (from->state != STATE_SYN_SENT || !address_is_here(address_unmap(from->local), remote))
		return false;
	for (; text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL)
		if (net_row_parse(text, &row) && row_listens(&row, remote)) {
			view->listener = row.inode;
			view->queued = row.queued;
			return true;
		}
	return false;
}

bool net_table_find(const char *text, const char *others, uint64_t inode, const char *protocol,
		    struct socket_view *view)
{
	struct net_row row;
	char word[32];

	snprintf(word, sizeof(word), " %" PRIu64 " ", inode);
	for (const char *at = text ? strstr(text, word) : NULL; at; at = strstr(at + 1, word)) {
		if (!net_row_parse(line_begin(text, at), &row) || row.inode != inode)
			continue;
		address_format(view->local, sizeof(view->local), row.local, protocol);
		if (!strstr(row.remote, ":0000"))
			address_format(view->remote, sizeof(view->remote), row.remote, protocol);
		view->peer = net_row_opposite(text, row.local, row.remote);
		if (!view->peer && !strncmp(row.local, mapped, 24) &&
		    !strncmp(row.remote, mapped, 24))
			view->peer = net_row_opposite(others, row.local + 24, row.remote + 24);
		if (!view->peer && strlen(row.local) == 13) {
			char local[80], remote[80];

			snprintf(local, sizeof(local), "%s%s", mapped, row.local);
			snprintf(remote, sizeof(remote), "%s%s", mapped, row.remote);
			view->peer = net_row_opposite(others, local, remote);
		}
		if (!net_listener_find(text, &row, view))
			net_listener_find(others, &row, view);
		return true;
	}
	return false;
}

static char *table_read(pid_t pid, const char *name)
{
	struct buffer all = { 0 };
	char path[64], part[16384];
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/net/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	while (all.used < TABLE_BYTES && (n = read(fd, part, sizeof(part))) > 0)
		buffer_put(&all, part, (size_t)n);
	close(fd);
	buffer_put(&all, "", 1);
	if (!all.failed)
		return all.text;
	buffer_done(&all);
	return NULL;
}

bool socket_find(struct net_tables *t, pid_t pid, uint64_t inode, struct socket_view *view)
{
	static const char *const names[] = { "tcp", "tcp6", "udp", "udp6" };
	char path[64], space[64] = "", own[64] = "";
	ssize_t n;

	memset(view, 0, sizeof(*view));
	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	n = readlink(path, space, sizeof(space) - 1);
	if (n <= 0)
		return false;
	if (strcmp(space, t->name) != 0) {
		net_tables_done(t);
		memcpy(t->name, space, sizeof(t->name));
		for (size_t i = 0; i < NR_NET_TABLES; i++)
			t->text[i] = table_read(pid, names[i]);
	}
	for (size_t i = 0; i < NR_NET_TABLES; i++)
		if (net_table_find(t->text[i], t->text[i ^ 1], inode, i < NET_UDP ? "tcp" : "udp",
				   view))
			return true;
	n = readlink("/proc/self/ns/net", own, sizeof(own) - 1);
	return n > 0 && !strcmp(own, space) && unix_find(inode, view);
}
