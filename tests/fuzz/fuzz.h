/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the targets of the fuzzer. A target passes bytes to a parser; sanitizers check memory
 * and arithmetic, the target itself checks the result.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include "base/json.h"
#include "base/text.h"
#include "holds.h"

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input as a text, which ends at its first NUL; to be freed with free(). */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	FUZZ_HOLDS(text);
	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

/* Checks that the text is valid UTF-8 and steers no terminal; line ends are allowed, CSV's, too. */
static inline void fuzz_is_inert(const char *text, size_t length)
{
	uint32_t c;

	for (size_t i = 0, n; i < length; i += n) {
		n = utf8_decode(text + i, length - i, &c);
		FUZZ_HOLDS(n);
		if (c == '\r' && i + 1 < length && text[i + 1] == '\n')
			continue;
		FUZZ_HOLDS(c == '\n' || c == '\t' || !utf8_is_control(c));
	}
}

/* Checks that the text is one JSON value and returns it; to be released with json_decref(). */
static inline json_t *fuzz_json(const char *text, size_t length)
{
	json_error_t error;
	json_t *tree = json_loadb(text, length, JSON_ALLOW_NUL | JSON_DECODE_ANY, &error);

	if (!tree)
		fprintf(stderr, "%s at %d in: %.*s\n", error.text, error.position, (int)length,
			text);
	FUZZ_HOLDS(tree);
	fuzz_is_inert(text, length);
	return tree;
}

/* A file with these bytes and without a name; @path is its path in /proc. To be closed. */
static inline int fuzz_file(const uint8_t *data, size_t size, char path[32])
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	FUZZ_HOLDS(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

#endif
