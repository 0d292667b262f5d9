/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of a summary line's members other than counters: summary.def as an array. */
#ifndef RUN_SUMMARY_FIELD_H
#define RUN_SUMMARY_FIELD_H

#include "run/member.h"
#include "run/summary.h"

/* The object of the line that contains a field. */
enum summary_in {
	IN_LINE,
	IN_PUSHED,
	IN_SELF,
	IN_COLLECTOR,
	IN_RECORDER,
	IN_PSS,
	NR_SUMMARY_IN,
};

enum {
	NR_SUMMARY_FIELDS = 0
#define SUMMARY_FIELD(...) +1
#define SUMMARY_DERIVED(...) +1
#define SUMMARY_OBJECT(...) +1
#define SUMMARY_PART(...) +1
#include "run/summary.def"
};

/* Number of keys that `bpfmon compare` compares. */
enum {
	NR_SUMMARY_COMPARED = 0
#define SUMMARY_FIELD(in, key, type, unit, member, there, compare, text) +((compare) > 0)
#define SUMMARY_DERIVED(in, key, unit, get, set, there, compare, text) +((compare) > 0)
#include "run/summary.def"
};

extern const struct member_table summary_members;

/* @i is below NR_SUMMARY_FIELDS; the order is that of the line. */
const struct member *summary_field_get(size_t i);
/* Returns the compared key at @place, from 1 to NR_SUMMARY_COMPARED. */
const struct member *summary_field_compared(unsigned place);
/* Returns a number, derived or not, in its unit. */
uint64_t summary_field_number(const struct summary *s, const struct member *f);
/* Returns true if the summary has a value for the key. */
bool summary_field_is_there(const struct summary *s, const struct member *f);

#endif
