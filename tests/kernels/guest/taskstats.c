// SPDX-License-Identifier: BSD-2-Clause
/* What the kernel says over netlink of the delays of this thread, as getdelays does. */
#include "guest.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct message {
	struct nlmsghdr header;
	struct genlmsghdr generic;
	char attributes[4096];
};

static const struct nlattr *attribute_find(const void *from, int length, int type)
{
	const char *at = from;

	while (length >= (int)sizeof(struct nlattr)) {
		const struct nlattr *a = (const struct nlattr *)at;
		int step = NLA_ALIGN(a->nla_len);

		if ((a->nla_type & NLA_TYPE_MASK) == type)
			return a;
		if (a->nla_len < sizeof(*a))
			break;
		at += step;
		length -= step;
	}
	return NULL;
}

/* Asks with one attribute; the reply replaces the message. False: there was an error. */
static bool ask(int fd, struct message *m, int family, int command, int type, const void *value,
		size_t size)
{
	struct nlattr *a = (struct nlattr *)m->attributes;
	ssize_t n;

	memset(m, 0, sizeof(*m));
	a->nla_type = (unsigned short)type;
	a->nla_len = (unsigned short)(sizeof(*a) + size);
	memcpy(a + 1, value, size);
	m->header.nlmsg_type = (unsigned short)family;
	m->header.nlmsg_flags = NLM_F_REQUEST;
	m->header.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN) + NLA_ALIGN(a->nla_len);
	m->generic.cmd = (unsigned char)command;
	m->generic.version = 1;
	if (send(fd, m, m->header.nlmsg_len, 0) < 0)
		return false;
	n = recv(fd, m, sizeof(*m), 0);
	return n > 0 && m->header.nlmsg_type != NLMSG_ERROR;
}

static int attributes_length(const struct message *m)
{
	return (int)m->header.nlmsg_len - (int)NLMSG_LENGTH(GENL_HDRLEN);
}

bool taskstats_read(struct taskstats *stats)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC), family;
	const struct nlattr *a;
	struct message m;
	__u32 pid = (__u32)getpid();
	bool is_there = false;

	if (!ask(fd, &m, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME,
		 TASKSTATS_GENL_NAME, sizeof(TASKSTATS_GENL_NAME)))
		goto out;
	a = attribute_find(m.attributes, attributes_length(&m), CTRL_ATTR_FAMILY_ID);
	if (!a)
		goto out;
	family = *(const __u16 *)(a + 1);
	if (!ask(fd, &m, family, TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_PID, &pid, sizeof(pid)))
		goto out;
	a = attribute_find(m.attributes, attributes_length(&m), TASKSTATS_TYPE_AGGR_PID);
	if (a)
		a = attribute_find(a + 1, a->nla_len - (int)sizeof(*a), TASKSTATS_TYPE_STATS);
	if (!a)
		goto out;
	memcpy(stats, a + 1,
	       sizeof(*stats) < a->nla_len - sizeof(*a) ? sizeof(*stats) : a->nla_len - sizeof(*a));
	is_there = true;
out:
	close(fd);
	return is_there;
}
