// SPDX-License-Identifier: BSD-2-Clause
#include "run/history_query.h"

#include "base/memory.h"
#include "base/number.h"
#include "run/fields.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MOST_STATES 4

static const struct field fields[] = {
	FIELD_BOOL_OF(history_query, lines),
	FIELD_U64_OF(history_query, id, INT64_MAX),
	FIELD_TEXT_OF(history_query, uuid),
	FIELD_TEXT_OF(history_query, name),
	FIELD_TEXT_OF(history_query, exact_name),
	FIELD_TEXT_OF(history_query, job),
	FIELD_TEXT_OF(history_query, user),
	FIELD_TEXT_OF(history_query, host),
	FIELD_TEXT_OF(history_query, command),
	FIELD_TEXT_OF(history_query, span),
	FIELD_U32_OF(history_query, state, MOST_STATES),
	FIELD_U64_OF(history_query, since_ns, INT64_MAX),
	{ .key = NULL },
};

void history_query_write(struct jsonw *j, const struct history_query *q)
{
	jsonw_object(j, NULL);
	fields_write(j, fields, q);
	jsonw_object_end(j);
}

int history_query_read(struct history_query *q, const char *text, size_t length, char *why,
		       size_t size)
{
	static const char *const no_others[] = { NULL };
	size_t failures = memory_failures_of_thread();
	json_t *o = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
	int err = -EBADMSG;

	memset(q, 0, sizeof(*q));
	snprintf(why, size, "it is no JSON object");
	if (json_is_object(o))
		err = fields_read(o, fields, no_others, q, why, size);
	json_decref(o);
	return memory_failures_of_thread() > failures ? -ENOMEM : err;
}
