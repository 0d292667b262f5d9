// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a task in io_uring_enter() waits for: fdinfo of a ring lists its requests that wait until a
 * file is ready, by their operation. It has not which file, and none of what the threads of the
 * ring do.
 */
#include "waits/fdinfo.h"
#include "waits/look.h"

#include <linux/io_uring.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const operations[] = {
	[IORING_OP_READV] = "READV",
	[IORING_OP_WRITEV] = "WRITEV",
	[IORING_OP_READ_FIXED] = "READ_FIXED",
	[IORING_OP_READ] = "READ",
	[IORING_OP_WRITE] = "WRITE",
	[IORING_OP_WRITE_FIXED] = "WRITE_FIXED",
	[IORING_OP_SEND] = "SEND",
	[IORING_OP_SENDMSG] = "SENDMSG",
	[IORING_OP_POLL_ADD] = "POLL_ADD",
	[IORING_OP_RECV] = "RECV",
	[IORING_OP_RECVMSG] = "RECVMSG",
	[IORING_OP_ACCEPT] = "ACCEPT",
	[IORING_OP_SPLICE] = "SPLICE",
	[IORING_OP_CONNECT] = "CONNECT",
	[IORING_OP_TEE] = "TEE",
};

#define NR_OPERATIONS (sizeof(operations) / sizeof(*operations))

void uring_look(struct wait *wait)
{
	unsigned counts[NR_OPERATIONS] = { 0 };
	char info[16384];
	const char *at;
	size_t used = 0;

	if (fdinfo_read(wait->pid, wait->fd, info, sizeof(info)) < 0)
		return;
	at = strstr(info, "PollList:");
	while (at && (at = strstr(at, "\n  op="))) {
		unsigned long op = strtoul(at + 6, NULL, 10);

		at += 6;
		if (op < NR_OPERATIONS)
			counts[op]++;
	}
	for (size_t i = 0; i < NR_OPERATIONS && used < sizeof(wait->object); i++) {
		if (!counts[i] || !operations[i])
			continue;
		used += (size_t)snprintf(wait->object + used, sizeof(wait->object) - used, "%s%s",
					 used ? ", " : "", operations[i]);
		if (counts[i] > 1 && used < sizeof(wait->object))
			used += (size_t)snprintf(wait->object + used, sizeof(wait->object) - used,
						 " (%u)", counts[i]);
	}
}
