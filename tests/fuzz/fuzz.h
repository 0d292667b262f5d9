/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the targets of the fuzzer share. A target gives bytes to what parses them; sanitizers watch
 * memory and arithmetic, the target itself what must hold of the result.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include "base/json.h"
#include "base/utf8.h"
#include "holds.h"

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input as a text, which ends at its first NUL; to be freed. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	FUZZ_HOLDS(text);
	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

/* No byte is invalid, nothing in it steers a terminal; line ends may be there, of CSV, too. */
static inline void fuzz_is_inert(const char *text, size_t length)
{
	uint32_t c;

	for (size_t i = 0, n; i < length; i += n) {
		n = utf8_decode(text + i, length - i, &c);
		FUZZ_HOLDS(n);
		if (c == '\r' && i + 1 < length && text[i + 1] == '\n')
			continue;
		FUZZ_HOLDS(c == '\n' || c == '\t' || !utf8_steers(c));
	}
}

/* One JSON value, as jansson takes it; to be given to json_decref(). */
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

/* A file of the bytes that has no name; its path in @path. To be closed. */
static inline int fuzz_file(const uint8_t *data, size_t size, char path[32])
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	FUZZ_HOLDS(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

#endif
