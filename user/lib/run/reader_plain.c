// SPDX-License-Identifier: BSD-2-Clause
/*
 * Samples and records of processes, read without a tree: a run may end with a record for each of
 * thousands of processes, has a sample of each of them a second, and building a tree takes ten
 * times as long. Only what the writers write of plain texts is read here, in its order. All else,
 * as an escaped or an unknown key, is left to the parser of JSON.
 */
#include "base/memory.h"
#include "base/number.h"
#include "run/reader.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define LAST_EPOCH_US ((1ULL << 32) * 1000000) /* later times the parser rounds: year 2106 */
#define MOST_DIGITS 18                         /* of a whole number: one of more may overflow */
#define MOST_INSTANCES                                                                             \
	128 /* each name is compared with all before; more are left to the parser                  \
	     */

/* What is left of the line. */
struct scan {
	const char *at, *end;
	char *to;   /* where the next text is copied, with a NUL; there is room for all of them */
	bool opens; /* the next member is the first of its object */
};

static bool scan_take(struct scan *s, const char *text, size_t n)
{
	if ((size_t)(s->end - s->at) < n || memcmp(s->at, text, n) != 0)
		return false;
	s->at += n;
	return true;
}

#define SCAN_TAKE(s, text) scan_take(s, text, sizeof(text) - 1)

/* True if the next member is @key. */
static bool scan_key(struct scan *s, const char *key)
{
	const struct scan before = *s;

	if ((s->opens || SCAN_TAKE(s, ",")) && SCAN_TAKE(s, "\"") &&
	    scan_take(s, key, strlen(key)) && SCAN_TAKE(s, "\":")) {
		s->opens = false;
		return true;
	}
	*s = before;
	return false;
}

static bool scan_has_digit(const struct scan *s)
{
	return s->at < s->end && isdigit((unsigned char)*s->at);
}

/* False: there is no digit, or more than @most. */
static bool scan_digits(struct scan *s, unsigned most, uint64_t *v, unsigned *nr)
{
	for (*nr = 0; scan_has_digit(s) && *nr < most; s->at++, ++*nr)
		*v = *v * 10 + (uint64_t)(*s->at - '0');
	return *nr && !scan_has_digit(s);
}

/* The value times 10^@decimals, of as many digits after the point or fewer. */
static bool scan_number(struct scan *s, unsigned decimals, uint64_t most, uint64_t *v)
{
	const char *start = s->at;
	uint64_t part = 0;
	unsigned nr;

	*v = 0;
	if (!scan_digits(s, MOST_DIGITS, v, &nr) || (nr > 1 && *start == '0') ||
	    !number_scale(*v, decimals, v))
		return false;
	if (decimals && SCAN_TAKE(s, ".")) {
		if (!scan_digits(s, decimals, &part, &nr) ||
		    !number_scale(part, decimals - nr, &part) ||
		    __builtin_add_overflow(*v, part, v))
			return false;
	}
	return *v <= most;
}

static bool scan_uint32(struct scan *s, uint32_t *v)
{
	uint64_t n;

	if (!scan_number(s, 0, UINT32_MAX, &n))
		return false;
	*v = (uint32_t)n;
	return true;
}

static bool scan_int32(struct scan *s, int32_t *v)
{
	bool is_negative = SCAN_TAKE(s, "-");
	uint64_t n;

	if (!scan_number(s, 0, INT32_MAX, &n) || (is_negative && !n))
		return false;
	*v = is_negative ? -(int32_t)n : (int32_t)n;
	return true;
}

static bool scan_epoch(struct scan *s, uint64_t *ns)
{
	if (!scan_number(s, 6, LAST_EPOCH_US, ns))
		return false;
	*ns *= 1000;
	return true;
}

/* A text of printable ASCII without escapes; @text: its copy. */
static bool scan_text(struct scan *s, const char **text, size_t *length)
{
	const char *start;

	if (!SCAN_TAKE(s, "\""))
		return false;
	start = s->at;
	while (s->at < s->end && *s->at >= 0x20 && *s->at < 0x7f && *s->at != '"' && *s->at != '\\')
		s->at++;
	*length = (size_t)(s->at - start);
	*text = s->to;
	memcpy(s->to, start, *length);
	s->to += *length;
	*s->to++ = '\0';
	return SCAN_TAKE(s, "\"");
}

static bool scan_names(struct scan *s, struct process *p)
{
	const char *text;
	size_t length;

	if (!scan_key(s, "comm") || !scan_text(s, &text, &length) || length >= sizeof(p->comm))
		return false;
	comm_copy(p->comm, text, SIZE_MAX);
	if (!scan_key(s, "exe") || (!SCAN_TAKE(s, "null") && !scan_text(s, &p->exe, &length)))
		return false;
	if (!scan_key(s, "args"))
		return true;
	p->args = s->to;
	if (!SCAN_TAKE(s, "[") || !scan_text(s, &text, &length))
		return false;
	while (SCAN_TAKE(s, ","))
		if (!scan_text(s, &text, &length))
			return false;
	p->args_length = (size_t)(s->to - p->args);
	p->args_cut = SCAN_TAKE(s, "],\"args_cut\":true");
	return p->args_cut || SCAN_TAKE(s, "]");
}

static bool scan_times(struct scan *s, struct process *p)
{
	if (!scan_key(s, "start_time") || !scan_epoch(s, &p->start_epoch_ns) ||
	    (scan_key(s, "joined_time") && !scan_epoch(s, &p->joined_epoch_ns)) ||
	    (scan_key(s, "left_time") && !scan_epoch(s, &p->left_epoch_ns)))
		return false;
	return scan_key(s, "end_time") && (SCAN_TAKE(s, "null") || scan_epoch(s, &p->end_epoch_ns));
}

/* One that has ended has a status or a signal; one that has not has a state. */
static bool scan_end(struct scan *s, struct process *p)
{
	const char *state;
	size_t length;

	if (SCAN_TAKE(s, ",\"exit_code\":null,\"signal\":null,\"state\":")) {
		if (p->end_epoch_ns || !scan_text(s, &state, &length) || length != 1)
			return false;
		p->state = *state;
		return true;
	}
	p->has_ended = true;
	if (SCAN_TAKE(s, ",\"exit_code\":null,\"signal\":"))
		return scan_int32(s, &p->signal) && p->signal;
	return scan_key(s, "exit_code") && scan_int32(s, &p->exit_code) &&
	       SCAN_TAKE(s, ",\"signal\":null");
}

static bool scan_peak(struct scan *s, struct process *p)
{
	if (!scan_key(s, "rss_peak_bytes"))
		return true;
	p->has_rss_peak = true;
	if (!scan_number(s, 0, NUMBER_MAX, &p->rss_peak_bytes) || !scan_key(s, "rss_peak_exact"))
		return false;
	p->rss_peak_exact = SCAN_TAKE(s, "true");
	return p->rss_peak_exact || SCAN_TAKE(s, "false");
}

static bool scan_children(struct scan *s, struct process *p)
{
	return !scan_key(s, "children_cpu_seconds") ||
	       scan_number(s, 9, NUMBER_MAX, &p->children_cpu_ns);
}

/* The metrics of @of, in their order. */
static bool scan_metrics(struct scan *s, const struct metric_set *of, uint64_t *value,
			 struct metric_set *have)
{
	for (int i = 0; i < NR_METRICS; i++) {
		const struct metric *m = metric_get((enum metric_id)i);
		const unsigned decimals = metric_unit_decimals(m->unit);

		if (!metric_has(of, (enum metric_id)i) || !scan_key(s, m->key))
			continue;
		if (!scan_number(s, decimals, decimals ? UINT64_MAX : NUMBER_MAX, &value[i]))
			return false;
		metric_put(have, (enum metric_id)i);
	}
	return true;
}

static bool scan_usage(struct scan *s, struct process *p)
{
	struct metric_set of = { 0 };

	metric_set_put_of_process(&of);
	return scan_metrics(s, &of, p->value, &p->have);
}

static bool scan_numbers(struct scan *s, struct process *p)
{
	return scan_key(s, "pid") && scan_int32(s, &p->pid) && scan_key(s, "ns_pid") &&
	       scan_int32(s, &p->ns_pid) && scan_key(s, "ppid") && scan_int32(s, &p->ppid) &&
	       scan_key(s, "uid") && scan_uint32(s, &p->uid) &&
	       (!scan_key(s, "span") || scan_number(s, 0, NUMBER_MAX, &p->span));
}

static bool scan_end_of_line(struct scan *s)
{
	return SCAN_TAKE(s, "}") && (s->at == s->end || (SCAN_TAKE(s, "\n") && s->at == s->end));
}

static bool scan_process(struct scan *s, struct process *p)
{
	*p = (struct process){ 0 };
	if (!scan_numbers(s, p) || !scan_names(s, p) || !scan_times(s, p) || !scan_end(s, p) ||
	    !scan_key(s, "threads_total") || !scan_uint32(s, &p->threads_total) ||
	    !scan_key(s, "execs") || !scan_uint32(s, &p->execs) || !scan_peak(s, p) ||
	    !scan_children(s, p) || !scan_usage(s, p))
		return false;
	p->lossy = SCAN_TAKE(s, ",\"lossy\":true");
	return scan_end_of_line(s);
}

/* The time of the clock that samples have before their own is not kept. */
static bool scan_elapsed(struct scan *s, uint64_t *elapsed_ns)
{
	uint64_t time;

	return (!scan_key(s, "time") || scan_epoch(s, &time)) && scan_key(s, "elapsed_seconds") &&
	       scan_number(s, 9, UINT64_MAX, elapsed_ns);
}

/* "name":{, the members of which follow. */
static bool scan_object(struct scan *s, const char **name, size_t room)
{
	size_t length;

	if (!scan_text(s, name, &length) || !length || length >= room || !SCAN_TAKE(s, ":{"))
		return false;
	s->opens = true;
	return true;
}

/* Of members with one name the parser takes the last. */
static bool instance_is_new(const struct sample *smp, const char *dimension, const char *name)
{
	for (size_t i = 0; i < smp->nr_instances; i++)
		if (!strcmp(smp->instances[i].dimension, dimension) &&
		    (!name || !strcmp(smp->instances[i].name, name)))
			return false;
	return smp->nr_instances < MOST_INSTANCES;
}

static bool scan_instance(struct scan *s, const struct metric_set *all, const char *dimension,
			  struct sample *smp)
{
	struct instance *i;
	const char *name;

	if (!scan_object(s, &name, INSTANCE_BYTES) || !instance_is_new(smp, dimension, name))
		return false;
	i = sample_add_instance(smp, dimension, name);
	if (!i || !scan_metrics(s, all, i->value, &i->have) || !SCAN_TAKE(s, "}"))
		return false;
	s->opens = false;
	return true;
}

static bool scan_instances(struct scan *s, const struct metric_set *all, struct sample *smp)
{
	const char *dimension;

	if (!scan_key(s, "by"))
		return true;
	if (!SCAN_TAKE(s, "{"))
		return false;
	do {
		if (!scan_object(s, &dimension, DIMENSION_BYTES) ||
		    !instance_is_new(smp, dimension, NULL))
			return false;
		do {
			if (!scan_instance(s, all, dimension, smp))
				return false;
		} while (SCAN_TAKE(s, ","));
	} while (SCAN_TAKE(s, "},"));
	return SCAN_TAKE(s, "}}");
}

static bool scan_sample(struct scan *s, struct sample *smp)
{
	struct metric_set all;

	sample_reset(smp);
	metric_set_all(&all);
	return scan_elapsed(s, &smp->elapsed_ns) && scan_metrics(s, &all, smp->value, &smp->have) &&
	       scan_instances(s, &all, smp) && scan_end_of_line(s);
}

/* Of a live feed, which also has what its record would have so far. */
static bool scan_parent(struct scan *s, struct process_sample *p, struct metric_set *of)
{
	size_t length;

	if (!scan_key(s, "ppid"))
		return true;
	p->has_parent = true;
	metric_set_put_of_process(of);
	metric_put(of, M_threads);
	return scan_int32(s, &p->ppid) && scan_key(s, "uid") && scan_uint32(s, &p->uid) &&
	       (!scan_key(s, "exe") || scan_text(s, &p->exe, &length));
}

static bool scan_process_sample(struct scan *s, struct process_sample *p)
{
	struct metric_set of;
	const char *comm;
	size_t length;

	*p = (struct process_sample){ 0 };
	process_sample_metrics(&of);
	if (!scan_elapsed(s, &p->elapsed_ns) || !scan_key(s, "pid") || !scan_int32(s, &p->pid))
		return false;
	if (scan_key(s, "comm")) {
		if (!scan_text(s, &comm, &length) || length >= sizeof(p->comm))
			return false;
		comm_copy(p->comm, comm, SIZE_MAX);
	}
	if (!scan_key(s, "start_time") || !scan_epoch(s, &p->start_epoch_ns) ||
	    !scan_parent(s, p, &of) || !scan_metrics(s, &of, p->value, &p->have))
		return false;
	p->lossy = SCAN_TAKE(s, ",\"lossy\":true");
	return scan_end_of_line(s);
}

/* The copies of the texts take no more than the line: each has a NUL instead of two quotes. */
static bool scan_make_room(struct scan *s, struct line *l, size_t length)
{
	char *room = l->args;

	if (length > l->args_room) {
		room = memory_realloc(l->args, length * 2);
		if (!room)
			return false;
		l->args = room;
		l->args_room = length * 2;
	}
	s->to = room;
	return true;
}

bool line_read_plain(struct line *l, const char *text, size_t length)
{
	struct scan s = { .at = text, .end = text + length };
	enum line_kind kind = LINE_OTHER;

	if (!scan_make_room(&s, l, length))
		return false;
	if (SCAN_TAKE(&s, "{\"kind\":\"process_sample\""))
		kind = scan_process_sample(&s, &l->process_sample) ? LINE_PROCESS_SAMPLE : kind;
	else if (SCAN_TAKE(&s, "{\"kind\":\"sample\""))
		kind = scan_sample(&s, &l->sample) ? LINE_SAMPLE : kind;
	else if (SCAN_TAKE(&s, "{\"kind\":\"process\""))
		kind = scan_process(&s, &l->process) ? LINE_PROCESS : kind;
	if (kind == LINE_OTHER)
		return false;
	json_decref(l->tree);
	l->tree = NULL;
	l->kind = kind;
	return true;
}
