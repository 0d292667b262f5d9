// SPDX-License-Identifier: BSD-2-Clause
/* The lines of what programs push: marks and metrics of their own. */
#include "run/writer_parts.h"
#include "run/writer.h"

#include <string.h>

void write_mark(struct jsonw *j, const struct run *run, uint64_t elapsed_ns, int32_t pid,
		const char *text, size_t length)
{
	event_begin(j, run, elapsed_ns, "mark");
	jsonw_decimal(j, "elapsed_seconds", elapsed_ns, 9);
	jsonw_bytes(j, "text", text, length);
	jsonw_int(j, "pid", pid);
	line_end(j);
}

/* A key is untrusted text, which the JSON writer takes ended by NUL. */
static const char *key_copy(char out[POINT_BYTES], const struct piece *s)
{
	size_t n = s->length < POINT_BYTES ? s->length : POINT_BYTES - 1;

	memcpy(out, s->text, n);
	out[n] = '\0';
	return out;
}

static void point_field_write(struct jsonw *j, const char *key, const struct point_field *f)
{
	switch (f->type) {
	case FIELD_FLOAT:
		jsonw_double(j, key, f->number);
		break;
	case FIELD_INTEGER:
		jsonw_int(j, key, f->integer);
		break;
	case FIELD_UNSIGNED:
		if (f->natural <= INT64_MAX)
			jsonw_uint(j, key, f->natural);
		else /* no reader of JSON takes it for a whole number */
			jsonw_double(j, key, (double)f->natural);
		break;
	case FIELD_BOOLEAN:
		jsonw_bool(j, key, f->is_true);
		break;
	case FIELD_STRING:
		jsonw_bytes(j, key, f->string.text, f->string.length);
		break;
	}
}

void write_point(struct jsonw *j, const struct run *run, uint64_t elapsed_ns, int32_t pid,
		 const struct point *p)
{
	char key[POINT_BYTES];

	jsonw_object(j, NULL);
	jsonw_string(j, "kind", "metric");
	epoch_write(j, "time", run->start_epoch_ns + elapsed_ns);
	jsonw_decimal(j, "elapsed_seconds", elapsed_ns, 9);
	jsonw_bytes(j, "name", p->name.text, p->name.length);
	jsonw_object(j, "tags");
	for (size_t i = 0; i < p->nr_tags; i++)
		jsonw_bytes(j, key_copy(key, &p->tags[i].key), p->tags[i].value.text,
			    p->tags[i].value.length);
	jsonw_object_end(j);
	jsonw_object(j, "fields");
	for (size_t i = 0; i < p->nr_fields; i++)
		point_field_write(j, key_copy(key, &p->fields[i].key), &p->fields[i]);
	jsonw_object_end(j);
	if (p->has_time)
		jsonw_decimal(j, "reported_time", p->time_ns, 9);
	if (pid)
		jsonw_int(j, "pid", pid);
	line_end(j);
}
