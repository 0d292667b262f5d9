// SPDX-License-Identifier: BSD-2-Clause
#include "web/form.h"

#include <stdio.h>
#include <string.h>

static void form_put(struct form *f, const char *option, const char *value, size_t n)
{
	int length = snprintf(f->text + f->used, sizeof(f->text) - f->used, "--%s=%.*s", option,
			      (int)n, value);

	if (f->nr == FORM_WORDS || length < 0 || (size_t)length >= sizeof(f->text) - f->used) {
		f->is_bad = true;
		return;
	}
	f->words[f->nr++] = f->text + f->used;
	f->used += (size_t)length + 1;
}

/* A further piece of the last text, over the end of the one before. */
static void form_append(struct form *f, const char *data, size_t size)
{
	if (!f->nr || f->used + size >= sizeof(f->text)) {
		f->is_bad = true;
		return;
	}
	memcpy(f->text + f->used - 1, data, size);
	f->used += size;
	f->text[f->used - 1] = '\0';
}

enum MHD_Result form_take(void *context, enum MHD_ValueKind kind, const char *key, const char *file,
			  const char *type, const char *encoding, const char *data, uint64_t at,
			  size_t size)
{
	struct form *f = context;

	(void)kind, (void)type, (void)encoding;
	if (file || memchr(data, '\0', size) ||
	    (strcmp(key, "name") != 0 && strcmp(key, "note") != 0 && strcmp(key, "tag") != 0))
		f->is_bad = true;
	else if (at)
		form_append(f, data, size);
	else
		form_put(f, key, data, size);
	return MHD_YES;
}
