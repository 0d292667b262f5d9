/* SPDX-License-Identifier: BSD-2-Clause */
/* Signature of a run, independent of its size: a small vector, and the main programs. */
#ifndef RUN_SIGNATURE_H
#define RUN_SIGNATURE_H

#include "run/sample.h"
#include "run/summary.h"

/* Memory of a run over time, as a limited number of points. */

#define MEMORY_SHAPE_POINTS 256

/* Starts zeroed. */
struct memory_shape {
	struct memory_point {
		uint64_t at_ns, rss_bytes;
	} point[MEMORY_SHAPE_POINTS];
	size_t nr;
	unsigned every, in_last; /* samples per point; samples in the last point so far */
	uint64_t largest_bytes;
	bool has_anon;
	uint64_t anon_bytes; /* at the largest sample */
};

/* Adds the next sample; ignores one without memory. */
void memory_shape_add(struct memory_shape *m, const struct sample *smp);
/* Returns the memory at @at_ns, linearly interpolated. Needs at least two points. */
double memory_shape_at(const struct memory_shape *m, double at_ns);

#define SIGNATURE_VERSION 2 /* of the content; signatures of other versions are recomputed */
#define SIGNATURE_PROGRAMS 8
#define SIGNATURE_NAME_BYTES 24
/* Buffer size of signature_format_programs(); a share takes four digits. */
#define SIGNATURE_TEXT_BYTES ((size_t)SIGNATURE_PROGRAMS * (SIGNATURE_NAME_BYTES + 6))

enum signature_dimension {
#define SIGNATURE_DIMENSION(key, least, weight, text) SIGNATURE_##key,
#include "run/signature.def"
	NR_SIGNATURE_DIMENSIONS
};

struct signature_program {
	char name[SIGNATURE_NAME_BYTES]; /* base name, truncated, padded with NUL */
	int32_t milli;                   /* share of the CPU time of all programs */
};

struct signature {
	int32_t milli[NR_SIGNATURE_DIMENSIONS];
	bool has[NR_SIGNATURE_DIMENSIONS];
	struct signature_program program[SIGNATURE_PROGRAMS]; /* largest share first */
	size_t nr_programs;                                   /* 0: unknown */
};

struct signature_dimension_info {
	const char *key, *text;
	double least, weight;
};

const struct signature_dimension_info *signature_dimension(enum signature_dimension d);
/* Computes the signature; values that cannot be determined are absent. Returns 0 or -ENOMEM. */
int signature_make(struct signature *g, const struct summary *s, const struct memory_shape *m);
/* Formats the programs as the store has them: "842 cc1/77 as". A base name has no slash. */
void signature_format_programs(const struct signature *g, char text[SIGNATURE_TEXT_BYTES]);
/* Parses such a text, up to the first malformed program. */
void signature_parse_programs(struct signature *g, const char *text);

#endif
