// SPDX-License-Identifier: BSD-2-Clause
#include "waits/sockets.h"

#include "waits/task.h"

#include "base/buffer.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TABLE_BYTES (16u << 20) /* what is longer is not looked at: a hundred thousand sockets */
#define ADDRESS_BYTES 48        /* 32 digits, a colon, a port */

void net_tables_done(struct net_tables *t)
{
	for (size_t i = 0; i < NR_NET_TABLES; i++)
		free(t->text[i]);
	memset(t, 0, sizeof(*t));
}

/* "0100007F:1F90" as the kernel writes it: words of the machine's order, the port in digits. */
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
	unsigned state, queued; /* @queued: of a listener, connections that are not accepted */
};

static bool net_row_parse(const char *line, struct net_row *row)
{
	return sscanf(line, " %*u: %47s %47s %x %*x:%x %*s %*s %*s %*s %" SCNu64, row->local,
		      row->remote, &row->state, &row->queued, &row->inode) == 5;
}

/* The beginning of the line with @at in it. */
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

/* "0100007F:1F90" of an address of version 4, in whichever table; else @address. */
static const char *address_unmap(const char *address)
{
	return strncmp(address, mapped, strlen(mapped)) ? address : address + strlen(mapped);
}

/* Whether a row listens for @remote: at that address, or at the port of any (zeros). */
static bool row_listens(const struct net_row *row, const char *remote)
{
	const char *local = address_unmap(row->local), *port = strchr(local, ':');

	if (row->state != STATE_LISTEN || !port || !strchr(remote, ':') ||
	    strcmp(port, strchr(remote, ':')) != 0)
		return false;
	/* what listens at any address of version 6 mostly does so for version 4, too */
	return !strcmp(local, remote) || strspn(local, "0") == (size_t)(port - local);
}

/* Loopback, or what an address of this machine is connected with. */
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
