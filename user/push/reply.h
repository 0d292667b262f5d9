/* SPDX-License-Identifier: BSD-2-Clause */
/* What the answer to a request means for the lines that it carried. */
#ifndef PUSH_REPLY_H
#define PUSH_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum answer_kind {
	ANSWER_ACCEPTED,
	ANSWER_PARTLY, /* some lines were refused for good, and the others stored */
	ANSWER_DIVIDE, /* there is a bad line, for which all were refused */
	ANSWER_TOO_LARGE,
	ANSWER_MISCONFIGURED, /* only a change of configuration mends it */
	ANSWER_LATER
};

struct answer {
	enum answer_kind kind;
	uint64_t refused; /* of ANSWER_PARTLY: lines (of OTLP data points), or 1 if it is not said
			     how many */
	uint64_t wait_ns; /* of ANSWER_LATER: what the server asks for; 0: nothing */
	char why[256];    /* without a full stop; empty if accepted */
};

struct reply {
	long status;      /* of HTTP; 0: there was none */
	int failure;      /* of libcurl (CURLcode); 0: none */
	const char *text; /* the beginning of the body */
	size_t length;
	bool is_otlp;            /* the body is a message of OTLP */
	const char *retry_after; /* the header; empty: none */
};

/*
 * Reads a reply. The status line decides, also if the body did not come to its end. @epoch_s is the
 * time, for a Retry-After that is a date.
 */
void answer_read(struct answer *a, const struct reply *r, int64_t epoch_s);

#endif
