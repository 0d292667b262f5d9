// SPDX-License-Identifier: BSD-2-Clause
/* Records of processes, and what live ones held at a sample, read back. */
#include "wire/reader_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool read_peak(const json_t *o, const char *key, uint64_t *bytes)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_integer(v))
		return false;
	*bytes = (uint64_t)json_integer_value(v);
	return true;
}

void read_comm(char comm[COMM_TEXT_BYTES], const json_t *o)
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

void read_process(struct line *l, json_t *o)
{
	struct process *p = &l->process;
	const json_t *args = json_object_get(o, "args");
	const char *state = json_string_value(json_object_get(o, "state"));

	*p = (struct process){ .has_ended = !state };
	p->pid = (int32_t)json_number_of(o, "pid", 0);
	p->ns_pid = (int32_t)json_number_of(o, "ns_pid", 0);
	p->ppid = (int32_t)json_number_of(o, "ppid", 0);
	p->uid = (uint32_t)json_number_of(o, "uid", 0);
	read_comm(p->comm, o);
	p->exe = json_string_value(json_object_get(o, "exe"));
	if (json_array_size(args))
		line_set_args(l, args); /* without memory there are none */
	p->args_cut = json_is_true(json_object_get(o, "args_cut"));
	p->start_epoch_ns = json_number_of(o, "start_time", 6) * 1000; /* published in us */
	p->joined_epoch_ns = json_number_of(o, "joined_time", 6) * 1000;
	p->left_epoch_ns = json_number_of(o, "left_time", 6) * 1000;
	p->end_epoch_ns = json_number_of(o, "end_time", 6) * 1000;
	p->exit_code = (int)json_number_of(o, "exit_code", 0);
	p->signal = (int)json_number_of(o, "signal", 0);
	p->state = state ? *state : 0;
	p->threads_total = (uint32_t)json_number_of(o, "threads_total", 0);
	p->execs = (uint32_t)json_number_of(o, "execs", 0);
	p->has_rss_peak = read_peak(o, "rss_peak_bytes", &p->rss_peak_bytes);
	p->rss_peak_exact = json_is_true(json_object_get(o, "rss_peak_exact"));
	p->lossy = json_is_true(json_object_get(o, "lossy"));
	read_usage(o, p->value, &p->have);
}

void read_process_sample(struct line *l, json_t *o)
{
	struct process_sample *p = &l->process_sample;
	struct metric_set set;

	*p = (struct process_sample){ 0 };
	p->elapsed_ns = json_number_of(o, "elapsed_seconds", 9);
	p->pid = (int32_t)json_number_of(o, "pid", 0);
	read_comm(p->comm, o);
	p->start_epoch_ns = json_number_of(o, "start_time", 6) * 1000; /* published in us */
	p->lossy = json_is_true(json_object_get(o, "lossy"));
	process_sample_metrics(&set);
	read_metrics_of(&set, o, p->value, &p->have);
}
