// SPDX-License-Identifier: BSD-2-Clause
#include "base/xml.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#define REPLACEMENT 0xfffd
#define ELLIPSIS "\xe2\x80\xa6"

static bool character_is_between(uint32_t c, uint32_t first, uint32_t last)
{
	return c >= first && c <= last;
}

/* Control and zero-width characters, direction marks, line ends, noncharacters. */
static bool character_is_invisible(uint32_t c)
{
	return c < 0x20 || character_is_between(c, 0x7f, 0x9f) ||
	       character_is_between(c, 0x200b, 0x200f) || character_is_between(c, 0x2028, 0x202e) ||
	       character_is_between(c, 0x2060, 0x2069) || c == 0xfeff || (c & 0xfffe) == 0xfffe;
}

static const char *xml_entity(uint32_t c)
{
	switch (c) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	default:
		return NULL;
	}
}

/* Writes one character of @length bytes; returns its width. */
static size_t xml_put_character(FILE *f, const char *at, size_t length, uint32_t c)
{
	const char *name = xml_entity(c);

	if (name)
		fputs(name, f);
	else if (c == '\n' || c == '\t')
		return (size_t)fprintf(f, "\\%c", c == '\n' ? 'n' : 't');
	else if (character_is_invisible(c))
		return (size_t)fprintf(f, c < 0x100 ? "\\x%02" PRIx32 : "\\u%04" PRIx32, c);
	else if (c == REPLACEMENT)
		fputs("\xef\xbf\xbd", f);
	else
		fwrite(at, 1, length, f);
	return 1;
}

size_t xml_write(FILE *f, const char *text, size_t max)
{
	size_t left = strlen(text), width = 0;

	while (left && width < max) {
		uint32_t c;
		size_t n = utf8_decode(text, left, &c);

		width += n ? xml_put_character(f, text, n, c)
			   : xml_put_character(f, text, 1, REPLACEMENT);
		n = n ? n : 1;
		text += n;
		left -= n;
	}
	if (left) {
		fputs(ELLIPSIS, f);
		width++;
	}
	return width;
}
