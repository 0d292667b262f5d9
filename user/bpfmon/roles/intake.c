// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/intake.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/mark.h"
#include "base/privilege.h"
#include "bpfmon/roles/span_socket.h"

#include <errno.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define PORT_TRIES 16
#define UDP_BYTES (1 << 20) /* of what comes in a burst; the kernel may grant less */

static int udp_bind(int family, unsigned port)
{
	static const int on = 1, room = UDP_BYTES;
	struct sockaddr_in v4 = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	struct sockaddr_in6 v6 = {
		.sin6_family = AF_INET6,
		.sin6_port = htons((uint16_t)port),
		.sin6_addr = IN6ADDR_LOOPBACK_INIT,
	};
	bool is_v6 = family == AF_INET6;
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
	if (is_v6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (!bind(fd, is_v6 ? (void *)&v6 : (void *)&v4, is_v6 ? sizeof(v6) : sizeof(v4)))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static unsigned udp_port(int fd)
{
	struct sockaddr_in at = { 0 };
	socklen_t size = sizeof(at);

	getsockname(fd, (struct sockaddr *)&at, &size);
	return ntohs(at.sin_port);
}

/* The machine, or this network namespace, may have no IPv6. */
static bool family_is_absent(int err)
{
	return err == -EAFNOSUPPORT || err == -EADDRNOTAVAIL || err == -EPROTONOSUPPORT;
}

/* Both on one port. A negative errno; *@where is the address that it could not have. */
static int udp_open(int fds[UDP_SOCKETS], unsigned port, const char **where)
{
	*where = "127.0.0.1";
	fds[0] = udp_bind(AF_INET, port);
	if (fds[0] < 0)
		return fds[0];
	*where = "[::1]";
	fds[1] = udp_bind(AF_INET6, udp_port(fds[0]));
	if (fds[1] >= 0 || family_is_absent(fds[1]))
		return 0;
	close(fds[0]);
	fds[0] = -1;
	return fds[1];
}

static int intake_open_udp(struct intake_sockets *in, unsigned port)
{
	int *fds = in->intake.udp_fds, err;
	const char *where;
	int tries = port ? 1 : PORT_TRIES;

	do
		err = udp_open(fds, port, &where);
	while (err == -EADDRINUSE && --tries);
	if (err)
		log_error("--metrics-udp: cannot listen on UDP port %u of %s: %s%s", port, where,
			  strerror(-err),
			  err == -EADDRINUSE ? "; another program (a Telegraf?) has it" : "");
	else
		log_info("metrics are taken on UDP port %u of 127.0.0.1%s", udp_port(fds[0]),
			 fds[1] >= 0 ? " and ::1" : "");
	return err;
}

static int intake_open_marks(struct intake_sockets *in, const struct user *as)
{
	char why[512] = "out of memory";
	int err = mark_socket_make(&in->marks, as, why, sizeof(why));

	if (!err && setenv(MARK_VARIABLE, in->marks.path, 1))
		err = -ENOMEM;
	in->intake.marks_fd = in->marks.fd;
	if (err)
		log_error("--marks: %s", why);
	else
		log_info("marks are taken on '%s'", in->marks.path);
	return err;
}

int intake_open(struct intake_sockets *in, const struct intake_options *o, const struct user *as,
		bool by_agent)
{
	int err = 0;

	*in = (struct intake_sockets){
		.intake = { .marks_fd = -1, .udp_fds = { -1, -1 } },
		.marks = { .fd = -1, .keeper_fd = -1, .keeper = -1 },
		.span_fd = -1,
		.is_on = o->marks || o->metrics_udp,
	};
	if (o->metrics_udp && as) /* the command gets no port that its user could not have */
		privilege_set_effective(~(1ULL << CAP_NET_BIND_SERVICE));
	if (o->metrics_udp)
		err = intake_open_udp(in, o->port);
	privilege_set_effective(UINT64_MAX);
	unsetenv(MARK_VARIABLE); /* it may be of a run around this one */
	if (!err && o->marks)
		err = intake_open_marks(in, as);
	if (err) {
		intake_remove(in);
		return err;
	}
	if (by_agent)
		err = span_socket_choose(in->span_name, sizeof(in->span_name));
	else
		in->span_fd = err = span_socket_open();
	if (err < 0)
		log_warn("the command can begin no spans: %s", strerror(-err));
	return 0;
}

static void descriptor_drop(int *fd)
{
	cleanup_closep(fd);
	*fd = -1;
}

void intake_hand_over(struct intake_sockets *in)
{
	descriptor_drop(&in->marks.fd);
	descriptor_drop(&in->span_fd);
	in->intake.marks_fd = -1;
	for (size_t i = 0; i < UDP_SOCKETS; i++)
		descriptor_drop(&in->intake.udp_fds[i]);
}

void intake_close(struct intake_sockets *in)
{
	intake_hand_over(in);
	descriptor_drop(&in->marks.keeper_fd);
}

void intake_remove(struct intake_sockets *in)
{
	intake_close(in);
	mark_socket_remove(&in->marks);
}
