// SPDX-License-Identifier: BSD-2-Clause
/* What TCP and UDP move, which a kernel before 6.3 has other hooks for; and kinds of files. */
#include "guest.h"

#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void loopback_up(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	expect(!ioctl(fd, SIOCSIFFLAGS, &request), "the loopback device cannot be used: %m");
	close(fd);
}

/*
 * Kernels from 7.0 on skip an event of a socket now and then, of any process of the machine. It is
 * counted, and what was counted is a lower bound then.
 */
static long long events_lost(struct run *r)
{
	const json_t *losses = json_object_get(r->summary, "losses");
	long long lost = json_integer_value(json_object_get(losses, "socket_events"));

	if (json_object_size(losses) == 1 && lost > 0)
		verdict_remark("socket_events %lld", lost);
	else
		check_complete(r);
	return lost;
}

static void check_moved(const char *key, long long counted, long long said, bool has_lost)
{
	expect(has_lost ? counted <= said : counted == said, "%s: %lld of %lld", key, counted,
	       said);
}

static void check_side(const struct run *r, const char *side, const char *way, const char *over,
		       bool with_calls, long long lost)
{
	const json_t *said = json_object_get(r->truth, side);
	const json_t *process = run_process(r, (pid_t)field_whole(said, "pid"));
	char key[64];

	snprintf(key, sizeof(key), "net_%s_%s_bytes", way, over);
	check_moved(key, field_whole(process, key), field_whole(said, "bytes"), lost);
	snprintf(key, sizeof(key), "net_%s_%s_messages", way, over);
	if (with_calls) {
		check_moved(key, field_whole(process, key), field_whole(said, "calls"), lost);
		expect(field_whole(process, key) >= field_whole(said, "calls") - lost,
		       "%s: %lld of %lld, and %lld lost", key, field_whole(process, key),
		       field_whole(said, "calls"), lost);
	}
}

/* False: bpfmon does not know it here. */
static bool moved(struct run *r, const char *kind, const char *send, const char *receive)
{
	const char *over = strncmp(kind, "tcp", 3) != 0 ? "udp" : "tcp";
	char command[128];
	long long lost;

	snprintf(command, sizeof(command), "sockets %s %s %s 3000019 16384", kind, send, receive);
	run_begin(r, "--net", command);
	run_end(r);
	if (!json_object_get(r->summary, "net_tx_tcp_bytes"))
		return false;
	lost = events_lost(r);
	check_side(r, "sender", "tx", over, strcmp(send, "sendfile") != 0, lost);
	check_side(r, "receiver", "rx", over, true, lost);
	check_moved("net_tx_loopback_bytes", field_whole(r->summary, "net_tx_loopback_bytes"),
		    3000019, lost);
	return true;
}

static void net_sockets(struct run *r)
{
	static const char *const ways[][3] = {
		{ "tcp", "writev", "peek" },
		{ "tcp6", "sendfile", "read" },
		{ "udp", "send", "recvmsg" },
	};

	loopback_up();
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (!moved(r, ways[i][0], ways[i][1], ways[i][2])) {
			verdict_absent("needs sock_send_length and sock_recv_length (6.3), or "
				       "programs at the end of functions");
			return;
		}
	if (!json_object_get(r->summary, "net_tx_bytes"))
		verdict_absent("needs sock_send_length and sock_recv_length (6.3); only TCP and "
			       "UDP are known");
}

/* As on a hardened kernel: before 6.3 nothing is known of sockets, and all else is exact. */
static void net_without_fexit(struct run *r)
{
	static const char refusal[] = "the kernel refuses programs of type fexit: ";
	const json_t *row, *capabilities;
	bool is_available;

	run_begin(r, "--net --inject-no-program fexit", "sockets tcp write read 3000019 16384");
	run_end(r);
	if (!events_lost(r)) /* else it is not complete, and says so */
		check_books(r, REAPED);
	capabilities = json_object_get(json_array_get(r->lines, 0), "capabilities");
	row = json_object_get(capabilities, "net_tx_tcp_bytes");
	is_available = json_is_true(json_object_get(row, "available"));
	expect(is_available == !!json_object_get(r->summary, "net_tx_tcp_bytes"),
	       "net_tx_tcp_bytes is not what its capability promises");
	if (is_available)
		return;
	expect(strstr(json_string_value(json_object_get(row, "reason")), refusal),
	       "net_tx_tcp_bytes is absent with another reason");
	expect(field_whole(r->summary, "net_connects") >= 1, "the connection is not counted");
}

static void io_kinds(struct run *r)
{
	static const char *const kinds[] = { "files", "sockets", "pipes", "other" };
	long long sum = 0;
	char key[64];

	run_begin(r, "--io-kinds", "iobytes " DISK);
	run_end(r);
	check_books(r, REAPED);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		snprintf(key, sizeof(key), "wchar_%s_bytes", kinds[i]);
		sum += field_whole(r->summary, key);
	}
	expect(sum == field_whole(r->summary, "wchar_bytes"), "kinds have %lld of %lld bytes", sum,
	       field_whole(r->summary, "wchar_bytes"));
	expect(field_whole(r->summary, "wchar_files_bytes") >= MIB, "files have %lld bytes",
	       field_whole(r->summary, "wchar_files_bytes"));
}

const struct test net_tests[] = {
	TEST(net_sockets, "what TCP and UDP move"),
	TEST(net_without_fexit, "sockets without the ends of functions"),
	TEST(io_kinds, "kinds of files"),
	{ 0 },
};
