/* SPDX-License-Identifier: BSD-2-Clause */
/* What a socket is connected to, by its inode: /proc/PID/net, and sock_diag for those of Unix. */
#ifndef WAITS_SOCKETS_H
#define WAITS_SOCKETS_H

#include "waits/waits.h"

enum { NET_TCP, NET_TCP6, NET_UDP, NET_UDP6, NR_NET_TABLES };

/* The tables of one network namespace, read when they are first needed. */
struct net_tables {
	char name[64]; /* of the namespace, as its link says; "": none was read */
	char *text[NR_NET_TABLES];
};

struct socket_view {
	char local[80], remote[80]; /* "10.0.0.1:443 (tcp)"; "": none, or not known */
	uint64_t peer;     /* inode of the other end, if it is of the same namespace; 0: none */
	uint64_t listener; /* of TCP, that is to be connected on this machine: what listens there */
	unsigned queued;   /* how many connections that has not accepted */
	bool is_unix;
};

void net_tables_done(struct net_tables *t);
/* Finds the socket of the process @pid. Returns false if it is not of TCP, UDP or Unix, or not
 * visible. */
bool socket_find(struct net_tables *t, pid_t pid, uint64_t inode, struct socket_view *view);
/*
 * Returns the inode of the socket that listens at @address of connect(), of @length bytes, as the
 * process @pid sees it; 0 if there is none. Sets @name to its path, or "@" and its name.
 */
uint64_t unix_find_listener(pid_t pid, const void *address, size_t length, char *name, size_t size);
/* Finds the row with @inode in a table, and the inode of the row with its addresses exchanged.
 * Returns false if there is no row with @inode. */
bool net_table_find(const char *text, const char *others, uint64_t inode, const char *protocol,
		    struct socket_view *view);

#endif
