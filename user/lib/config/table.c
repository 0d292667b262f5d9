// SPDX-License-Identifier: BSD-2-Clause
#include "config/table.h"

#include "base/clock.h"
#include "config/config.h"

#define MSEC NSEC_PER_MSEC
#define SEC NSEC_PER_SEC
#define HOUR (3600 * SEC)
#define DAY (24 * HOUR)
#define MIB (1ULL << 20)
#define TIB (1ULL << 40)

#define AT(member) offsetof(struct agent_config, member)

/* clang-format off: one row a key */
const struct config_row config_rows[] = {
	{ "agent", "socket", CONFIG_FILE, AT(socket), 0, 0, "/run/bpfmon/agent.sock", NULL,
	  "the socket for clients; its folder is root's" },
	{ "agent", "interval", CONFIG_TIME, AT(interval_ns), 50 * MSEC, HOUR, "1s", NULL,
	  "the time between two samples of all jobs" },
	{ "agent", "admin_group", CONFIG_GROUP, AT(admin_group), 0, 0, "", NULL,
	  "its members see the jobs of all users, as root does, and have no limits" },
	{ "agent", "user_group", CONFIG_GROUP, AT(user_group), 0, 0, "", NULL,
	  "only its members may connect; none: every user of the machine" },
	{ "agent", "stalled_after", CONFIG_TIME, AT(stalled_after_ns), 0, 365 * DAY, "60s", NULL,
	  "a job that does nothing for so long is stalled; 0: none is" },
	{ "agent", "stalled_below", CONFIG_PERCENT, AT(stalled_below_ppm), 0, 1000000, "0.5%", NULL,
	  "what uses less of a core, and moves next to no bytes, does nothing" },
	{ "agent", "hierarchy", CONFIG_HIERARCHY, AT(hierarchy), 0, 0, "auto", NULL,
	  "which cgroups are jobs: auto, unified (version 2), or a controller of version 1" },
	{ "agent", "io_kinds", CONFIG_YES_NO, AT(io_kinds), 0, 0, "no", NULL,
	  "what jobs read and write by kind of file, as with --io-kinds" },
	{ "agent", "block_io", CONFIG_YES_NO, AT(block_io), 0, 0, "no", NULL,
	  "block I/O of each job, by device, as with --block-io" },
	{ "agent", "max_tasks", CONFIG_NUMBER, AT(max_tasks), 0, 1 << 24, "0", NULL,
	  "how many tasks are followed at once; 0: by the memory of the machine" },
	{ "agent", "net", CONFIG_YES_NO, AT(net), 0, 0, "no", NULL,
	  "what sockets move, of all jobs; costs each call on a socket some 0.1 microseconds" },

	{ "limits", "clients", CONFIG_NUMBER, AT(clients), 1, 65536, "256", NULL,
	  "connections at once" },
	{ "limits", "jobs_per_user", CONFIG_NUMBER, AT(jobs_per_user), 1, 65536, "64", NULL,
	  "jobs that a user has asked for and that have not ended" },
	{ "limits", "requests_per_second", CONFIG_NUMBER, AT(requests_per_second), 1, 100000, "50",
	  NULL, "of each user" },
	{ "limits", "queue_bytes", CONFIG_BYTES, AT(queue_bytes), 64 << 10, 1 << 30, "4M", NULL,
	  "what waits for a client that reads slowly; more is dropped, and counted" },
	{ "limits", "user_bytes", CONFIG_BYTES, AT(user_bytes), 1 << 20, 1 << 30, "32M", NULL,
	  "what waits for all clients of a user, beyond 64K for each; more is dropped, and "
	  "counted" },
	{ "limits", "min_interval", CONFIG_TIME, AT(min_interval_ns), MSEC, HOUR, "50ms", NULL,
	  "the shortest interval of samples that a user may ask for" },

	{ "leave", "pss", CONFIG_YES_NO, AT(pss), 0, 0, "yes", NULL,
	  "proportional memory, which reads /proc within a budget of time" },

	{ "history", "store", CONFIG_FILE, AT(store), 0, 0, "", "/var/lib/bpfmon/node.db",
	  "the file in which ended jobs are kept; none: they are not" },
	{ "history", "keep_days", CONFIG_NUMBER, AT(keep_days), 1, 36500, "30", NULL,
	  "older jobs are removed" },
	{ "history", "keep_bytes", CONFIG_BYTES, AT(keep_bytes), MIB, TIB, "1G", NULL,
	  "the oldest jobs are removed while the file is larger" },
	{ "history", "min_seconds", CONFIG_TIME, AT(min_ns), 0, DAY, "0", NULL,
	  "shorter jobs are in no list, but in the totals" },

	{ "exporter", "listen", CONFIG_ADDRESS, AT(listen), 0, 0, "127.0.0.1:9433", NULL,
	  "where Prometheus reads: ADDRESS:PORT or [ADDRESS]:PORT; none: nowhere" },
	{ "exporter", "hosts", CONFIG_HOSTS, AT(hosts), 0, 0, "", NULL,
	  "names, with blanks between, that clients without a password may call it by, besides the "
	  "machine's own" },
	{ "exporter", "series", CONFIG_NUMBER, AT(series), 1, 1000000, "1000", NULL,
	  "jobs with series of their own; further ones are counted together" },
	{ "exporter", "keep", CONFIG_TIME, AT(keep_ns), SEC, DAY, "5min", NULL,
	  "the series of a job stay so long after its end" },
	{ "exporter", "certificate", CONFIG_FILE, AT(certificate), 0, 0, "", NULL,
	  "PEM file, for HTTPS; with it comes key" },
	{ "exporter", "key", CONFIG_SECRET, AT(key), 0, 0, "", NULL,
	  "PEM file of its private key, which others cannot read" },
	{ "exporter", "password_file", CONFIG_SECRET, AT(password_file), 0, 0, "", NULL,
	  "its first line is USER:PASSWORD, asked for by HTTP; others cannot read it" },
};
/* clang-format on */
const size_t nr_config_rows = sizeof(config_rows) / sizeof(*config_rows);

const struct config_section config_sections[] = {
	{ "agent", "The agent" },
	{ "limits", "What clients may use" },
	{ "leave",
	  "What users who are no administrators may ask for although it costs the machine" },
	{ "history", "Jobs that have ended" },
	{ "exporter", "The endpoint for Prometheus. An address that other machines reach needs "
		      "certificate, key and "
		      "password_file" },
};
const size_t nr_config_sections = sizeof(config_sections) / sizeof(*config_sections);
