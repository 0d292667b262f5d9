/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The members that a line has beside metrics: a table for each kind of line, in the order in which
 * they are written. Writer, reader, exports and the columns of a store go by these tables.
 */
#ifndef RUN_MEMBER_H
#define RUN_MEMBER_H

#include "run/metric.h"

struct summary;

enum member_type {
	TYPE_NUMBER,  /* uint64_t, in the row's unit */
	TYPE_DERIVED, /* the same, without a member */
	TYPE_UINT,    /* uint32_t */
	TYPE_INT,     /* int32_t */
	TYPE_TIME,    /* uint64_t, ns since 1970; published in microseconds */
	TYPE_TRUTH,   /* bool */
	TYPE_TEXT,    /* char[] */
	TYPE_STRING,  /* const char *, or null */
	TYPE_COMM,    /* char[COMM_TEXT_BYTES] */
	TYPE_STATE,   /* char, as in /proc/PID/stat */
	TYPE_STATUS,  /* int, or null: an exit code or a signal */
	TYPE_CLOCK,   /* the time of a sample, which has no member */
	TYPE_OBJECT,
	TYPE_COUNTERS, /* of metrics.def: keys of the line itself */
	/* parts: what has a function of its own to write and to read it */
	TYPE_ARGS,
	TYPE_TAGS,
	TYPE_LOSSES,
	TYPE_OOM,
	TYPE_LIMIT,
	TYPE_BOUNDS,
	TYPE_INSTANCES,
	TYPE_LATENCIES,
	TYPE_HOLDERS,
	TYPE_OTHERS,
	TYPE_PROGRAMS,
	TYPE_LOSSY, /* written by line_end() */
	NR_MEMBER_TYPES,
};

/* Where a member is written. */
enum member_there {
	THERE_ALWAYS,
	THERE_OR_NULL,     /* always; null where it is 0 */
	THERE_HAS_OR_NULL, /* the same where the member @has is false, too */
	THERE_IF_HAS,      /* the member @has is true; reading sets it if the member is there */
	THERE_WITH,        /* the same, but reading leaves @has to others */
	THERE_UNLESS,      /* the member @has is false */
	THERE_BESIDE,      /* it is not 0, and the pointer @has is not NULL */
	THERE_IF_SET,      /* it is not 0, false, NULL or "" */
	/* of a summary: */
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

struct member {
	const char *key;    /* published; "": the keys are those of metrics */
	unsigned in, opens; /* the object that it is in, and of an object: where its members are */
	enum member_type type;
	enum member_there there;
	enum metric_unit unit;
	size_t offset, size; /* of the member in the struct */
	size_t has;          /* offset of what decides whether it is there */
	size_t signal;       /* of a status: offset of the signal, 0 where there was none */
	uint64_t (*get)(const struct summary *s);       /* of a derived number */
	void (*set)(struct summary *s, uint64_t value); /* the same; NULL: it is not kept */
	unsigned compare; /* place among the keys that are compared, from 1 on; 0: none */
	const char *help; /* for the schema; may be "" */
};

/* A kind of line. */
struct member_table {
	const struct member *rows;
	size_t nr;
	size_t value, have; /* offsets of the metrics in the struct */
};

extern const struct member_table process_members, process_sample_members, sample_members,
	span_members;

/* The address of the member in the struct @of. */
void *member_at(void *of, const struct member *m);
const void *member_get(const void *of, const struct member *m);
/* The bool or pointer that decides whether it is there. */
bool *member_has(void *of, const struct member *m);
/* Returns false if the member is 0, false, NULL or "". Not for parts. */
bool member_is_set(const void *of, const struct member *m);
/* Returns false if the line of @of lacks it. Not for what only summaries have. */
bool member_is_there(const void *of, const struct member *m);
/* Of a status: returns true if the process ended that way. */
bool member_is_status(const void *of, const struct member *m);
/* Returns true if every line has the member. */
bool member_is_needed(const struct member *m);

#endif
