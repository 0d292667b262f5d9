// SPDX-License-Identifier: BSD-2-Clause
#include "run/summary_field.h"

/* Expand @there of a row; some conditions name the member that decides. */
#define ROW_ALWAYS .there = THERE_ALWAYS
#define ROW_IF_HAS(member) .there = THERE_IF_HAS, .has = offsetof(struct summary, member)
#define ROW_WITH(member) .there = THERE_WITH, .has = offsetof(struct summary, member)
#define ROW_HAS_OR_NULL(member) .there = THERE_HAS_OR_NULL, .has = offsetof(struct summary, member)
#define ROW_IF_SET .there = THERE_IF_SET
#define ROW_IF_COUNTED .there = THERE_IF_COUNTED
#define ROW_IF_SAMPLED .there = THERE_IF_SAMPLED
#define ROW_IF_CPU .there = THERE_IF_CPU
#define ROW_IF_CPU_COUNTED .there = THERE_IF_CPU_COUNTED
#define ROW_IF_COLLECTED .there = THERE_IF_COLLECTED
#define ROW_IF_KILLED .there = THERE_IF_KILLED
#define ROW_IF_BOUNDS .there = THERE_IF_BOUNDS
#define ROW_IF_LIMITED .there = THERE_IF_LIMITED
#define ROW_IF_INSTANCES .there = THERE_IF_INSTANCES
#define ROW_IF_LATENCIES .there = THERE_IF_LATENCIES

static const struct member fields[NR_SUMMARY_FIELDS] = {
/* clang-format off */
#define SUMMARY_FIELD(in_, key_, type_, unit_, member, there_, compare_, text)                     \
	{ .key = #key_, .in = IN_##in_, .type = TYPE_##type_, .unit = UNIT_##unit_,             \
	  .offset = offsetof(struct summary, member),                                              \
	  .size = sizeof(((struct summary *)0)->member), .signal = offsetof(struct summary, signal), ROW_##there_, .compare = (compare_),      \
	  .help = (text) },
#define SUMMARY_DERIVED(in_, key_, unit_, get_, set_, there_, compare_, text)                      \
	{ .key = #key_, .in = IN_##in_, .type = TYPE_DERIVED, .unit = UNIT_##unit_,             \
	  .get = (get_), .set = (set_), ROW_##there_, .compare = (compare_), .help = (text) },
#define SUMMARY_OBJECT(in_, key_, opens_, there_, text)                                            \
	{ .key = #key_, .in = IN_##in_, .opens = IN_##opens_, .type = TYPE_OBJECT,              \
	  ROW_##there_, .help = (text) },
#define SUMMARY_PART(key_, part, there_)                                                           \
	{ .key = #key_, .type = TYPE_##part, ROW_##there_, .help = "" },
#include "run/summary.def"
	/* clang-format on */
};

/* The places of the compared keys must be 1, 2, 3 ..., each once. */
#define SUMMARY_FIELD(in, key, type, unit, member, there, compare, text) | 1ULL << (compare)
#define SUMMARY_DERIVED(in, key, unit, get, set, there, compare, text) | 1ULL << (compare)
_Static_assert((1ULL
#include "run/summary.def"
		) == (1ULL << (NR_SUMMARY_COMPARED + 1)) - 1,
	       "a place of a key of `bpfmon compare` in summary.def is missing, or there twice");

const struct member_table summary_members = { fields, NR_SUMMARY_FIELDS,
					      offsetof(struct summary, total.value),
					      offsetof(struct summary, total.have) };

const struct member *summary_field_get(size_t i)
{
	return &fields[i];
}

const struct member *summary_field_compared(unsigned place)
{
	const struct member *f = fields;

	while (f->compare != place)
		f++;
	return f;
}

uint64_t summary_field_number(const struct summary *s, const struct member *f)
{
	return f->get ? f->get(s) : *(const uint64_t *)member_get(s, f);
}

static bool field_is_set(const struct summary *s, const struct member *f)
{
	return f->get ? f->get(s) : member_is_set(s, f);
}

bool summary_field_is_there(const struct summary *s, const struct member *f)
{
	switch (f->there) {
	case THERE_IF_SET:
		return field_is_set(s, f);
	case THERE_IF_COUNTED:
		return field_is_set(s, f) || summary_is_from_collector(s);
	case THERE_IF_SAMPLED:
		return field_is_set(s, f) || s->samples || summary_is_from_collector(s);
	case THERE_IF_CPU:
		return sample_has(&s->total, M_cpu);
	case THERE_IF_CPU_COUNTED:
		return sample_has(&s->total, M_cpu) &&
		       (field_is_set(s, f) || summary_is_from_collector(s));
	case THERE_IF_COLLECTED:
		return summary_is_from_collector(s);
	case THERE_IF_KILLED:
		return s->oom_kills;
	case THERE_IF_BOUNDS:
		return s->bounds.is_from_proc || summary_write_is_bound(s);
	case THERE_IF_LIMITED:
		return s->limit.text[0];
	case THERE_IF_INSTANCES:
		return s->total.nr_instances;
	case THERE_IF_LATENCIES:
		return s->latencies.nr;
	default:
		return member_is_there(s, f);
	}
}
