// SPDX-License-Identifier: BSD-2-Clause
#include "record/stall_reason.h"

#include "waits/waits.h"

#include <jansson.h>
#include <string.h>

bool line_is_stall(const struct line *l)
{
	const char *event = json_string_value(json_object_get(l->tree, "event"));

	return l->kind == LINE_EVENT && event && !strcmp(event, "stalled");
}

const char *stall_reason_of(const struct line *l)
{
	const char *reason = json_string_value(json_object_get(l->tree, "reason"));

	return reason ? reason : "";
}

static bool reason_find(struct waits *w, const json_t *pids, char *out, size_t size)
{
	struct wait_reason reason;
	const json_t *pid;
	size_t i;

	json_array_foreach(pids, i, pid)
		if (json_integer_value(pid) > 0)
			waits_add(w, (pid_t)json_integer_value(pid), 0);
	if (!waits_number(w) || waits_read(w, true))
		return false;
	waits_reason(w, &reason);
	if (!reason.is_found ||
	    waits_get(w, reason.cause)->kind <= WAIT_IDLE) /* or it is not known */
		return false;
	waits_reason_text(w, &reason, out, size);
	return *out;
}

/* Up to the brace that ends the object. */
static size_t line_members(const char *text, size_t length)
{
	while (length && text[length - 1] != '}')
		length--;
	return length ? length - 1 : 0;
}

bool stall_reason_write(struct jsonw *j, const struct line *l, const char *text, size_t length)
{
	struct waits *w = line_is_stall(l) ? waits_new() : NULL;
	size_t members = line_members(text, length);
	char why[WAIT_TEXT];
	bool is_found =
		w && members && reason_find(w, json_object_get(l->tree, "pids"), why, sizeof(why));

	waits_free(w);
	if (!is_found)
		return false;
	jsonw_raw(j, text, members);
	jsonw_raw(j, ",\"reason\":", strlen(",\"reason\":"));
	jsonw_string(j, NULL, why);
	jsonw_object_end(j);
	jsonw_newline(j);
	return !j->failed;
}
