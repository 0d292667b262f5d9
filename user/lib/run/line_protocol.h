/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses Influx line protocol: name,tag=value field=1.5,other=2i 1763690000000000000 */
#ifndef RUN_LINE_PROTOCOL_H
#define RUN_LINE_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POINT_TAGS 32
#define POINT_FIELDS 64
#define POINT_BYTES 8192 /* longest accepted line */
/*
 * Latest accepted time, in 2262, 1 us below InfluxDB's maximum, so that it stays valid there when a
 * reader has rounded it to microseconds. No accepted time is before 1970.
 */
#define POINT_LAST_NS 9223372036854774806

/* Unescaped bytes of the parsed text; may be invalid UTF-8. */
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
	uint64_t time_ns; /* since the epoch, as written by the program */
};

/*
 * Parses the line at *@at, which ends at a newline or at @end, and advances *@at to the next line.
 * Unescapes the text in place; @p points into it. Returns 1 if @p was filled in, 0 if the line is
 * empty or a comment, -EBADMSG if it is malformed, or -E2BIG if it is too long or has too many tags
 * or fields.
 */
int point_parse(struct point *p, char **at, char *end);

/* Counts the lines of @text that are neither empty nor comments, without parsing them. */
size_t point_count_lines(const char *text, size_t length);

#endif
