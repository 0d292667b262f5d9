// SPDX-License-Identifier: BSD-2-Clause
#include "run/job_id.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define SHORT_DIGITS 12
#define HEX "0123456789abcdef"

char *job_id_format(char *out, size_t size, const char *id)
{
	size_t n, used = 0;

	*out = '\0';
	for (; *id && used < size; id += n + (id[n] == '/')) {
		bool is_hash;

		n = strcspn(id, "/");
		is_hash = n == JOB_HASH_DIGITS && strspn(id, HEX) == n;
		used += (size_t)snprintf(out + used, size - used, "%.*s%s",
					 is_hash ? SHORT_DIGITS : (int)n, id, id[n] ? "/" : "");
	}
	text_disarm(out);
	return out;
}

bool job_id_is(const char *id, const char *text)
{
	char shown[JOB_ID_BYTES];

	return !strcmp(id, text) || !strcmp(job_id_format(shown, sizeof(shown), id), text);
}

const char *job_id_pattern(char *out, size_t size, const char *text)
{
	bool is_cut, has_cut = false;
	size_t n, used = 0;

	for (; *text && used < size; text += n + (text[n] == '/')) {
		n = strcspn(text, "/");
		is_cut = n == SHORT_DIGITS && strspn(text, HEX) == n;
		has_cut |= is_cut;
		used += (size_t)snprintf(out + used, size - used, "%.*s%s%s", (int)n, text,
					 is_cut ? "*" : "", text[n] ? "/" : "");
	}
	return has_cut && used < size ? out : NULL;
}
