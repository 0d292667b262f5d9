/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs with a value or a tag each, as sides of a comparison. */
#ifndef TESTS_UNIT_COMPARE_FIXTURE_H
#define TESTS_UNIT_COMPARE_FIXTURE_H

#include "study/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define assert_near(a, b, distance) assert_true(fabs((a) - (b)) <= (distance))

#define META(more) "{\"kind\":\"meta\",\"schema\":\"bpfmon/1\",\"run\":\"u\"" more "}\n"
#define SUMMARY(more) "{\"kind\":\"summary\",\"complete\":true" more "}\n"

/* What @add says to a file with @text. */
static inline int add_text(struct sides *all, const char *text,
			   int (*add)(struct sides *all, const char *path))
{
	char path[] = "/tmp/bpfmon-test-compare-XXXXXX";
	int fd = mkstemp(path), err;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	err = add(all, path);
	unlink(path);
	return err;
}

static inline int add_run_file(struct sides *all, const char *path)
{
	struct source src;
	int err = source_open_file(&src, path);

	if (err)
		return err;
	err = sides_add_run(all, path, &src);
	source_close(&src);
	return err;
}

static inline size_t key_of(const char *name)
{
	size_t i = NR_KEYS;

	assert_int_equal(run_key_find(name, strlen(name), &i), 0);
	return i;
}

/* A run of the tag build=@build with one value. */
static inline void add_tagged(struct sides *all, const char *build, const char *key, double value)
{
	char text[512];

	snprintf(text, sizeof(text), META(",\"tags\":{\"build\":\"%s\"}") SUMMARY(",\"%s\":%.17g"),
		 build, key, value);
	assert_int_equal(add_text(all, text, add_run_file), 0);
}

#endif
