/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The members of a line other than metrics: one table per kind of line, in the order of writing.
 * The writer, the reader, exports and the store's columns use these tables.
 */
#ifndef RUN_MEMBER_H
#define RUN_MEMBER_H

#include "run/metric.h"

struct summary;

enum member_type {
	TYPE_NUMBER,  /* uint64_t, in the row's unit */
	TYPE_DERIVED, /* a number that is computed; it has no member in the struct */
	TYPE_UINT,    /* uint32_t */
	TYPE_INT,     /* int32_t */
	TYPE_TIME,    /* uint64_t, ns since 1970; published in seconds with 6 decimals */
	TYPE_TRUTH,   /* bool */
	TYPE_TEXT,    /* char[] */
	TYPE_STRING,  /* const char *; null if NULL */
	TYPE_COMM,    /* char[COMM_TEXT_BYTES] */
	TYPE_STATE,   /* char, as in /proc/PID/stat */
	TYPE_STATUS,  /* int, or null: an exit code or a signal */
	TYPE_CLOCK,   /* time of a sample, computed; it has no member in the struct */
	TYPE_OBJECT,
	TYPE_COUNTERS, /* the metrics of metrics.def, as keys of the line itself */
	/* parts: each is written and read by a function of its own */
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

/* Condition under which a member is written. */
enum member_there {
	THERE_ALWAYS,
	THERE_OR_NULL,     /* always, as null if it is 0 */
	THERE_HAS_OR_NULL, /* always, as null if it is 0 or the member @has is false */
	THERE_IF_HAS,      /* if the member @has is true; reading sets @has if the key is present */
	THERE_WITH,        /* if the member @has is true; reading does not change @has */
	THERE_UNLESS,      /* if the member @has is false */
	THERE_BESIDE,      /* if it is not 0 and the pointer @has is not NULL */
	THERE_IF_SET,      /* if it is not 0, false, NULL or "" */
	/* only in summaries: */
	THERE_IF_COUNTED, /* if it is not 0, or the collector made the summary */
	THERE_IF_SAMPLED, /* like IF_COUNTED, or if there was a sample */
	THERE_IF_CPU,     /* if CPU time was read */
	THERE_IF_CPU_COUNTED,
	THERE_IF_COLLECTED, /* if the collector made the summary */
	THERE_IF_KILLED,    /* if there were OOM kills */
	THERE_IF_BOUNDS,    /* if some values are only bounds */
	THERE_IF_LIMITED,   /* if a limit was exceeded */
	THERE_IF_INSTANCES, /* if there are values of instances */
	THERE_IF_LATENCIES, /* if there are histograms of block I/O */
};

struct member {
	const char *key;    /* key as published; "" for metrics */
	unsigned in, opens; /* object that contains it; id of an object's members */
	enum member_type type;
	enum member_there there;
	enum metric_unit unit;
	size_t offset, size; /* of the member in the struct */
	size_t has;          /* offset of the bool or pointer that the condition @there tests */
	size_t signal;       /* of a status: offset of the signal, which is 0 if there was none */
	uint64_t (*get)(const struct summary *s);       /* computes a derived number */
	void (*set)(struct summary *s, uint64_t value); /* stores one; NULL: ignored */
	unsigned compare; /* place among the keys of `bpfmon compare`, from 1; 0: not compared */
	const char *help; /* description for the schema; may be "" */
};

/* The members of one kind of line. */
struct member_table {
	const struct member *rows;
	size_t nr;
	size_t value, have; /* offsets of the metrics in the struct */
};

extern const struct member_table process_members, process_sample_members, sample_members,
	span_members;

/* Return the address of the member in the struct @of. */
void *member_at(void *of, const struct member *m);
const void *member_get(const void *of, const struct member *m);
/* Returns the bool that decides whether the member is present. */
bool *member_has(void *of, const struct member *m);
/* Returns false if the member is 0, false, NULL or "". Always true for parts. */
bool member_is_set(const void *of, const struct member *m);
/* Returns false if the condition of @m does not hold. Does not know those of summaries. */
bool member_is_there(const void *of, const struct member *m);
/* Returns true if the process ended in the way that the status @m describes: exit or signal. */
bool member_is_status(const void *of, const struct member *m);
/* Returns true if every line has the member, possibly as null. */
bool member_is_required(const struct member *m);

#endif
