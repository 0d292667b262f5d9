// SPDX-License-Identifier: BSD-2-Clause
#include "base/text.h"

#include <string.h>

/* U+202A to U+202E and U+2066 to U+2069: from left to right, or from right to left. */
static bool turns_direction(const unsigned char *s)
{
	return s[0] == 0xe2 && ((s[1] == 0x80 && s[2] >= 0xaa && s[2] <= 0xae) ||
				(s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9));
}

size_t text_character(const char *text, bool *is_control)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n = 1;

	*is_control = s[0] < 0x20 || s[0] == 0x7f ||
		      (s[0] == 0xc2 && s[1] >= 0x80 && s[1] < 0xa0) || turns_direction(s);
	if (s[0] >= 0xc0)
		while (n < 4 && (s[n] & 0xc0) == 0x80)
			n++;
	if (s[0] >= 0x80 && n == 1)
		*is_control = true; /* half a character */
	return n;
}

void text_disarm(char *text)
{
	char *to = text;
	bool is_control;

	for (size_t n; *text; text += n) {
		n = text_character(text, &is_control);
		if (is_control) {
			*to++ = '?';
		} else {
			memmove(to, text, n);
			to += n;
		}
	}
	*to = '\0';
}
