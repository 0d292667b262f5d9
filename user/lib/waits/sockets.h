/* SPDX-License-Identifier: BSD-2-Clause */
/* The peers of sockets, by inode: from /proc/PID/net, and for Unix sockets from sock_diag. */
#ifndef WAITS_SOCKETS_H
#define WAITS_SOCKETS_H

#include "waits/waits.h"

enum { NET_TCP, NET_TCP6, NET_UDP, NET_UDP6, NR_NET_TABLES };

/* The tables of one network namespace, read when first needed. */
struct net_tables {
	char name[64]; /* link text of the namespace; "" before the first read */
	char *text[NR_NET_TABLES];
};

struct socket_view {
	char local[80], remote[80]; /* "10.0.0.1:443 (tcp)"; "" if none or unknown */
	uint64_t peer;              /* inode of the other end, if in the same namespace; else 0 */
	uint64_t listener;          /* TCP, connecting within this machine: inode of the listener */
	unsigned queued;            /* connections that the listener has not accepted */
	bool is_unix;
};

void net_tables_done(struct net_tables *t);
/*
 * Finds the socket of the process @pid. Returns false if it is not TCP, UDP or Unix, or not
 * visible.
 */
bool socket_find(struct net_tables *t, pid_t pid, uint64_t inode, struct socket_view *view);
/*
 * Returns the inode of the socket that listens at the connect() address @address of @length bytes,
 * as seen by the process @pid; 0 if there is none. Sets @name to its path, or to "@" and its
 * abstract name.
 */
uint64_t unix_find_listener(pid_t pid, const void *address, size_t length, char *name, size_t size);
/*
 * Finds the row with @inode in a table, and the inode of the row with swapped addresses. Returns
 * false if no row has @inode.
 */
bool net_table_find(const char *text, const char *others, uint64_t inode, const char *protocol,
		    struct socket_view *view);

#endif
