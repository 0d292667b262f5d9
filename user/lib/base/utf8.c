// SPDX-License-Identifier: BSD-2-Clause
#include "base/utf8.h"

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

bool utf8_steers(uint32_t c)
{
	if (c < 0x20 || (c >= 0x7f && c < 0xa0)) /* 0x9b among them begins a sequence, as ESC [ */
		return true;
	/* those that change the direction of writing */
	return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}
