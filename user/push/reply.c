// SPDX-License-Identifier: BSD-2-Clause
#include "push/reply.h"

#include "base/clock.h"
#include "base/text.h"
#include "push/otlp.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_MOST_S 3600
#define EXCERPT_BYTES 160

/* Finds @word in the text, which has no NUL at its end. Returns what follows it, or NULL. */
static const char *text_after(const char *text, size_t length, const char *word)
{
	const char *at = memmem(text, length, word, strlen(word));

	return at ? at + strlen(word) : NULL;
}

/* "partial write: ... dropped=3": InfluxDB 1 counts only lines that it could parse. */
static uint64_t refused_read(const struct reply *r)
{
	const char *at = text_after(r->text, r->length, "dropped=");
	uint64_t n = 0;

	for (; at && at < r->text + r->length && *at >= '0' && *at <= '9'; at++)
		n = n > 1000000 ? n : n * 10 + (uint64_t)(*at - '0');
	return n ? n : 1;
}

static uint64_t retry_after_read(const char *header, int64_t epoch_s)
{
	char *end;
	long long s = strtoll(header, &end, 10);

	if (end == header) {
		time_t at = curl_getdate(header, NULL);

		s = at == -1 ? 0 : (long long)at - epoch_s;
	}
	if (s <= 0)
		return 0;
	return (uint64_t)(s < WAIT_MOST_S ? s : WAIT_MOST_S) * NSEC_PER_SEC;
}

/* A failure of these kinds stays until somebody changes a certificate or the URL. */
static bool failure_is_lasting(int failure)
{
	switch (failure) {
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_URL_MALFORMAT:
		return true; /* not CURLE_UNSUPPORTED_PROTOCOL: any answer that is not HTTP */
	default:
		return false;
	}
}

static enum answer_kind status_read(const struct reply *r)
{
	if (r->status >= 200 && r->status < 300)
		return ANSWER_ACCEPTED;
	if (r->status == 422)
		return ANSWER_PARTLY;
	if (r->status == 400)
		return text_after(r->text, r->length, "partial write") ? ANSWER_PARTLY
								       : ANSWER_DIVIDE;
	if (r->status == 413)
		return ANSWER_TOO_LARGE;
	if (r->status == 408 || r->status == 425 || r->status == 429 || r->status >= 500)
		return ANSWER_LATER;
	return ANSWER_MISCONFIGURED; /* 1xx, redirects, 401, 403, 404 and others */
}

/* What an OTLP server has refused of a request that it accepts. */
enum { RESPONSE_PARTIAL = 1, PARTIAL_REJECTED = 1 };
#define ERROR_MESSAGE 2 /* of that, and of the Status in the body of an error */

static void partial_success_read(struct answer *a, const struct reply *r)
{
	struct otlp_field partial, rejected;

	if (!otlp_find(&partial, RESPONSE_PARTIAL, r->text, r->length) || !partial.bytes ||
	    !otlp_find(&rejected, PARTIAL_REJECTED, partial.bytes, partial.length) ||
	    rejected.bytes || !rejected.number || rejected.number > INT64_MAX)
		return;
	a->kind = ANSWER_PARTLY;
	a->refused = rejected.number;
}

/* Finds what the body says; as a whole it is no text in OTLP. */
static size_t message_find(const char **text, const struct reply *r)
{
	struct otlp_field f = { 0 }, partial;

	*text = r->text;
	if (!r->is_otlp)
		return r->length;
	if (r->status < 300 && otlp_find(&partial, RESPONSE_PARTIAL, r->text, r->length))
		otlp_find(&f, ERROR_MESSAGE, partial.bytes, partial.length);
	else if (!otlp_find(&f, ERROR_MESSAGE, r->text, r->length))
		return r->length; /* of a proxy, for example */
	*text = f.bytes;
	return f.bytes ? f.length : 0;
}

static void why_write(struct answer *a, const struct reply *r)
{
	const char *text;
	size_t n = message_find(&text, r);

	n = n < EXCERPT_BYTES ? n : EXCERPT_BYTES;
	if (r->status)
		snprintf(a->why, sizeof(a->why), "HTTP status %ld%s%.*s", r->status, n ? ": " : "",
			 (int)n, n ? text : "");
	else
		snprintf(a->why, sizeof(a->why), "%s", curl_easy_strerror((CURLcode)r->failure));
	a->why[strcspn(a->why, "\r\n")] = '\0';
	text_disarm(a->why);
}

void answer_read(struct answer *a, const struct reply *r, int64_t epoch_s)
{
	*a = (struct answer){ .kind = r->status                        ? status_read(r)
				      : failure_is_lasting(r->failure) ? ANSWER_MISCONFIGURED
								       : ANSWER_LATER };
	if (a->kind == ANSWER_ACCEPTED && r->is_otlp)
		partial_success_read(a, r);
	if (a->kind == ANSWER_ACCEPTED)
		return;
	why_write(a, r);
	if (a->kind == ANSWER_PARTLY && !a->refused)
		a->refused = refused_read(r);
	if (a->kind == ANSWER_LATER)
		a->wait_ns = retry_after_read(r->retry_after, epoch_s);
}
