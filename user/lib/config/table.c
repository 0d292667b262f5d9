// SPDX-License-Identifier: BSD-2-Clause
#include "config/table.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "config/user_files.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <math.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

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
	  "socket for clients; only root may write to its directory" },
	{ "agent", "interval", CONFIG_TIME, AT(interval_ns), 50 * MSEC, HOUR, "1s", NULL,
	  "time between samples of all jobs" },
	{ "agent", "admin_group", CONFIG_GROUP_MAY_LACK, AT(admin_group), 0, 0, "", NULL,
	  "group whose members, like root, see the jobs of all users and have no limits" },
	{ "agent", "user_group", CONFIG_GROUP, AT(user_group), 0, 0, "", NULL,
	  "group whose members may connect; empty: every user" },
	{ "agent", "stalled_after", CONFIG_TIME, AT(stalled_after_ns), 0, 365 * DAY, "60s", NULL,
	  "report a stall after this long without activity; 0: never" },
	{ "agent", "stalled_below", CONFIG_PERCENT, AT(stalled_below_ppm), 0, 1000000, "0.5%", NULL,
	  "CPU use, as a share of one core, below which a job counts as inactive" },
	{ "agent", "hierarchy", CONFIG_HIERARCHY, AT(hierarchy), 0, 0, "auto", NULL,
	  "cgroup hierarchy of the jobs: auto, unified (v2), or a v1 controller" },
	{ "agent", "io_kinds", CONFIG_YES_NO, AT(io_kinds), 0, 0, "no", NULL,
	  "split read and written bytes by kind of file, as with --io-kinds" },
	{ "agent", "block_io", CONFIG_YES_NO, AT(block_io), 0, 0, "no", NULL,
	  "count the block I/O of each job, by device, as with --block-io" },
	{ "agent", "max_tasks", CONFIG_NUMBER, AT(max_tasks), 0, 1 << 24, "0", NULL,
	  "maximum number of tasks tracked at once; 0: chosen by memory size" },
	{ "agent", "net", CONFIG_YES_NO, AT(net), 0, 0, "no", NULL,
	  "count the socket traffic of all jobs; adds about 0.1 microseconds to each socket call" },

	{ "limits", "clients", CONFIG_NUMBER, AT(clients), 1, 65536, "256", NULL,
	  "maximum number of concurrent connections" },
	{ "limits", "jobs_per_user", CONFIG_NUMBER, AT(jobs_per_user), 1, 65536, "64", NULL,
	  "maximum number of running jobs that one user has started" },
	{ "limits", "requests_per_second", CONFIG_NUMBER, AT(requests_per_second), 1, 100000, "50",
	  NULL, "maximum number of requests per second from one user" },
	{ "limits", "queue_bytes", CONFIG_BYTES, AT(queue_bytes), 64 << 10, 1 << 30, "4M", NULL,
	  "size of the queue for a slow client; further lines are dropped and counted" },
	{ "limits", "user_bytes", CONFIG_BYTES, AT(user_bytes), 1 << 20, 1 << 30, "32M", NULL,
	  "size of all queues of one user, beyond 64K for each client; further lines are dropped "
	  "and counted" },
	{ "limits", "min_interval", CONFIG_TIME, AT(min_interval_ns), MSEC, HOUR, "50ms", NULL,
	  "shortest sampling interval that a user may request" },

	{ "leave", "pss", CONFIG_YES_NO, AT(pss), 0, 0, "yes", NULL,
	  "allow --pss, which reads /proc within a time budget" },

	{ "history", "store", CONFIG_FILE, AT(store), 0, 0, "", "/var/lib/bpfmon/node.db",
	  "database file for ended jobs; empty: keep none" },
	{ "history", "keep_days", CONFIG_NUMBER, AT(keep_days), 1, 36500, "30", NULL,
	  "remove jobs older than this" },
	{ "history", "keep_bytes", CONFIG_BYTES, AT(keep_bytes), MIB, TIB, "1G", NULL,
	  "remove the oldest jobs while the file is larger than this" },
	{ "history", "min_seconds", CONFIG_TIME, AT(min_ns), 0, DAY, "0", NULL,
	  "do not list shorter jobs; they count in the totals" },

	{ "exporter", "listen", CONFIG_ADDRESS, AT(listen), 0, 0, "127.0.0.1:9433", NULL,
	  "endpoint for Prometheus: ADDRESS:PORT or [ADDRESS]:PORT; empty: none" },
	{ "exporter", "hosts", CONFIG_HOSTS, AT(hosts), 0, 0, "", NULL,
	  "additional host names that clients without a password may use, separated by spaces" },
	{ "exporter", "series", CONFIG_NUMBER, AT(series), 1, 1000000, "1000", NULL,
	  "maximum number of jobs with series of their own; others are summed up" },
	{ "exporter", "keep", CONFIG_TIME, AT(keep_ns), SEC, DAY, "5min", NULL,
	  "keep the series of a job for this long after its end" },
	{ "exporter", "certificate", CONFIG_FILE, AT(certificate), 0, 0, "", NULL,
	  "certificate for HTTPS, a PEM file; needs key" },
	{ "exporter", "key", CONFIG_SECRET, AT(key), 0, 0, "", NULL,
	  "private key of the certificate, a PEM file that other users cannot read" },
	{ "exporter", "password_file", CONFIG_SECRET, AT(password_file), 0, 0, "", NULL,
	  "file with up to 100 lines USER:HASH for HTTP authentication, as of mkpasswd -m "
	  "yescrypt; other users cannot read it" },

	{ "push", "url", CONFIG_URL, AT(url), 0, 0, "", NULL,
	  "where to send to: http:, https:, unix: or udp: (FLEET.md); empty: nowhere" },
	{ "push", "token_file", CONFIG_SECRET, AT(token_file), 0, 0, "", NULL,
	  "file with one line, a token or USER:PASSWORD; other users cannot read it" },
	{ "push", "ca_file", CONFIG_FILE, AT(ca_file), 0, 0, "", NULL,
	  "certificates of authorities for https, a PEM file; empty: those of the system" },
	{ "push", "dialect", CONFIG_DIALECT, AT(dialect), 0, 0, "auto", NULL,
	  "kind of database: auto asks its /ping, over udp it is influxdb; otlp: to URL/v1/metrics "
	  "and URL/v1/logs" },
	{ "push", "instance", CONFIG_HOSTS, AT(instance), 0, 0, "", NULL,
	  "tag instance of all lines; empty: the host's name" },
	{ "push", "tags", CONFIG_TAGS, AT(tags), 0, 0, "", NULL,
	  "further tags of all lines, as in cluster=alpha rack=7" },
	{ "push", "metrics", CONFIG_METRICS, AT(metrics), 0, 0, "core", NULL,
	  "which metrics of jobs are sent: core (18; 5 more of GPUs), more (about 45, and of GPUs "
	  "and energy) or all" },
	{ "push", "interval", CONFIG_TIME, AT(push_interval_ns), SEC, HOUR, "15s", NULL,
	  "time between samples" },
	{ "push", "min_seconds", CONFIG_TIME, AT(push_min_ns), 0, DAY, "15s", NULL,
	  "younger jobs have no samples of their own, only a row at their end" },
	{ "push", "series", CONFIG_NUMBER, AT(push_series), 1, 1000000, "1000", NULL,
	  "maximum number of jobs with samples of their own; others are summed up" },
	{ "push", "folder", CONFIG_FILE, AT(spool_folder), 0, 0, "/var/lib/bpfmon-push", NULL,
	  "folder for what waits to be sent" },
	{ "push", "spool", CONFIG_BYTES, AT(spool_bytes), MIB, TIB, "256M", NULL,
	  "room for what waits to be sent; then the oldest samples are dropped, rows of ended jobs "
	  "last" },
	{ "push", "catch_up", CONFIG_NUMBER, AT(catch_up), 0, 10000, "4", NULL,
	  "send what has waited at most this many times as fast as it arises; 0: no limit" },
};
/* clang-format on */
const size_t nr_config_rows = sizeof(config_rows) / sizeof(*config_rows);

const struct config_section config_sections[] = {
	{ "agent", "The agent" },
	{ "limits", "Limits for clients" },
	{ "leave", "Costly features that users may request without being administrators" },
	{ "history", "History of ended jobs" },
	{ "exporter", "Endpoint for Prometheus. An address that other machines can reach needs "
		      "certificate, key and password_file" },
	{ "push", "Sending to a database (bpfmon-push)" },
};
const size_t nr_config_sections = sizeof(config_sections) / sizeof(*config_sections);

#define MAX_BYTES (64 << 20) /* largest group entry with its members */

/* Reads the ID in @line, "NAME:PASSWORD:ID:", if it is that of the group @name. */
static bool group_line_read(const char *line, const char *name, gid_t *gid)
{
	size_t length = strlen(name);
	const char *id;
	char *end;
	unsigned long v;

	if (strncmp(line, name, length) != 0 || line[length] != ':')
		return false;
	id = strchr(line + length + 1, ':');
	if (!id)
		return false;
	errno = 0;
	v = strtoul(id + 1, &end, 10);
	if (end == id + 1 || *end != ':' || errno || v >= CONFIG_NO_GROUP)
		return false;
	*gid = (gid_t)v;
	return true;
}

/*
 * Tried before the C library, which crashes if out of memory while it reads its configuration of
 * sources (glibc 2.36). Returns 0 or a negative errno.
 */
static int group_find_in_file(const char *name, gid_t *gid)
{
	__cleanup(fclosep) FILE *f = memory_fopen("/etc/group", "re");
	bool is_begin = true;
	char line[512]; /* names of members may be cut */

	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		if (is_begin && group_line_read(line, name, gid))
			return 0;
		is_begin = strchr(line, '\n');
	}
	return ferror(f) ? -EIO : -ENOENT;
}

/* Finds the group by all sources of the machine. Returns 0 or a negative errno. */
static int group_find_anywhere(const char *name, gid_t *gid)
{
	struct group entry, *found = NULL;
	char *room = NULL, *grown;
	int err = ERANGE;

	for (size_t bytes = 4096; err == ERANGE && bytes <= MAX_BYTES; bytes *= 4) {
		grown = memory_realloc(room, bytes);
		if (!grown) {
			err = ENOMEM;
			break;
		}
		room = grown;
		err = getgrnam_r(name, &entry, room, bytes, &found);
	}
	if (found)
		*gid = entry.gr_gid;
	free(room);
	if (found)
		return 0;
	/* errors that getgrnam(3) lists for unknown names */
	if (!err || err == ESRCH || err == EBADF || err == EPERM)
		return -ENOENT;
	return -err;
}

/*
 * Finds the group @text; empty: no group. Returns 0, -EINVAL with @why saying what is allowed if
 * there is no such group, or another negative errno with the reason in @why.
 */
static int config_group_find(const char *text, struct config_group *group, char *why, size_t size)
{
	int err = -ENOENT;

	*group = (struct config_group){ .gid = CONFIG_NO_GROUP };
	if (!*text)
		return 0;
	if (strlen(text) < sizeof(group->name)) {
		err = group_find_in_file(text, &group->gid);
		if (err == -ENOENT)
			err = group_find_anywhere(text, &group->gid);
	}
	if (!err) {
		snprintf(group->name, sizeof(group->name), "%s", text);
		return 0;
	}
	if (err == -ENOENT) {
		snprintf(why, size, "the name of a group of this machine, or nothing");
		return -EINVAL;
	}
	snprintf(why, size, "cannot look up the group: %s", strerror(-err));
	return err;
}

/* As config_group_find(), but only keeps the name if there is no such group. */
static int config_group_try(const char *text, struct config_group *group, char *why, size_t size)
{
	int err = config_group_find(text, group, why, size);

	if (err != -EINVAL || text[strcspn(text, " \t:,/")] || strlen(text) >= sizeof(group->name))
		return err;
	snprintf(group->name, sizeof(group->name), "%s", text);
	return 0;
}

struct unit {
	const char *name;
	uint64_t factor;
};

/*
 * The first unit is that of plain numbers; limits are printed in the largest unit that divides
 * them.
 */
static const struct unit numbers[] = { { "", 1 }, { NULL, 0 } };
static const struct unit sizes[] = { { "", 1 },
				     { "K", 1ULL << 10 },
				     { "M", 1ULL << 20 },
				     { "G", 1ULL << 30 },
				     { "T", 1ULL << 40 },
				     { "KiB", 1ULL << 10 },
				     { "MiB", 1ULL << 20 },
				     { "GiB", 1ULL << 30 },
				     { "TiB", 1ULL << 40 },
				     { NULL, 0 } };
static const struct unit times[] = { { "", NSEC_PER_SEC },
				     { "ms", NSEC_PER_MSEC },
				     { "s", NSEC_PER_SEC },
				     { "min", 60 * NSEC_PER_SEC },
				     { "h", 3600 * NSEC_PER_SEC },
				     { "d", 86400 * NSEC_PER_SEC },
				     { NULL, 0 } };

static const struct unit percents[] = { { "%", 10000 }, { "", 10000 }, { NULL, 0 } };

static const struct unit *unit_find(const struct unit *units, const char *name)
{
	for (; units->name; units++)
		if (!strcmp(units->name, name))
			return units;
	return NULL;
}

/* Prints as in the file: 50ms, 1G. */
static void limit_print(char *out, size_t room, const struct unit *units, uint64_t v)
{
	const struct unit *best = units;

	for (const struct unit *u = units; v && u->name; u++)
		if (v % u->factor == 0 && (v % best->factor || u->factor > best->factor))
			best = u;
	snprintf(out, room, "%llu%s", (unsigned long long)(v / best->factor), best->name);
}

/* Parses digits, a decimal point if there are units, and one of @units. */
static bool quantity_parse(const struct unit *units, const char *text, double *v)
{
	const struct unit *unit;
	size_t digits = strspn(text, "0123456789");
	char *end;

	if (!digits || digits > 18)
		return false;
	if (units == numbers || text[digits] != '.') {
		*v = (double)strtoull(text, &end, 10);
	} else {
		/* no exponents: in "1.5e3" the unit is unknown */
		size_t fraction = strspn(text + digits + 1, "0123456789");

		if (!fraction)
			return false;
		*v = strtod(text, NULL);
		end = (char *)text + digits + 1 + fraction;
	}
	while (isblank((unsigned char)*end))
		end++;
	unit = unit_find(units, end);
	if (unit)
		*v *= (double)unit->factor;
	return unit;
}

static int quantity_set(const struct config_row *row, const struct unit *units, const char *example,
			const char *text, uint64_t *value, char *why, size_t size)
{
	char min[32], max[32];
	double v;

	if (quantity_parse(units, text, &v) && v >= (double)row->min && v <= (double)row->max) {
		*value = (uint64_t)llround(v);
		return 0;
	}
	limit_print(min, sizeof(min), units, row->min);
	limit_print(max, sizeof(max), units, row->max);
	snprintf(why, size, "%s, from %s to %s", example, min, max);
	return -EINVAL;
}

static int yes_no_set(const char *text, bool *value, char *why, size_t size)
{
	if (strcmp(text, "yes") != 0 && strcmp(text, "no") != 0) {
		snprintf(why, size, "yes or no");
		return -EINVAL;
	}
	*value = !strcmp(text, "yes");
	return 0;
}

static int hierarchy_set(const char *text, char *value, char *why, size_t size)
{
	if (!*text || text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_=.-")]) {
		snprintf(why, size, "auto, unified, or a cgroup v1 controller");
		return -EINVAL;
	}
	snprintf(value, CONFIG_TEXT_BYTES, "%s", text);
	return 0;
}

static int hosts_set(const char *text, char *value, char *why, size_t size)
{
	for (const char *p = text; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr(" .-_", *p)) {
			snprintf(why, size, "host names without ports, separated by spaces");
			return -EINVAL;
		}
	snprintf(value, CONFIG_TEXT_BYTES, "%s", text);
	return 0;
}

static int file_set(const struct config_row *row, const char *text, char *value, char *why,
		    size_t size)
{
	bool is_optional = !*row->standard;
	int fd;

	if (*text ? *text != '/' || text[strlen(text) - 1] == '/' : !is_optional) {
		snprintf(why, size, "an absolute path%s", is_optional ? ", or nothing" : "");
		return -EINVAL;
	}
	if (*text && row->type == CONFIG_SECRET) {
		fd = secret_open(text, why, size);
		if (fd < 0)
			return fd;
		close(fd);
	}
	snprintf(value, CONFIG_TEXT_BYTES, "%s", text);
	return 0;
}

int config_value_set(const struct config_row *row, void *config, const char *text, char *why,
		     size_t size)
{
	void *value = (char *)config + row->offset;

	switch (row->type) {
	case CONFIG_YES_NO:
		return yes_no_set(text, value, why, size);
	case CONFIG_NUMBER:
		return quantity_set(row, numbers, "a whole number", text, value, why, size);
	case CONFIG_BYTES:
		return quantity_set(row, sizes, "a size, as in 512K, 64M or 1G", text, value, why,
				    size);
	case CONFIG_TIME:
		return quantity_set(row, times, "a time, as in 50ms, 1.5s, 5min, 2h or 1d", text,
				    value, why, size);
	case CONFIG_PERCENT:
		return quantity_set(row, percents, "a percentage, as in 0.5% or 2%", text, value,
				    why, size);
	case CONFIG_HIERARCHY:
		return hierarchy_set(text, value, why, size);
	case CONFIG_HOSTS:
		return hosts_set(text, value, why, size);
	case CONFIG_FILE:
	case CONFIG_SECRET:
		return file_set(row, text, value, why, size);
	case CONFIG_GROUP:
		return config_group_find(text, value, why, size);
	case CONFIG_GROUP_MAY_LACK:
		return config_group_try(text, value, why, size);
	case CONFIG_ADDRESS:
		return config_address_parse(text, value, why, size);
	case CONFIG_DIALECT:
		return push_choice_set("auto, influxdb, victoriametrics or otlp", text, value, why,
				       size);
	case CONFIG_METRICS:
		return push_choice_set("core, more or all", text, value, why, size);
	case CONFIG_URL:
		return push_url_set(text, value, why, size);
	case CONFIG_TAGS:
		return push_tags_set(text, value, why, size);
	default:
		return -EINVAL;
	}
}

#define ALLOWED                                                                                    \
	"ADDRESS:PORT with a numeric address, as in 127.0.0.1:9433 or [::1]:9433, or nothing"

static bool port_parse(const char *text, in_port_t *port)
{
	unsigned long v = strtoul(text, NULL, 10);

	if (!*text || strlen(text) > 5 || text[strspn(text, "0123456789")] || !v || v > UINT16_MAX)
		return false;
	*port = htons((uint16_t)v);
	return true;
}

static bool address_v4_parse(const char *host, in_port_t port, struct config_address *out)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&out->address;

	if (inet_pton(AF_INET, strcmp(host, "localhost") ? host : "127.0.0.1", &in->sin_addr) != 1)
		return false;
	in->sin_family = AF_INET;
	in->sin_port = port;
	out->bytes = sizeof(*in);
	out->is_loopback = ntohl(in->sin_addr.s_addr) >> 24 == 127;
	return true;
}

static bool address_v6_parse(const char *host, in_port_t port, struct config_address *out)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&out->address;

	if (inet_pton(AF_INET6, host, &in6->sin6_addr) != 1)
		return false;
	in6->sin6_family = AF_INET6;
	in6->sin6_port = port;
	out->bytes = sizeof(*in6);
	out->is_loopback = IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
	return true;
}

int config_address_parse(const char *text, struct config_address *out, char *why, size_t size)
{
	struct config_address a = { 0 };
	char host[CONFIG_TEXT_BYTES];
	in_port_t port = 0;
	char *colon;
	bool is_good;

	snprintf(a.text, sizeof(a.text), "%s", text);
	snprintf(host, sizeof(host), "%s", text);
	colon = strrchr(host, ':');
	if (!*text) {
		is_good = true;
	} else if (!colon || !port_parse(colon + 1, &port)) {
		is_good = false;
	} else if (*host == '[' && colon[-1] == ']') {
		colon[-1] = '\0';
		is_good = address_v6_parse(host + 1, port, &a);
	} else {
		*colon = '\0';
		is_good = address_v4_parse(host, port, &a);
	}
	if (!is_good) {
		snprintf(why, size, ALLOWED);
		return -EINVAL;
	}
	*out = a;
	return 0;
}
