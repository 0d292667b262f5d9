// SPDX-License-Identifier: BSD-2-Clause
/*
 * bpfmon-web, executed by `bpfmon serve`: shows the runs of one user as pages in a browser, with
 * the rights of that user. It is not bpfmon-exporter, which serves Prometheus.
 */
#include "base/exit_status.h"
#include "base/agent_socket.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/user.h"
#include "base/seccomp.h"
#include "base/loop.h"
#include "config/table.h"
#include "web/web.h"
#include "version.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <linux/capability.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#define TICK_MS 2000

static struct web web; /* too large for the stack */

static void web_tick(void)
{
	size_t nr = connections_end_slow(&web.connections, clock_ns(CLOCK_MONOTONIC));

	if (nr)
		log_info("%zu slow connections were ended", nr);
}

/* Serves until a signal. */
static void web_wait(int signals)
{
	struct pollfd p = { .fd = signals, .events = POLLIN };

	while (poll(&p, 1, TICK_MS) <= 0)
		web_tick();
}

/* Parses the address. A port is valid from 1 on; 0 is any free port. */
static int web_address_parse(const char *address, unsigned port, struct config_address *a)
{
	char why[256], text[300];
	int err;

	snprintf(text, sizeof(text), "%s:%u", address, port ? port : 1);
	err = config_address_parse(text, a, why, sizeof(why));
	if (err)
		log_error("cannot listen on '%s': --listen takes a numeric address, as in "
			  "127.0.0.1 or ::1",
			  address);
	else if (!port) /* http_ports_open() then uses the same port for both families */
		((struct sockaddr_in *)&a->address)->sin_port = 0;
	return err;
}

/* @port 0 selects any free port. */
static int web_listen(const char *address, unsigned port, struct http_ports *ports)
{
	struct config_address a = { 0 };
	char why[256];
	int err = web_address_parse(address, port, &a);

	if (err)
		return err;
	if (!a.is_loopback && !web.guard.nr_hosts) {
		log_error("refusing to listen on %s, which other machines can reach, without "
			  "--host; give the host name that they use for this machine",
			  address);
		return -EPERM;
	}
	err = http_ports_open(ports, &a, why, sizeof(why));
	if (err) {
		log_error("%s", why);
		return err;
	}
	if (!a.is_loopback)
		log_warn("other machines can reach %s:%u, and nothing is encrypted: anyone who "
			 "sees the token can see all runs",
			 address, ports->port);
	web.guard.port = ports->port;
	web.guard.is_localhost = ports->is_localhost;
	snprintf(web.guard.address, sizeof(web.guard.address), "%s",
		 ports->is_localhost && a.is_loopback ? "127.0.0.1" : address);
	web.is_on_loopback = a.is_loopback;
	return 0;
}

/*
 * Prints an address of this server. A name could resolve to another address, where another user may
 * hold the port.
 */
static void web_announce(void)
{
	printf("http://%s:%u/?token=%s\n",
	       web.is_on_loopback ? web.guard.address : web.guard.hosts[0], web.guard.port,
	       web.guard.token);
	fflush(stdout);
}

/*
 * Once the port is open, no rights are needed except those of root to its own files. Children
 * inherit this.
 */
static int web_leave_rights(void)
{
	const uint64_t files = 1ULL << CAP_DAC_OVERRIDE | 1ULL << CAP_DAC_READ_SEARCH |
			       1ULL << CAP_FOWNER | 1ULL << CAP_CHOWN;
	int err = privilege_keep(files);

	if (err) {
		log_error("cannot drop capabilities: %s", strerror(-err));
		return err;
	}
	err = seccomp_install(SECCOMP_WEB | SECCOMP_RECORDER | SECCOMP_EXPORTER);
	if (err && err != -ENOSYS)
		log_warn("cannot install the system call filter: %s", strerror(-err));
	return 0;
}

static int web_run(const char *address, unsigned port)
{
	struct http_ports ports;
	int signals = signals_take(false), err;

	err = signals < 0 ? signals : guard_make_token(&web.guard);
	if (!err)
		err = web_listen(address, port, &ports);
	if (err)
		return err;
	connections_init(&web.connections, CONNECTIONS, geteuid());
	err = door_init(&web.door, &ports);
	if (!err)
		err = web_leave_rights();
	if (!err)
		err = pulse_start(&web.pulse);
	if (!err)
		err = web_start(&web);
	if (err) {
		log_error("cannot start the HTTP server: %s", strerror(-err));
		return err;
	}
	web_announce();
	web_wait(signals);
	door_done(&web.door);
	pulse_end(&web.pulse);
	MHD_stop_daemon(web.daemon);
	pulse_stop(&web.pulse);
	return 0;
}

/* `bpfmon serve` has checked the arguments. */
int main(int argc, char **argv)
{
	static const struct option options[] = { { "listen", required_argument, NULL, 'l' },
						 { "port", required_argument, NULL, 'n' },
						 { "host", required_argument, NULL, 'h' },
						 { "store", required_argument, NULL, 's' },
						 { "agent", required_argument, NULL, 'a' },
						 { "program", required_argument, NULL, 'p' },
						 { "verbose", no_argument, NULL, 'v' },
						 { "version", no_argument, NULL, 'V' },
						 { 0 } };
	const char *address = "127.0.0.1";
	unsigned port = 0;
	int o;

	while ((o = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (o == 'l')
			address = optarg;
		else if (o == 'n')
			port = (unsigned)strtoul(optarg, NULL, 10);
		else if (o == 'h' && web.guard.nr_hosts < GUARD_HOSTS)
			web.guard.hosts[web.guard.nr_hosts++] = optarg;
		else if (o == 's')
			web.store.path = optarg;
		else if (o == 'a')
			web.agent = optarg;
		else if (o == 'p')
			web.program = optarg;
		else if (o == 'v')
			log_set_level(LOG_VERBOSE);
		else if (o == 'V')
			return puts("bpfmon-web " BPFMON_VERSION) < 0 || fflush(stdout);
		else
			return EXIT_USAGE;
	}
	if (!web.agent)
		web.agent = AGENT_SOCKET;
	if (!web.program || optind != argc) {
		log_error("bpfmon-web is started by: bpfmon serve");
		return EXIT_USAGE;
	}
	mallopt(M_ARENA_MAX, 2); /* an arena per thread would keep the memory of large pages */
	memory_exit_on_failure(true);
	if (memory_init())
		return EXIT_FAILURE;
	tzset();
	if (chdir("/")) /* a number is a run, never a file of that name */
		log_info("cannot leave the folder: %s", strerror(errno));
	return web_run(address, port) ? EXIT_USAGE : 0;
}
