// SPDX-License-Identifier: BSD-2-Clause
/* Records of processes, and what live ones held at a sample, read back. */
#include "run/reader_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool member_read_bytes(const json_t *o, const char *key, uint64_t *bytes)
{
	const json_t *v = json_object_get(o, key);

	return json_is_integer(v) && value_read_number(v, 0, bytes);
}

void comm_read(char comm[COMM_TEXT_BYTES], const json_t *o)
{
	const char *text = json_string_value(json_object_get(o, "comm"));

	if (text)
		comm_copy(comm, text, SIZE_MAX);
}

int line_set_args(struct line *l, const void *args)
{
	const json_t *list = args;
	size_t length = 0, i;
	const json_t *v;
	char *at;

	json_array_foreach(list, i, v)
		length += json_string_length(v) + 1;
	if (length > l->args_room) {
		at = realloc(l->args, length);
		if (!at)
			return -ENOMEM;
		l->args = at;
		l->args_room = length;
	}
	at = l->args;
	json_array_foreach(list, i, v) {
		if (json_is_string(v))
			memcpy(at, json_string_value(v), json_string_length(v));
		at += json_string_length(v);
		*at++ = 0;
	}
	l->process.args = l->args;
	l->process.args_length = length;
	return 0;
}

void process_read(struct line *l, json_t *o)
{
	struct process *p = &l->process;
	const json_t *args = json_object_get(o, "args");
	const char *state = json_string_value(json_object_get(o, "state"));

	*p = (struct process){ .has_ended = !state };
	p->pid = value_read_int32(json_object_get(o, "pid"));
	p->ns_pid = value_read_int32(json_object_get(o, "ns_pid"));
	p->ppid = value_read_int32(json_object_get(o, "ppid"));
	p->uid = member_read_uint32(o, "uid");
	p->span = member_read_number(o, "span", 0);
	comm_read(p->comm, o);
	p->exe = json_string_value(json_object_get(o, "exe"));
	if (json_array_size(args))
		line_set_args(l, args); /* without memory there are none */
	p->args_cut = json_is_true(json_object_get(o, "args_cut"));
	p->start_epoch_ns = member_read_epoch(o, "start_time");
	p->joined_epoch_ns = member_read_epoch(o, "joined_time");
	p->left_epoch_ns = member_read_epoch(o, "left_time");
	p->end_epoch_ns = member_read_epoch(o, "end_time");
	p->exit_code = value_read_int32(json_object_get(o, "exit_code"));
	p->signal = value_read_int32(json_object_get(o, "signal"));
	p->state = state ? *state : 0;
	p->threads_total = member_read_uint32(o, "threads_total");
	p->execs = member_read_uint32(o, "execs");
	p->has_rss_peak = member_read_bytes(o, "rss_peak_bytes", &p->rss_peak_bytes);
	p->rss_peak_exact = json_is_true(json_object_get(o, "rss_peak_exact"));
	p->children_cpu_ns = member_read_number(o, "children_cpu_seconds", 9);
	p->lossy = json_is_true(json_object_get(o, "lossy"));
	usage_read(o, p->value, &p->have);
}

void process_sample_read(struct line *l, json_t *o)
{
	struct process_sample *p = &l->process_sample;
	struct metric_set set;

	*p = (struct process_sample){ 0 };
	p->elapsed_ns = member_read_number(o, "elapsed_seconds", 9);
	p->pid = value_read_int32(json_object_get(o, "pid"));
	comm_read(p->comm, o);
	p->start_epoch_ns = member_read_epoch(o, "start_time");
	p->lossy = json_is_true(json_object_get(o, "lossy"));
	process_sample_metrics(&set);
	metric_put(&set, M_threads);
	metrics_read_of(&set, o, p->value, &p->have);
	p->has_parent = json_is_integer(json_object_get(o, "ppid"));
	if (!p->has_parent)
		return;
	/* of a live feed: what its record will have, so far */
	p->ppid = value_read_int32(json_object_get(o, "ppid"));
	p->uid = member_read_uint32(o, "uid");
	p->exe = json_string_value(json_object_get(o, "exe"));
	usage_read(o, p->value, &p->have);
}
