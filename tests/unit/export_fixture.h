/* SPDX-License-Identifier: BSD-2-Clause */
/* Documents of a run as text. Include after cmocka.h. */
#ifndef TESTS_UNIT_EXPORT_FIXTURE_H
#define TESTS_UNIT_EXPORT_FIXTURE_H

#include "export/export.h"
#include "fixture.h"

static inline int export_take(void *context, const char *text, size_t length)
{
	buffer_put(context, text, length);
	return 0;
}

/* Ended by NUL; to be freed. */
static inline char *export_source(struct source *s, const struct export_document *d)
{
	struct buffer t = { 0 };
	struct exporter e;

	assert_int_equal(export_open(&e, s), 0);
	assert_int_equal(export_write(&e, d, export_take, &t), 0);
	export_close(&e);
	buffer_put(&t, "", 1);
	return t.text;
}

static inline char *export_file(const char *path, const struct export_document *d)
{
	struct source s;
	char *text;

	assert_int_equal(source_open_file(&s, path), 0);
	text = export_source(&s, d);
	source_close(&s);
	return text;
}

static inline char *export_as(const char *path, const char *format)
{
	return export_file(path, &export_find(format)->documents[0]);
}

#endif
