// SPDX-License-Identifier: BSD-2-Clause
#include "base/text.h"

#include "base/utf8.h"

#include <string.h>

size_t text_character_bytes(const char *text, bool *is_control)
{
	uint32_t character;
	size_t n = utf8_decode(text, strnlen(text, UTF8_BYTES), &character);

	*is_control = !n || utf8_steers(character);
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

/* The small letter of a capital one; others as they are. */
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

/* The next character, folded; a byte that is none is told from all characters. */
static uint32_t letter_next(const char **at)
{
	uint32_t c;
	size_t n = utf8_decode(*at, strnlen(*at, UTF8_BYTES), &c);

	if (!n)
		c = 0x80000000U | (unsigned char)**at;
	*at += n ? n : 1;
	return letter_fold(c);
}

bool text_holds(const char *text, const char *part)
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
