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
