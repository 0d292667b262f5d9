// SPDX-License-Identifier: BSD-2-Clause
#include "base/proc_connector.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define QUEUE_BYTES (4 << 20) /* up to net.core.rmem_max */
#define AT_ONCE 32
#define MESSAGE_BYTES 256
#define OWN_ACK 0x62706d66 /* arbitrary; the kernel answers with this + 1 */
#define NOT_SEEN UINT32_MAX
#define MOST_CPUS 65536

union message {
	struct nlmsghdr head;
	char bytes[MESSAGE_BYTES];
};

static int connector_request(const struct proc_connector *c, enum proc_cn_mcast_op op)
{
	union message m = { .head = { .nlmsg_type = NLMSG_DONE } };
	struct cn_msg *request = NLMSG_DATA(&m.head);

	/* no filter of event kinds: it would leave gaps in the numbers of events */
	request->id = (struct cb_id){ CN_IDX_PROC, CN_VAL_PROC };
	request->ack = OWN_ACK;
	request->len = sizeof(op);
	memcpy(request->data, &op, sizeof(op));
	m.head.nlmsg_len = NLMSG_LENGTH(sizeof(*request) + sizeof(op));
	return send(c->fd, &m, m.head.nlmsg_len, MSG_DONTWAIT) < 0 ? -errno : 0;
}

/* Returns the event in a message, or NULL if it is none or not from the kernel. */
static const struct cn_msg *connector_message(const union message *m, size_t length,
					      const struct sockaddr_nl *from)
{
	const struct cn_msg *c = NLMSG_DATA(&m->head);

	if (from->nl_pid || length < NLMSG_LENGTH(sizeof(*c) + sizeof(struct proc_event)) ||
	    c->id.idx != CN_IDX_PROC || c->id.val != CN_VAL_PROC ||
	    c->len < sizeof(struct proc_event))
		return NULL;
	return c;
}

/*
 * Returns true if the kernel has answered. It answers only a process in the initial namespaces,
 * before send() returns; so the PIDs of events are those of /proc. Other processes get events, too,
 * while anyone listens.
 */
static bool connector_read_answer(struct proc_connector *c)
{
	struct sockaddr_nl from = { 0 };
	socklen_t size = sizeof(from);
	const struct cn_msg *answer;
	struct proc_event e;
	union message m;
	ssize_t n;

	while ((n = recvfrom(c->fd, &m, sizeof(m), MSG_DONTWAIT, (struct sockaddr *)&from, &size)) >
	       0) {
		answer = connector_message(&m, (size_t)n, &from);
		if (!answer || answer->ack != OWN_ACK + 1)
			continue;
		memcpy(&e, answer->data, sizeof(e));
		if ((unsigned)e.what != PROC_EVENT_NONE || e.event_data.ack.err)
			continue;
		c->clock_ahead_ns = (int64_t)(clock_ns(CLOCK_MONOTONIC) - e.timestamp_ns);
		if (c->clock_ahead_ns >= 0 && c->clock_ahead_ns < (int64_t)NSEC_PER_SEC)
			c->clock_ahead_ns = 0; /* only the delay of the answer */
		return true;
	}
	return false;
}

static int connector_fail(struct proc_connector *c, int err, const char **why, const char *text)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	*why = text;
	return err;
}

int proc_connector_open(struct proc_connector *c, const char **why)
{
	const struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
	const int bytes = QUEUE_BYTES;
	int err;

	*c = (struct proc_connector){ .fd = -1 };
	c->fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR);
	if (c->fd < 0)
		return connector_fail(
			c, -errno, why,
			"the kernel or a filter refused the socket (CONFIG_PROC_EVENTS)");
	setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	if (bind(c->fd, (const struct sockaddr *)&address, sizeof(address)))
		return connector_fail(c, -errno, why, "needs Linux 6.6, or CAP_NET_ADMIN");
	err = connector_request(c, PROC_CN_MCAST_LISTEN);
	if (err)
		return connector_fail(c, err, why, "needs the network namespace of the host");
	if (!connector_read_answer(c))
		return connector_fail(c, -EPERM, why,
				      "needs the PID and user namespace of the host");
	return 0;
}

void proc_connector_close(struct proc_connector *c)
{
	if (c->fd >= 0) {
		/* the kernel does not count down otherwise */
		connector_request(c, PROC_CN_MCAST_IGNORE);
		close(c->fd);
	}
	c->fd = -1;
	free(c->next);
	c->next = NULL;
	c->nr_cpus = 0;
}

void proc_connector_restart(struct proc_connector *c)
{
	c->lost = 0;
	for (size_t i = 0; i < c->nr_cpus; i++)
		c->next[i] = NOT_SEEN;
}

static bool cpus_grow(struct proc_connector *c, size_t nr)
{
	uint32_t *next = nr <= MOST_CPUS ? memory_reallocarray(c->next, nr, sizeof(*next)) : NULL;

	if (!next)
		return false;
	c->next = next;
	while (c->nr_cpus < nr)
		next[c->nr_cpus++] = NOT_SEEN;
	return true;
}

/*
 * Adds lost events: each CPU numbers its events, so a gap shows those lost to a full queue or lack
 * of memory.
 */
static void event_number_check(struct proc_connector *c, uint32_t cpu, uint32_t number)
{
	if (cpu >= c->nr_cpus && !cpus_grow(c, (size_t)cpu + 1)) {
		c->lost++; /* losses of this CPU cannot be counted */
		return;
	}
	if (c->next[cpu] != NOT_SEEN)
		c->lost += number - c->next[cpu];
	c->next[cpu] = number + 1;
}

static void connector_event(struct proc_connector *c, const struct cn_msg *m, proc_connector_fn fn,
			    void *context)
{
	struct proc_event e;

	memcpy(&e, m->data, sizeof(e));
	c->nr++;
	if (c->inject_misses && c->nr * c->inject_misses % 1000 < c->inject_misses)
		return; /* the next event of its CPU shows the gap */
	event_number_check(c, e.cpu, m->seq);
	fn(context, &e, e.timestamp_ns + (uint64_t)c->clock_ahead_ns);
}

void proc_connector_receive(struct proc_connector *c, proc_connector_fn fn, void *context)
{
	union message messages[AT_ONCE];
	struct sockaddr_nl from[AT_ONCE];
	struct iovec to[AT_ONCE];
	struct mmsghdr list[AT_ONCE];
	const struct cn_msg *m;
	int n = AT_ONCE;

	while (c->fd >= 0 && n == AT_ONCE) {
		for (size_t i = 0; i < AT_ONCE; i++) {
			to[i] = (struct iovec){ &messages[i], sizeof(messages[i]) };
			list[i].msg_hdr = (struct msghdr){ .msg_name = &from[i],
							   .msg_namelen = sizeof(from[i]),
							   .msg_iov = &to[i],
							   .msg_iovlen = 1 };
		}
		n = recvmmsg(c->fd, list, AT_ONCE, MSG_DONTWAIT, NULL);
		if (n < 0 && errno == ENOBUFS) { /* then read what is queued */
			c->lost++;
			n = AT_ONCE;
			continue;
		}
		for (int i = 0; i < n; i++) {
			m = connector_message(&messages[i], list[i].msg_len, &from[i]);
			if (m)
				connector_event(c, m, fn, context);
		}
	}
}
