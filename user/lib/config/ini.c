// SPDX-License-Identifier: BSD-2-Clause
#include "config/ini.h"

#include "config/config.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <string.h>

int ini_refuse(struct ini *in, int err, const char *format, ...)
{
	va_list args;
	int n;

	if (in->err)
		return in->err;
	in->err = err;
	n = snprintf(in->why, in->size, "%s:%u: ", in->name, in->line);
	va_start(args, format);
	if (n >= 0 && (size_t)n < in->size)
		vsnprintf(in->why + n, in->size - (size_t)n, format, args);
	va_end(args);
	return err;
}

/* Reads the line "[NAME]"; libinih would accept anything after it. */
static int ini_header_read(struct ini *in, const char *text)
{
	const char *end = strchr(text, ']');
	char name[CONFIG_TEXT_BYTES];

	if (end && !end[1 + strspn(end + 1, " \t\r\n")]) {
		snprintf(name, sizeof(name), "%.*s", (int)(end - text - 1), text + 1);
		in->has_section = true;
		return in->section(in, name);
	}
	return ini_refuse(in, -EINVAL, "expected [NAME] with nothing after it");
}

/* Refuses what libinih would silently accept or cut. */
static int ini_line_check(struct ini *in, const char *text)
{
	size_t blanks = strspn(text, " \t\r\n");

	if (strchr(";#", text[blanks])) /* or an empty line */
		return 0;
	if (blanks)
		return ini_refuse(in, -EINVAL,
				  "a key or section must start at the beginning of the line");
	if (*text == '[')
		return ini_header_read(in, text);
	if (in->needs_section && !in->has_section)
		return ini_refuse(in, -EINVAL, "key outside a section; add [%s] above it",
				  in->first);
	if (!strchr(text, '='))
		return ini_refuse(in, -EINVAL, "expected [SECTION] or KEY = VALUE");
	return 0;
}

/* Works as fgets() for libinih. Returns NULL to stop. */
static char *ini_line_read(char *text, int room, void *reading)
{
	struct ini *in = reading;
	int n = 0, c = 0;

	if (in->err)
		return NULL;
	while (c != '\n' && (c = getc(in->f)) != EOF) {
		if (!n)
			in->line++;
		if (iscntrl(c) && (!c || !strchr("\t\r\n", c))) {
			ini_refuse(in, -EINVAL, "invalid control character %d", c);
			return NULL;
		}
		if (n == room - 1) {
			ini_refuse(in, -EINVAL, "the line is too long; the limit is %d bytes",
				   room - 2);
			return NULL;
		}
		text[n++] = (char)c;
	}
	text[n] = '\0';
	if (ferror(in->f)) {
		ini_refuse(in, -EIO, "cannot be read: %s", strerror(errno));
		return NULL;
	}
	return n && !ini_line_check(in, text) ? text : NULL;
}

/* Called by libinih, which may have cut @section. Returns 0 to stop. */
static int ini_key_handle(void *reading, const char *section, const char *key, const char *value)
{
	struct ini *in = reading;

	(void)section;
	return !in->err && !in->key(in, key, value);
}

int ini_read(struct ini *in)
{
	int line = ini_parse_stream(ini_line_read, in, ini_key_handle, in);

	if (line > 0)
		in->line = (unsigned)line;
	if (line)
		ini_refuse(in, line == -2 ? -ENOMEM : -EINVAL,
			   line == -2 ? "out of memory" : "expected [SECTION] or KEY = VALUE");
	return in->err;
}
