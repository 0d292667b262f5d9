/* SPDX-License-Identifier: BSD-2-Clause */
/* What a form says, as options of `bpfmon edit`. */
#ifndef WEB_FORM_H
#define WEB_FORM_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FORM_BYTES 8192 /* of all that it says */
#define FORM_WORDS 128

struct form {
	struct MHD_PostProcessor *reader; /* owned; NULL: the request has no form */
	char text[FORM_BYTES];
	size_t used, nr;
	char *words[FORM_WORDS + 1]; /* --name=..., in @text */
	bool is_bad;                 /* it says something else, or too much */
};

/* For the post processor, with a struct form: takes a value, or a further piece (@at > 0) of the
 * last one. */
enum MHD_Result form_take(void *context, enum MHD_ValueKind kind, const char *key, const char *file,
			  const char *type, const char *encoding, const char *data, uint64_t at,
			  size_t size);

#endif
