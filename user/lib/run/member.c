// SPDX-License-Identifier: BSD-2-Clause
#include "run/member.h"

#include "run/process.h"
#include "run/sample.h"
#include "run/span.h"

#define NR(rows) (sizeof(rows) / sizeof(*(rows)))

/* clang-format off */
#define PROCESS_HAS(there_, member) .there = (there_), .has = offsetof(struct process, member)
#define PROCESS_ALWAYS .there = THERE_ALWAYS
#define PROCESS_IF_SET .there = THERE_IF_SET
#define PROCESS_HAS_OR_NULL(member) PROCESS_HAS(THERE_HAS_OR_NULL, member)
#define PROCESS_IF_HAS(member) PROCESS_HAS(THERE_IF_HAS, member)
#define PROCESS_WITH(member) PROCESS_HAS(THERE_WITH, member)
#define PROCESS_UNLESS(member) PROCESS_HAS(THERE_UNLESS, member)
#define PROCESS_BESIDE(member) PROCESS_HAS(THERE_BESIDE, member)

static const struct member process_rows[] = {
#define PROCESS_MEMBER(key_, type_, unit_, member, there_, ...)                                    \
	{ .key = #key_, .type = TYPE_##type_, .unit = UNIT_##unit_,                             \
	  .offset = offsetof(struct process, member),                                              \
	  .signal = offsetof(struct process, signal), PROCESS_##there_ },
#include "run/process.def"
	{ .key = "", .type = TYPE_COUNTERS, .there = THERE_IF_SET },
	{ .key = "lossy", .type = TYPE_LOSSY, .offset = offsetof(struct process, lossy), .there = THERE_IF_SET },
};

static const struct member span_rows[] = {
#define SPAN_ALWAYS .there = THERE_ALWAYS
#define SPAN_IF_SET .there = THERE_IF_SET
#define SPAN_OR_NULL .there = THERE_OR_NULL
#define SPAN_MEMBER(key_, type_, unit_, member, there_, ...)                                       \
	{ .key = #key_, .type = TYPE_##type_, .unit = UNIT_##unit_,                             \
	  .offset = offsetof(struct span, member), SPAN_##there_ },
#include "run/span.def"
};

#define HEAVY(member) .offset = offsetof(struct process_sample, member)
#define WITH_PARENT .has = offsetof(struct process_sample, has_parent)
static const struct member process_sample_rows[] = {
	{ "time", .type = TYPE_CLOCK, .there = THERE_IF_SET },
	{ "elapsed_seconds", .type = TYPE_NUMBER, .unit = UNIT_NS, HEAVY(elapsed_ns) },
	{ "pid", .type = TYPE_INT, HEAVY(pid) },
	{ "comm", .type = TYPE_COMM, HEAVY(comm), .there = THERE_IF_SET },
	{ "start_time", .type = TYPE_TIME, HEAVY(start_epoch_ns) },
	{ "ppid", .type = TYPE_INT, HEAVY(ppid), .there = THERE_IF_HAS, WITH_PARENT },
	{ "uid", .type = TYPE_UINT, HEAVY(uid), .there = THERE_WITH, WITH_PARENT },
	{ "exe", .type = TYPE_STRING, HEAVY(exe), .there = THERE_IF_SET },
	{ "", .type = TYPE_COUNTERS, .there = THERE_IF_SET },
	{ "lossy", .type = TYPE_LOSSY, HEAVY(lossy), .there = THERE_IF_SET },
};

static const struct member sample_rows[] = {
	{ "time", .type = TYPE_CLOCK, .there = THERE_IF_SET },
	{ "elapsed_seconds", .type = TYPE_NUMBER, .unit = UNIT_NS, .offset = offsetof(struct sample, elapsed_ns) },
	{ "", .type = TYPE_COUNTERS, .there = THERE_IF_SET },
	{ "by", .type = TYPE_INSTANCES, .there = THERE_IF_SET },
};
/* clang-format on */

const struct member_table process_members = { process_rows, NR(process_rows),
					      offsetof(struct process, value),
					      offsetof(struct process, have) };
const struct member_table process_sample_members = { process_sample_rows, NR(process_sample_rows),
						     offsetof(struct process_sample, value),
						     offsetof(struct process_sample, have) };
const struct member_table sample_members = { sample_rows, NR(sample_rows),
					     offsetof(struct sample, value),
					     offsetof(struct sample, have) };
const struct member_table span_members = { span_rows, NR(span_rows), 0, 0 };

void *member_at(void *of, const struct member *m)
{
	return (char *)of + m->offset;
}

const void *member_get(const void *of, const struct member *m)
{
	return (const char *)of + m->offset;
}

bool *member_has(void *of, const struct member *m)
{
	return (bool *)((char *)of + m->has);
}

bool member_is_set(const void *of, const struct member *m)
{
	const void *at = member_get(of, m);

	switch (m->type) {
	case TYPE_UINT:
		return *(const uint32_t *)at;
	case TYPE_INT:
		return *(const int32_t *)at;
	case TYPE_STATUS:
		return *(const int *)at;
	case TYPE_TRUTH:
	case TYPE_LOSSY:
		return *(const bool *)at;
	case TYPE_TEXT:
	case TYPE_COMM:
	case TYPE_STATE:
		return *(const char *)at;
	case TYPE_STRING:
	case TYPE_ARGS:
		return *(const char *const *)at;
	case TYPE_NUMBER:
	case TYPE_TIME:
		return *(const uint64_t *)at;
	default:
		return true;
	}
}

bool member_is_there(const void *of, const struct member *m)
{
	const char *has = (const char *)of + m->has;

	switch (m->there) {
	case THERE_IF_HAS:
	case THERE_WITH:
		return *(const bool *)has;
	case THERE_UNLESS:
		return !*(const bool *)has;
	case THERE_BESIDE:
		return *(const char *const *)has && member_is_set(of, m);
	case THERE_IF_SET:
		return member_is_set(of, m);
	default:
		return true;
	}
}

bool member_is_status(const void *of, const struct member *m)
{
	bool is_signal = *(const int *)((const char *)of + m->signal);

	return *(const bool *)((const char *)of + m->has) && (m->offset == m->signal) == is_signal;
}

bool member_is_required(const struct member *m)
{
	return m->there == THERE_ALWAYS || m->there == THERE_OR_NULL ||
	       m->there == THERE_HAS_OR_NULL;
}
