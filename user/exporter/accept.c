// SPDX-License-Identifier: BSD-2-Clause
/* The choice of a format by the header Accept: "type;parameter=value;q=0.5, ...". */
#include "exporter/exposition.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct media_range {
	const char *type;
	size_t length;
	const char *version; /* NULL: any */
	size_t version_length;
	double q;
};

/* Without blanks around it. */
static size_t part_trim(const char **at, const char *end)
{
	while (*at < end && strchr(" \t", **at))
		(*at)++;
	while (end > *at && strchr(" \t", end[-1]))
		end--;
	return (size_t)(end - *at);
}

static bool part_is(const char *at, size_t length, const char *word)
{
	return strlen(word) == length && !strncasecmp(at, word, length);
}

static void media_read_parameter(struct media_range *m, const char *at, const char *end)
{
	const char *value = memchr(at, '=', (size_t)(end - at));
	size_t length;

	if (!value)
		return;
	length = part_trim(&at, value);
	value++;
	if (part_is(at, length, "version")) {
		m->version_length = part_trim(&value, end);
		m->version = value;
		if (m->version_length > 1 && *value == '"') {
			m->version++;
			m->version_length -= 2;
		}
	} else if (part_is(at, length, "q")) {
		m->q = strtod(value, NULL); /* which ends at the comma */
		if (!(m->q >= 0 && m->q <= 1))
			m->q = 0;
	}
}

static struct media_range media_read(const char *at, const char *end)
{
	struct media_range m = { .q = 1 };
	const char *stop = memchr(at, ';', (size_t)(end - at));

	m.type = at;
	m.length = part_trim(&m.type, stop ? stop : end);
	while (stop) {
		at = stop + 1;
		stop = memchr(at, ';', (size_t)(end - at));
		media_read_parameter(&m, at, stop ? stop : end);
	}
	return m;
}

static bool media_has_version(const struct media_range *m, const char *version)
{
	return !m->version || part_is(m->version, m->version_length, version);
}

enum exposition exposition_choose(const char *accept)
{
	double openmetrics = 0, plain = 0;
	const char *end;

	for (const char *at = accept; at; at = *end ? end + 1 : NULL) {
		struct media_range m;

		end = strchrnul(at, ',');
		m = media_read(at, end);
		if (part_is(m.type, m.length, "application/openmetrics-text")) {
			if (media_has_version(&m, "1.0.0") && m.q > openmetrics)
				openmetrics = m.q;
		} else if (part_is(m.type, m.length, "text/plain") ||
			   part_is(m.type, m.length, "text/*") ||
			   part_is(m.type, m.length, "*/*")) {
			if (media_has_version(&m, "0.0.4") && m.q > plain)
				plain = m.q;
		}
	}
	return openmetrics > 0 && openmetrics >= plain ? EXPOSITION_OPENMETRICS : EXPOSITION_PLAIN;
}

const char *exposition_content_type(enum exposition as)
{
	return as == EXPOSITION_OPENMETRICS
		       ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
		       : "text/plain; version=0.0.4; charset=utf-8";
}
