// SPDX-License-Identifier: BSD-2-Clause
#include "run/request.h"

#include "base/jansson_memory.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/span_call.h"
#include "run/process.h"
#include "run/sample.h"
#include "run/tree.h"
#include "run/limit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LONGEST_INTERVAL_NS (7ULL * 24 * 3600 * 1000000000)
#define SHORTEST_INTERVAL_NS 10000000ULL
#define MOST_PSS_PPM 500000
#define MOST_STALLED_PPM 1000000
#define MOST_KINDS 6

static const struct field fields[] = {
	FIELD_U64_OF(request, interval_ns, LONGEST_INTERVAL_NS),
	FIELD_U64_OF(request, duration_ns, NUMBER_MAX),
	FIELD_U64_OF(request, named_boot_ns, NUMBER_MAX),
	FIELD_U64_OF(request, stalled_after_ns, NUMBER_MAX),
	FIELD_U64_OF(request, stalled_below_ppm, MOST_STALLED_PPM),
	FIELD_U32_OF(request, process_samples, MAX_PROCESS_SAMPLES),
	FIELD_U32_OF(request, net_peers, MAX_NET_PEERS),
	FIELD_U32_OF(request, pss_ppm, MOST_PSS_PPM),
	FIELD_BOOL_OF(request, exact_peak),
	FIELD_BOOL_OF(request, no_args),
	FIELD_BOOL_OF(request, span_samples),
	FIELD_BOOL_OF(request, wait_tree),
	FIELD_BOOL_OF(request, wait_start),
	FIELD_BOOL_OF(request, once),
	FIELD_BOOL_OF(request, processes),
	FIELD_TEXT_OF(request, job),
	FIELD_TEXT_OF(request, spans),
	FIELD_BOOL_OF(request, hides_others),
	FIELD_U32_OF(request, shown_to, UINT32_MAX),
	{ .key = NULL },
};

static const char *const follows[] = {
	[FOLLOW_COMMAND] = "command", [FOLLOW_PROCESSES] = "processes",
	[FOLLOW_CGROUP] = "cgroup",   [FOLLOW_NODE] = "node",
	[FOLLOW_JOB] = "job",         [FOLLOW_HISTORY] = "history",
	[FOLLOW_AGENT] = "agent",
};

/* A name in "descriptors" and its members in struct request. */
struct descriptor_kind {
	const char *name;
	int *fds;
	size_t most;
};

static void request_descriptor_kinds(struct request *r, struct descriptor_kind kinds[MOST_KINDS])
{
	kinds[0] = (struct descriptor_kind){ "stream", &r->stream_fd, 1 };
	kinds[1] = (struct descriptor_kind){ "marks", &r->marks_fd, 1 };
	kinds[2] = (struct descriptor_kind){ "udp", r->udp_fds, REQUEST_UDP };
	kinds[3] = (struct descriptor_kind){ "cgroup", &r->cgroup_fd, 1 };
	kinds[4] = (struct descriptor_kind){ "spans", &r->span_fd, 1 };
	kinds[5] = (struct descriptor_kind){ "process", r->pid_fds, REQUEST_PROCESSES };
}

void request_init(struct request *r)
{
	struct descriptor_kind kinds[MOST_KINDS];

	memset(r, 0, sizeof(*r));
	request_descriptor_kinds(r, kinds);
	for (size_t k = 0; k < MOST_KINDS; k++)
		for (size_t i = 0; i < kinds[k].most; i++)
			kinds[k].fds[i] = -1;
}

/* Lists the descriptors in order into @j and @fds, which may be NULL. Returns their number. */
static size_t request_list_descriptors(const struct request *r, struct jsonw *j, int *fds)
{
	struct request copy = *r;
	struct descriptor_kind kinds[MOST_KINDS];
	size_t nr = 0;

	request_descriptor_kinds(&copy, kinds);
	for (size_t k = 0; k < MOST_KINDS; k++) {
		for (size_t i = 0; i < kinds[k].most; i++) {
			if (kinds[k].fds[i] < 0)
				continue;
			if (j)
				jsonw_string(j, NULL, kinds[k].name);
			if (fds)
				fds[nr] = kinds[k].fds[i];
			nr++;
		}
	}
	return nr;
}

size_t request_fds(const struct request *r, int *fds)
{
	return request_list_descriptors(r, NULL, fds);
}

void request_write(struct jsonw *j, const struct request *r)
{
	jsonw_object(j, NULL);
	jsonw_string(j, "kind", "hello");
	jsonw_uint(j, "version", REQUEST_VERSION);
	jsonw_string(j, "follow", follows[r->follow]);
	jsonw_array(j, "metrics");
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_has(&r->wanted, (enum metric_id)i))
			jsonw_string(j, NULL, metric_get((enum metric_id)i)->key);
	jsonw_array_end(j);
	fields_write(j, fields, r);
	run_limits_write(j, r->limits, r->nr_limits);
	jsonw_array(j, "descriptors");
	request_list_descriptors(r, j, NULL);
	jsonw_array_end(j);
	jsonw_object_end(j);
}

static int request_read_follow(struct request *r, const json_t *v, char *why, size_t size)
{
	const char *name = json_string_value(v);

	for (size_t i = 0; name && i < sizeof(follows) / sizeof(*follows); i++) {
		if (strcmp(follows[i], name) != 0)
			continue;
		r->follow = (enum followed)i;
		return 0;
	}
	return fields_refuse("follow", "is not known", why, size);
}

static int request_read_wanted(struct request *r, const json_t *list, char *why, size_t size)
{
	enum metric_id id;

	if (!json_is_array(list))
		return fields_refuse("metrics", "is not a list", why, size);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *v = json_array_get(list, i);

		if (!json_is_string(v) ||
		    metric_find(json_string_value(v), json_string_length(v), &id))
			return fields_refuse("metrics", "has an unknown item", why, size);
		metric_put(&r->wanted, id);
	}
	return 0;
}

/* Stores @fd in the first free place of its name. Returns false if there is none. */
static bool request_put_descriptor(struct request *r, const char *name, int fd)
{
	struct descriptor_kind kinds[MOST_KINDS];

	request_descriptor_kinds(r, kinds);
	for (size_t k = 0; name && k < MOST_KINDS; k++) {
		if (strcmp(kinds[k].name, name) != 0)
			continue;
		for (size_t i = 0; i < kinds[k].most; i++) {
			if (kinds[k].fds[i] >= 0)
				continue;
			kinds[k].fds[i] = fd;
			return true;
		}
	}
	return false;
}

static int request_read_descriptors(struct request *r, const json_t *list, const int *fds,
				    size_t nr_fds, char *why, size_t size)
{
	static const char key[] = "descriptors";

	if (!json_is_array(list) || json_array_size(list) != nr_fds)
		return fields_refuse(key, "do not match those that were sent", why, size);
	for (size_t i = 0; i < nr_fds; i++)
		if (fds[i] < 0 ||
		    !request_put_descriptor(r, json_string_value(json_array_get(list, i)), fds[i]))
			return fields_refuse(key, "has an unknown name, or one too often", why,
					     size);
	while (r->nr_pids < REQUEST_PROCESSES && r->pid_fds[r->nr_pids] >= 0)
		r->nr_pids++;
	return 0;
}

static bool request_has_followed(const struct request *r)
{
	switch (r->follow) {
	case FOLLOW_COMMAND:
	case FOLLOW_PROCESSES:
		return r->nr_pids > 0;
	case FOLLOW_CGROUP:
		return !r->nr_pids && r->cgroup_fd >= 0;
	default:
		return !r->nr_pids && r->cgroup_fd < 0;
	}
}

/* Checks the combination of the values. */
static int request_check(const struct request *r, char *why, size_t size)
{
	if (r->interval_ns < SHORTEST_INTERVAL_NS)
		return fields_refuse("interval_ns", "is missing or too short", why, size);
	if (r->stream_fd < 0)
		return fields_refuse("descriptors", "lacks the stream", why, size);
	if (!r->job[0] != (r->follow != FOLLOW_JOB && r->follow != FOLLOW_HISTORY))
		return fields_refuse("job",
				     "is missing, or does not belong to this kind of "
				     "request",
				     why, size);
	if (!request_has_followed(r))
		return fields_refuse("descriptors", "lacks the process or cgroup to measure", why,
				     size);
	if (r->follow == FOLLOW_COMMAND && r->nr_pids != 1)
		return fields_refuse("descriptors", "has several commands", why, size);
	if (r->nr_limits && r->follow != FOLLOW_COMMAND)
		return fields_refuse("limits", "are allowed only with a command", why, size);
	if (r->wait_start && r->follow != FOLLOW_CGROUP)
		return fields_refuse("wait_start", "is allowed only with a cgroup", why, size);
	if (*r->spans && !span_socket_is_of_run(r->spans))
		return fields_refuse("spans", "is not a valid name of a run's socket", why, size);
	if (r->processes && r->follow != FOLLOW_JOB)
		return fields_refuse("processes", "is allowed only with a job of the node", why,
				     size);
	return 0;
}

static int request_read_object(struct request *r, json_t *o, const int *fds, size_t nr_fds,
			       char *why, size_t size)
{
	static const char *const others[] = { "kind",        "version", "follow", "metrics",
					      "descriptors", "limits",  NULL };
	const char *kind = json_string_value(json_object_get(o, "kind"));
	const json_t *version = json_object_get(o, "version");
	int err;

	if (!kind || strcmp(kind, "hello") != 0)
		return fields_refuse("kind", "is not hello", why, size);
	if (!json_is_integer(version) || json_integer_value(version) != REQUEST_VERSION) {
		snprintf(why, size, "it is not of version %d", REQUEST_VERSION);
		return -EPROTONOSUPPORT;
	}
	err = fields_read(o, fields, others, r, why, size);
	if (!err)
		err = request_read_follow(r, json_object_get(o, "follow"), why, size);
	if (!err)
		err = request_read_wanted(r, json_object_get(o, "metrics"), why, size);
	if (!err)
		err = run_limits_read(r->limits, &r->nr_limits, json_object_get(o, "limits"), why,
				      size);
	if (!err)
		err = request_read_descriptors(r, json_object_get(o, "descriptors"), fds, nr_fds,
					       why, size);
	return err ? err : request_check(r, why, size);
}

int request_read(struct request *r, const char *text, size_t length, int *fds, size_t nr_fds,
		 char *why, size_t size)
{
	size_t failures = memory_failures_of_thread();
	json_t *o = jansson_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
	int err;

	request_init(r);
	snprintf(why, size, "it is not a JSON object");
	err = json_is_object(o) ? request_read_object(r, o, fds, nr_fds, why, size) : -EBADMSG;
	json_decref(o);
	if (memory_failures_of_thread() > failures) {
		snprintf(why, size, "out of memory");
		err = -ENOMEM;
	}
	if (err)
		request_init(r);
	for (size_t i = 0; !err && i < nr_fds; i++)
		fds[i] = -1;
	return err;
}

void request_close_targets(struct request *r)
{
	for (size_t i = 0; i < r->nr_pids; i++)
		close(r->pid_fds[i]);
	if (r->cgroup_fd >= 0)
		close(r->cgroup_fd);
}
