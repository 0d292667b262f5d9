/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of what a summary line has beside counters: summary.def as an array. */
#ifndef RUN_SUMMARY_FIELD_H
#define RUN_SUMMARY_FIELD_H

#include "run/summary.h"

/* Which object of the line a field is in. */
enum summary_in {
	IN_LINE,
	IN_PUSHED,
	IN_SELF,
	IN_COLLECTOR,
	IN_RECORDER,
	IN_PSS,
	NR_SUMMARY_IN,
};

enum summary_type {
	TYPE_NUMBER,  /* uint64_t, in the row's unit */
	TYPE_DERIVED, /* the same, without a member */
	TYPE_TRUTH,   /* bool */
	TYPE_TEXT,    /* char[] */
	TYPE_STATUS,  /* int, or null */
	TYPE_OBJECT,
	/* parts: what has a function of its own to write and to read it */
	TYPE_LOSSES,
	TYPE_OOM,
	TYPE_LIMIT,
	TYPE_BOUNDS,
	TYPE_COUNTERS, /* of metrics.def: keys of the line itself */
	TYPE_INSTANCES,
	TYPE_LATENCIES,
	TYPE_HOLDERS,
	TYPE_OTHERS,
	TYPE_PROGRAMS,
	NR_SUMMARY_TYPES,
};

/* Where a field is written. */
enum summary_there {
	THERE_ALWAYS,
	THERE_IF_HAS,     /* the member @has is true; reading sets it if the field is there */
	THERE_WITH,       /* the same, but reading leaves @has to others */
	THERE_IF_SET,     /* it is not 0, false or "" */
	THERE_IF_COUNTED, /* it is not 0, or the collector made the summary */
	THERE_IF_SAMPLED, /* it is not 0, or there was a sample, or the collector made it */
	THERE_IF_CPU,     /* CPU time was read */
	THERE_IF_CPU_COUNTED,
	THERE_IF_COLLECTED, /* the collector made it */
	THERE_IF_KILLED,    /* there were OOM kills */
	THERE_IF_BOUNDS,    /* it was measured without BPF */
	THERE_IF_LIMITED,   /* something has gone beyond a limit */
	THERE_IF_INSTANCES, /* there are values of instances */
	THERE_IF_LATENCIES, /* there are histograms of block I/O */
};

struct summary_field {
	const char *key; /* published; "": the keys are those of metrics */
	enum summary_in in;
	enum summary_in opens; /* of an object: where its fields are */
	enum summary_type type;
	enum summary_there there;
	enum metric_unit unit;
	size_t offset, size; /* of the member in struct summary */
	size_t has;          /* offset of the bool that says whether it was read */
	uint64_t (*get)(const struct summary *s);       /* of a derived number */
	void (*set)(struct summary *s, uint64_t value); /* the same; NULL: it is not kept */
	unsigned compare; /* place among the keys that are compared, from 1 on; 0: none */
	const char *help; /* for the schema; may be "" */
};

enum {
	NR_SUMMARY_FIELDS = 0
#define SUMMARY_FIELD(...) +1
#define SUMMARY_DERIVED(...) +1
#define SUMMARY_OBJECT(...) +1
#define SUMMARY_PART(...) +1
#include "run/summary.def"
};

/* How many keys `bpfmon compare` compares. */
enum {
	NR_SUMMARY_COMPARED = 0
#define SUMMARY_FIELD(in, key, type, unit, member, there, compare, text) +((compare) > 0)
#define SUMMARY_DERIVED(in, key, unit, get, set, there, compare, text) +((compare) > 0)
#include "run/summary.def"
};

/* @i: below NR_SUMMARY_FIELDS; the order is that of the line. */
const struct summary_field *summary_field_get(size_t i);
/* The compared key at @place, from 1 to NR_SUMMARY_COMPARED. */
const struct summary_field *summary_field_compared(unsigned place);
/* The address of its member in @s. */
void *summary_field_member(struct summary *s, const struct summary_field *f);
const void *summary_field_value(const struct summary *s, const struct summary_field *f);
/* The value of a number, derived ones included, in its unit. */
uint64_t summary_field_number(const struct summary *s, const struct summary_field *f);
/* Sets a number that was read; a derived one without @set is ignored. */
void summary_field_set(struct summary *s, const struct summary_field *f, uint64_t value);
/* True if the summary has a value for its key. */
bool summary_field_is_there(const struct summary *s, const struct summary_field *f);
/* Of a row of TYPE_STATUS: a command ends with an exit code or by a signal; true for the one that
 * it ended with. */
bool summary_field_is_status(const struct summary *s, const struct summary_field *f);
/* The bool of a row of THERE_IF_HAS; not for other rows. */
bool *summary_field_has(struct summary *s, const struct summary_field *f);

#endif
