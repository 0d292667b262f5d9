// SPDX-License-Identifier: BSD-2-Clause
#include "store/signed_run.h"

#include "store/signatures.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

struct reading {
	struct memory_shape shape;
	char *uuid;
};

static int signed_run_take(void *context, struct line *l)
{
	struct reading *r = context;
	const char *uuid;

	if (l->kind == LINE_SAMPLE) {
		memory_shape_add(&r->shape, &l->sample);
	} else if (l->kind == LINE_META) {
		uuid = json_string_value(json_object_get(l->tree, "run"));
		snprintf(r->uuid, SIGNED_UUID_BYTES, "%s", uuid ? uuid : "");
	}
	return 0;
}

int signed_run_read(struct source *s, struct signature *g, char uuid[SIGNED_UUID_BYTES])
{
	struct reading r = { .uuid = uuid };
	struct summary total = { 0 };
	bool is_folded;
	int err = source_summary(s, &total, &is_folded);

	*uuid = '\0';
	if (!err)
		err = source_each(s, PART(LINE_META) | PART(LINE_SAMPLE), signed_run_take, &r);
	if (!err)
		err = signature_make(g, &total, &r.shape);
	summary_done(&total);
	return err;
}

static int summary_sign(struct database *d, int64_t id, const char *summary, struct signature *g)
{
	struct memory_shape shape = { 0 };
	struct line line = { 0 };
	int err = line_read(&line, summary, strlen(summary));

	if (err == -EBADMSG || (!err && line.kind != LINE_SUMMARY))
		err = -ENODATA;
	if (!err)
		err = signature_read_shape(d, id, &shape);
	if (!err)
		err = signature_make(g, &line.summary, &shape);
	line_done(&line);
	return err;
}

int signed_run_of_store(struct database *d, int64_t id, struct signature *g)
{
	struct run_text text;
	int err = query_text(d, id, &text);

	if (err)
		return err == -ENOENT ? -ENODATA : err;
	err = text.summary ? summary_sign(d, id, text.summary, g) : -ENODATA;
	run_text_done(&text);
	return err;
}
