// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/store_print.h"

#include "base/json.h"
#include "view/format.h"

#include <inttypes.h>
#include <stdio.h>

/* Begins what --json prints of @action. */
static void store_json_begin(struct jsonw *j, const char *action, const char *path)
{
	jsonw_object(j, NULL);
	jsonw_schema(j, "store");
	jsonw_string(j, "action", action);
	jsonw_string(j, "path", path);
}

static void store_json_end(struct jsonw *j)
{
	jsonw_object_end(j);
	jsonw_newline(j);
	jsonw_print(j, stdout);
}

void store_print_numbers(enum print_format as, const char *path, const struct store_size *size)
{
	char file[FORMAT_BYTES], used[FORMAT_BYTES], a[FORMAT_BYTES], b[FORMAT_BYTES];
	struct jsonw j = { 0 };

	if (as == PRINT_TEXT) {
		printf("%s\n  size       %s, %s of it in use\n  runs       %" PRId64
		       "\n  samples    %s\n  processes  %s\n",
		       path, format_bytes(file, size->file_bytes),
		       format_bytes(used, (uint64_t)size->used_bytes), size->runs,
		       format_count(a, (uint64_t)size->samples),
		       format_count(b, (uint64_t)size->processes));
		return;
	}
	store_json_begin(&j, "size", path);
	jsonw_uint(&j, "file_bytes", size->file_bytes);
	jsonw_int(&j, "used_bytes", size->used_bytes);
	jsonw_int(&j, "runs", size->runs);
	jsonw_int(&j, "samples", size->samples);
	jsonw_int(&j, "processes", size->processes);
	store_json_end(&j);
}

void store_print_pruned(enum print_format as, const char *path, const struct pruned *gone,
			bool dry_run)
{
	char bytes[FORMAT_BYTES];
	struct jsonw j = { 0 };

	if (as == PRINT_TEXT) {
		printf("%" PRIu64 " runs %s %s\n", gone->runs,
		       dry_run ? "would be removed, about" : "removed,",
		       format_bytes(bytes, (uint64_t)gone->bytes));
		return;
	}
	store_json_begin(&j, "prune", path);
	jsonw_bool(&j, "dry_run", dry_run);
	jsonw_uint(&j, "runs", gone->runs);
	jsonw_int(&j, "bytes", gone->bytes);
	store_json_end(&j);
}

void store_print_checked(enum print_format as, const char *path, const char *why, int64_t rows_left)
{
	struct jsonw j = { 0 };

	if (as == PRINT_TEXT) {
		if (!why)
			printf("%s is whole\n", path);
		return;
	}
	store_json_begin(&j, "check", path);
	jsonw_bool(&j, "whole", !why);
	if (why)
		jsonw_string(&j, "reason", why);
	jsonw_int(&j, "rows_left", rows_left);
	store_json_end(&j);
}

void store_print_merged(enum print_format as, const char *path, const struct merged *m)
{
	struct jsonw j = { 0 };

	if (as == PRINT_TEXT) {
		printf("%" PRIu64 " runs added, %" PRIu64
		       " completed that were there in part, %" PRIu64 " were there already",
		       m->added, m->renewed, m->known);
		if (m->edited)
			printf(", %" PRIu64 " of these with a later edit, which was taken over",
			       m->edited);
		putchar('\n');
		return;
	}
	store_json_begin(&j, "merge", path);
	jsonw_uint(&j, "added", m->added);
	jsonw_uint(&j, "completed", m->renewed);
	jsonw_uint(&j, "known", m->known);
	jsonw_uint(&j, "edited", m->edited);
	jsonw_uint(&j, "busy", m->busy);
	store_json_end(&j);
}
