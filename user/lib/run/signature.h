/* SPDX-License-Identifier: BSD-2-Clause */
/* What is typical of a run whatever its size: a small vector, and the programs it spent its time
 * in. */
#ifndef RUN_SIGNATURE_H
#define RUN_SIGNATURE_H

#include "run/sample.h"
#include "run/summary.h"

/* How the memory of a run went over its time, in few points. */

#define MEMORY_SHAPE_POINTS 256

/* All zero at the beginning. */
struct memory_shape {
	struct memory_point {
		uint64_t at_ns, rss_bytes;
	} point[MEMORY_SHAPE_POINTS];
	size_t nr;
	unsigned every, in_last; /* samples a point stands for; in the last one so far */
	uint64_t largest_bytes;
	bool has_anon;
	uint64_t anon_bytes; /* at the largest sample */
};

/* Takes the next sample; one without memory is left out. */
void memory_shape_add(struct memory_shape *m, const struct sample *smp);
/* The memory at a time, on straight lines between the points. Only where there are two or more. */
double memory_shape_at(const struct memory_shape *m, double at_ns);

#define SIGNATURE_VERSION 1 /* of what is in it; one of another is made anew */
#define SIGNATURE_PROGRAMS 8
#define SIGNATURE_NAME_BYTES 24
/* of signature_format_programs(); a share takes four digits */
#define SIGNATURE_TEXT_BYTES ((size_t)SIGNATURE_PROGRAMS * (SIGNATURE_NAME_BYTES + 6))

enum signature_dimension {
#define SIGNATURE_DIMENSION(key, least, weight, text) SIGNATURE_##key,
#include "run/signature.def"
	NR_SIGNATURE_DIMENSIONS
};

struct signature_program {
	char name[SIGNATURE_NAME_BYTES]; /* base name of the executable, cut; NUL to its end */
	int32_t milli;                   /* share of the CPU time of all programs */
};

struct signature {
	int32_t milli[NR_SIGNATURE_DIMENSIONS];
	bool has[NR_SIGNATURE_DIMENSIONS];
	struct signature_program program[SIGNATURE_PROGRAMS]; /* the largest share first */
	size_t nr_programs;                                   /* 0: not known */
};

struct signature_dimension_info {
	const char *key, *text;
	double least, weight;
};

const struct signature_dimension_info *signature_dimension(enum signature_dimension d);
/* What cannot be worked out is absent. -ENOMEM. */
int signature_make(struct signature *g, const struct summary *s, const struct memory_shape *m);
/* "842 cc1/77 as", as the store has it. A base name has no slash. */
void signature_format_programs(const struct signature *g, char text[SIGNATURE_TEXT_BYTES]);
/* The programs of such a text; up to the first that is none. */
void signature_parse_programs(struct signature *g, const char *text);

#endif
