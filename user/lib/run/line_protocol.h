/* SPDX-License-Identifier: BSD-2-Clause */
/* Influx line protocol, as programs push it: name,tag=value field=1.5,other=2i 1763690000000000000
 */
#ifndef RUN_LINE_PROTOCOL_H
#define RUN_LINE_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POINT_TAGS 32
#define POINT_FIELDS 64
#define POINT_BYTES 8192 /* a longer line is refused */
/* The last time that is taken: 1 us before the last of InfluxDB, in 2262, so that what readers make
 * of it in microseconds is one of its times, too. None is before 1970. */
#define POINT_LAST_NS 9223372036854774806

/* Bytes of the text that was parsed, unescaped; they may be no UTF-8. */
struct piece {
	const char *text;
	size_t length;
};

enum point_type { POINT_FLOAT, POINT_INTEGER, POINT_UNSIGNED, POINT_BOOLEAN, POINT_STRING };

struct point_tag {
	struct piece key, value;
};

struct point_field {
	struct piece key;
	enum point_type type;
	union {
		double number;
		int64_t integer;
		uint64_t natural;
		bool is_true;
		struct piece string;
	};
};

struct point {
	struct piece name;
	struct point_tag tags[POINT_TAGS];
	size_t nr_tags;
	struct point_field fields[POINT_FIELDS];
	size_t nr_fields;
	bool has_time;
	uint64_t time_ns; /* since the epoch, as the program wrote it */
};

/*
 * Takes the next line of *@at up to @end apart; *@at then is at the one after it. The text is
 * changed (unescaped in place), and @p points into it. 1: there is a point; 0: the line is empty or
 * a comment; -EBADMSG: it is malformed; -E2BIG: longer, or with more tags or fields than we take.
 */
int point_parse(struct point *p, char **at, char *end);

/* How many lines with something in them @text has, without taking them apart. */
size_t point_lines(const char *text, size_t length);

#endif
