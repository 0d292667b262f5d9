// SPDX-License-Identifier: BSD-2-Clause
#include "run/meta_file.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

ssize_t file_read_text(const char *root, const char *path, char *out, size_t size)
{
	char full[5000];
	__cleanup(closep) int fd = -1;
	size_t used = 0;
	ssize_t n = 1;

	*out = '\0';
	if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full))
		return -ENAMETOOLONG;
	fd = open(full, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* the kernel returns some of its files in pieces */
	while (n > 0 && used < size - 1) {
		n = read(fd, out + used, size - 1 - used);
		if (n < 0) {
			*out = '\0';
			return -errno;
		}
		used += (size_t)n;
	}
	out[used] = '\0';
	return (ssize_t)used;
}

void text_copy(char *out, size_t size, const char *text, size_t n)
{
	if (n >= size)
		n = 0;
	memcpy(out, text, n);
	out[n] = '\0';
}

/* Cuts off blanks at both ends. */
static const char *text_trim(const char *text, size_t *n)
{
	while (*n && isspace((unsigned char)*text)) {
		text++;
		--*n;
	}
	while (*n && isspace((unsigned char)text[*n - 1]))
		--*n;
	return text;
}

int file_read_line(const char *root, const char *path, char *out, size_t size)
{
	char text[4096];
	ssize_t got = file_read_text(root, path, text, sizeof(text));
	size_t n = strcspn(text, "\n");
	const char *line = text_trim(text, &n);

	text_copy(out, size, line, n);
	if (got < 0)
		return (int)got;
	return *out ? 0 : -ENODATA;
}

const char *text_value(const char *text, const char *key, char separator, size_t *n)
{
	size_t length = strlen(key);

	while (*text) {
		size_t line = strcspn(text, "\n"), rest;
		const char *at = text + length;

		if (line > length && !memcmp(text, key, length)) {
			at += strspn(at, " \t");
			if (*at == separator) {
				rest = (size_t)(text + line - at) - 1;
				*n = rest;
				return text_trim(at + 1, n);
			}
		}
		text += line + (text[line] == '\n');
	}
	return NULL;
}

int text_number(const char *text, const char *key, char separator, uint64_t *value)
{
	size_t n;
	const char *at = text_value(text, key, separator, &n);
	char *end;
	uint64_t v;

	if (!at || !n || !isdigit((unsigned char)*at))
		return -ENODATA;
	errno = 0;
	v = strtoull(at, &end, 10);
	if (errno || end > at + n)
		return -EBADMSG;
	*value = v;
	return 0;
}
