// SPDX-License-Identifier: BSD-2-Clause
#include "base/text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

size_t text_character_bytes(const char *text, bool *is_control)
{
	uint32_t character;
	size_t n = utf8_decode(text, strnlen(text, UTF8_BYTES), &character);

	*is_control = !n || utf8_is_control(character);
	return n ? n : 1;
}

void text_disarm(char *text)
{
	char *to = text;
	bool is_control;

	for (size_t n; *text; text += n) {
		n = text_character_bytes(text, &is_control);
		if (is_control) {
			*to++ = '?';
		} else {
			memmove(to, text, n);
			to += n;
		}
	}
	*to = '\0';
}

/* Returns the lower-case letter of an upper-case one; other characters unchanged. */
static uint32_t letter_fold(uint32_t c)
{
	if ((c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7) ||
	    (c >= 0x391 && c <= 0x3A9) || (c >= 0x410 && c <= 0x42F))
		return c + 0x20;
	if (c >= 0x400 && c <= 0x40F)
		return c + 0x50;
	if ((c >= 0x100 && c <= 0x12F) || (c >= 0x14A && c <= 0x177))
		return c | 1;
	if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E))
		return c + (c & 1);
	return c;
}

/* Reads the next character, folded. An invalid byte differs from all characters. */
static uint32_t letter_next(const char **at)
{
	uint32_t c;
	size_t n = utf8_decode(*at, strnlen(*at, UTF8_BYTES), &c);

	if (!n)
		c = 0x80000000U | (unsigned char)**at;
	*at += n ? n : 1;
	return letter_fold(c);
}

bool text_contains(const char *text, const char *part)
{
	while (*part && *text) {
		const char *a = text, *b = part;

		while (*a && *b && letter_next(&a) == letter_next(&b))
			if (!*b)
				return true;
		letter_next(&text);
	}
	return !*part;
}

size_t text_cut_bytes(const char *text, size_t most)
{
	size_t n = 0, length;
	bool is_control;

	for (; text[n]; n += length) {
		length = text_character_bytes(text + n, &is_control);
		if (n + length > most)
			break;
	}
	return n;
}

size_t utf8_decode(const char *text, size_t n, uint32_t *character)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t len;
	uint32_t c;

	if (s[0] < 0x80)
		len = 1, c = s[0];
	else if (s[0] >= 0xc2 && s[0] <= 0xdf)
		len = 2, c = s[0] & 0x1f;
	else if (s[0] >= 0xe0 && s[0] <= 0xef)
		len = 3, c = s[0] & 0x0f;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		len = 4, c = s[0] & 0x07;
	else
		return 0;
	if (n < len)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	/* overlong forms, surrogates, beyond Unicode */
	if ((len == 3 && (c < 0x800 || (c >= 0xd800 && c <= 0xdfff))) ||
	    (len == 4 && (c < 0x10000 || c > 0x10ffff)))
		return 0;
	*character = c;
	return len;
}

bool utf8_is_control(uint32_t c)
{
	if (c < 0x20 || (c >= 0x7f && c < 0xa0)) /* 0x9b begins an escape sequence, as ESC [ */
		return true;
	/* direction marks */
	return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

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

/* Writes one character of @length bytes. Returns its width. */
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

/* wcwidth() knows only ASCII in the C locale, which most daemons and many images have. */
struct range {
	uint32_t first, last;
};

#include "base/width_table.h"

static int range_compare(const void *key, const void *element)
{
	const uint32_t c = *(const uint32_t *)key;
	const struct range *r = element;

	return (c > r->last) - (c < r->first);
}

size_t character_width(uint32_t character)
{
	if (character < 0x300)
		return 1;
	if (bsearch(&character, without_width, sizeof(without_width) / sizeof(*without_width),
		    sizeof(*without_width), range_compare))
		return 0;
	if (bsearch(&character, wide, sizeof(wide) / sizeof(*wide), sizeof(*wide), range_compare))
		return 2;
	return 1;
}
