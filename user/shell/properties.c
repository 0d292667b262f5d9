// SPDX-License-Identifier: BSD-2-Clause
#include "shell/properties.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

static const char *space_end(const char *at)
{
	return at + strspn(at, " \t\r\n");
}

/* Behind the text at @at, which begins with a quote; NULL: it has no end. */
static const char *quoted_end(const char *at)
{
	for (at++; *at; at++) {
		if (*at == '"')
			return at + 1;
		if (*at == '\\' && *++at == '\0')
			break;
	}
	return NULL;
}

/* Behind the value at @at; NULL: it has no end. */
static const char *value_end(const char *at)
{
	unsigned depth = 0;

	do {
		if (*at == '"') {
			at = quoted_end(at);
		} else if (*at == '{' || *at == '[') {
			depth++, at++;
		} else if (*at == '}' || *at == ']') {
			depth--, at++;
		} else {
			at += depth ? 1 : strcspn(at, ",}]");
		}
	} while (at && *at && depth);
	return at && *at && !depth ? at : NULL;
}

/* A member, if one begins here. */
static const char *property_here(const char *at)
{
	const char *key = space_end(at), *colon;

	if (*key != '"')
		return NULL;
	colon = quoted_end(key);
	return colon && *space_end(colon) == ':' ? key : NULL;
}

const char *properties_begin(const char *at)
{
	return at && *at == '{' ? property_here(at + 1) : NULL;
}

const char *property_value(const char *member)
{
	return member ? space_end(space_end(quoted_end(member)) + 1) : NULL;
}

const char *property_next(const char *member)
{
	const char *at = value_end(property_value(member));

	at = at ? space_end(at) : NULL;
	return at && *at == ',' ? property_here(at + 1) : NULL;
}

const char *property_find(const char *at, const char *key)
{
	size_t n = strlen(key);

	for (at = properties_begin(at); at; at = property_next(at))
		if (!strncmp(at + 1, key, n) && at[n + 1] == '"')
			break;
	return at;
}

/* Four hexadecimal digits. False: these are none. */
static bool hex_read(const char *at, uint32_t *value)
{
	*value = 0;
	for (int i = 0; i < 4; i++) {
		if (!isxdigit((unsigned char)at[i]))
			return false;
		*value = *value << 4 | (isdigit((unsigned char)at[i]) ? (uint32_t)(at[i] - '0')
								      : (at[i] & 0xfU) + 9);
	}
	return true;
}

/* The character of uXXXX, or of uXXXX\uXXXX, at *@at, which is moved to its end. */
static bool character_read(const char **at, uint32_t *c)
{
	uint32_t low;

	if (!hex_read(*at + 1, c))
		return false;
	*at += 5;
	if (*c < 0xd800 || *c > 0xdbff || (*at)[0] != '\\' || (*at)[1] != 'u' ||
	    !hex_read(*at + 2, &low) || low < 0xdc00 || low > 0xdfff)
		return true;
	*at += 6;
	*c = 0x10000 + ((*c - 0xd800) << 10) + (low - 0xdc00);
	return true;
}

/* As UTF-8 into @out, which has room for 4 bytes; returns how many. */
static size_t character_write(char *out, uint32_t c)
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = n; i-- > 1; c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(n == 1 ? c : first[n] | c);
	return n;
}

/* What is behind a backslash at *@at, which is moved to its end; returns how many bytes, 0: wrong.
 */
static size_t escape_read(const char **at, char *out)
{
	static const char letters[] = "btnfr", meant[] = "\b\t\n\f\r";
	const char *found = strchr(letters, **at);
	uint32_t c;

	if (**at == 'u')
		return character_read(at, &c) ? character_write(out, c) : 0;
	*out = found ? meant[found - letters] : **at;
	++*at;
	return 1;
}

/* False: no text begins at @at, or it is wrong, or does not fit. */
static bool quoted_copy(const char *at, char *out, size_t size)
{
	size_t used = 0;

	if (!at || *at != '"' || !quoted_end(at))
		return false;
	for (at++; *at != '"';) {
		char character[4] = { *at };
		size_t n = 1;

		if (*at++ == '\\')
			n = escape_read(&at, character);
		if (!n || used + n >= size)
			return false;
		memcpy(out + used, character, n);
		used += n;
	}
	out[used] = '\0';
	return strlen(out) == used;
}

bool property_key(const char *member, char *out, size_t size)
{
	return quoted_copy(member, out, size);
}

bool property_text(const char *member, char *out, size_t size)
{
	return quoted_copy(property_value(member), out, size);
}
