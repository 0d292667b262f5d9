/* SPDX-License-Identifier: BSD-2-Clause */
/* What is put into an output, and what its file then holds. */
#ifndef TESTS_UNIT_OUTPUT_FIXTURE_H
#define TESTS_UNIT_OUTPUT_FIXTURE_H

#include "fixture.h"
#include "bpfmon/roles/output.h"

#include <dirent.h>

static inline void put(struct output *o, const char *text)
{
	output_put(o, text, strlen(text));
}

static inline void assert_file(const char *path, const char *expected)
{
	char *text = file_read(path);

	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

static inline size_t files_in(const char *path)
{
	DIR *dir = opendir(path);
	size_t n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2; /* . and .. */
}

static inline void assert_umask_counts(const char *path,
				       int (*open_output)(struct output *o, const char *path,
							  bool force))
{
	mode_t old = umask(027);
	struct output o;
	struct stat st;

	assert_int_equal(open_output(&o, path, false), 0);
	assert_int_equal(output_commit(&o), 0);
	output_close(&o);
	umask(old);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
}

#endif
