// SPDX-License-Identifier: BSD-2-Clause
#include "push/sender.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "board/follower.h"
#include "version.h"

#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <time.h>

#define ANSWER_TIMEOUT_MS 10000L
#define CONNECT_TIMEOUT_MS 5000L
#define ANSWER_MOST_BYTES (64 << 10) /* of a body; the rest is not read */
#define FIRST_WAIT_NS NSEC_PER_SEC
#define LAST_WAIT_NS (60 * NSEC_PER_SEC)
/* So many lines refused one by one, and none accepted: not the lines are wrong. */
#define REFUSED_ALONE_MOST 16

/* Takes the beginning of a body. Returns 0, which ends the transfer, for one without end. */
static size_t reply_take(char *bytes, size_t size, size_t n, void *context)
{
	struct sender *s = context;
	size_t room = sizeof(s->answer) > s->answered ? sizeof(s->answer) - s->answered : 0;

	n *= size;
	memcpy(s->answer + (s->answered < sizeof(s->answer) ? s->answered : 0), bytes,
	       n < room ? n : room);
	s->answered += n;
	return s->answered > ANSWER_MOST_BYTES ? 0 : n;
}

static bool header_is(const char *bytes, size_t n, const char *name)
{
	return n > strlen(name) && !strncasecmp(bytes, name, strlen(name));
}

static size_t header_take(char *bytes, size_t size, size_t n, void *context)
{
	static const char retry[] = "Retry-After:", version[] = "X-Influxdb-Version:";
	struct sender *s = context;

	n *= size;
	if (header_is(bytes, n, version))
		s->has_version = true;
	if (header_is(bytes, n, retry)) {
		size_t at = strlen(retry), length;

		while (at < n && bytes[at] == ' ')
			at++;
		length = n - at < sizeof(s->retry_after) ? n - at : sizeof(s->retry_after) - 1;
		memcpy(s->retry_after, bytes + at, length);
		s->retry_after[length] = '\0';
		s->retry_after[strcspn(s->retry_after, "\r\n")] = '\0';
	}
	return n;
}

static bool headers_make(struct sender *s)
{
	const char *const lines[] = { s->target->dialect == DIALECT_OTLP
					      ? "Content-Type: application/x-protobuf"
					      : "Content-Type: text/plain; charset=utf-8",
				      "Content-Encoding: gzip",
				      "Expect:" /* no wait for 100 Continue */ };
	struct curl_slist *list = NULL, *grown;

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++, list = grown) {
		grown = curl_slist_append(list, lines[i]);
		if (!grown)
			goto failed;
	}
	s->headers = list;
	if (!*s->target->authorization)
		return true;
	if (!curl_slist_append(list, s->target->authorization))
		return false;
	s->plain = curl_slist_append(NULL, s->target->authorization);
	return s->plain;
failed:
	curl_slist_free_all(list);
	return false;
}

/* Sets what all requests have. */
static bool easy_set(struct sender *s)
{
	const struct target *t = s->target;
	CURL *e = s->easy;

	return curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
	       curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
	       curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) == CURLE_OK &&
	       curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, ANSWER_TIMEOUT_MS) == CURLE_OK &&
	       curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_TIMEOUT_MS) == CURLE_OK &&
	       curl_easy_setopt(e, CURLOPT_USERAGENT, "bpfmon-push/" BPFMON_VERSION) == CURLE_OK &&
	       curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, reply_take) == CURLE_OK &&
	       curl_easy_setopt(e, CURLOPT_WRITEDATA, s) == CURLE_OK &&
	       curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, header_take) == CURLE_OK &&
	       curl_easy_setopt(e, CURLOPT_HEADERDATA, s) == CURLE_OK &&
	       (!*t->socket ||
		curl_easy_setopt(e, CURLOPT_UNIX_SOCKET_PATH, t->socket) == CURLE_OK) &&
	       (!*t->ca_file || curl_easy_setopt(e, CURLOPT_CAINFO, t->ca_file) == CURLE_OK) &&
	       (!*t->password || curl_easy_setopt(e, CURLOPT_USERPWD, t->password) == CURLE_OK);
}

int sender_init(struct sender *s, const struct target *t, struct spool *spool,
		struct push_counts *counts, uint64_t now_ns)
{
	*s = (struct sender){ .target = t,
			      .spool = spool,
			      .counts = counts,
			      .dialect = t->dialect,
			      .most_lines = BATCH_LINES,
			      .accepted_ns = now_ns };
	if (*t->udp_host)
		return 0;
	if (curl_global_init(CURL_GLOBAL_DEFAULT))
		return -ENOMEM;
	s->multi = curl_multi_init();
	s->easy = curl_easy_init();
	return s->multi && s->easy && headers_make(s) && easy_set(s) ? 0 : -ENOMEM;
}

static void batch_end(struct sender *s)
{
	free(s->batch.bytes);
	s->batch = (struct spool_batch){ 0 };
	buffer_done(&s->text);
	buffer_done(&s->body);
	s->text = s->body = (struct buffer){ 0 };
	s->nr_parts = 0;
}

void sender_done(struct sender *s)
{
	batch_end(s);
	if (s->state != SENDER_IDLE)
		curl_multi_remove_handle(s->multi, s->easy);
	if (s->easy)
		curl_easy_cleanup(s->easy);
	if (s->multi)
		curl_multi_cleanup(s->multi);
	curl_slist_free_all(s->headers);
	curl_slist_free_all(s->plain);
}

static bool request_start(struct sender *s)
{
	s->answered = 0;
	*s->retry_after = '\0';
	s->has_version = false;
	return curl_multi_add_handle(s->multi, s->easy) == CURLM_OK;
}

/* Asks the server which database it is. */
static bool ping_start(struct sender *s)
{
	if (curl_easy_setopt(s->easy, CURLOPT_URL, s->target->ping) != CURLE_OK ||
	    curl_easy_setopt(s->easy, CURLOPT_HTTPGET, 1L) != CURLE_OK ||
	    curl_easy_setopt(s->easy, CURLOPT_HTTPHEADER, s->plain) != CURLE_OK ||
	    !request_start(s))
		return false;
	s->state = SENDER_ASKS;
	return true;
}

/* The next part must not have more lines than the server takes: the rest waits below it. */
static void part_limit(struct sender *s)
{
	struct sender_part *p = &s->parts[s->nr_parts - 1], rest = *p;
	size_t lines, length = batch_cut(s->text.text + p->at, p->length, s->most_lines, &lines);

	if (length == p->length || s->nr_parts == SENDER_PARTS)
		return;
	rest.at += length;
	rest.length -= length;
	rest.lines -= lines;
	*p = rest;
	s->parts[s->nr_parts++] = (struct sender_part){ rest.at - length, length, lines };
}

static void part_halve(struct sender *s)
{
	struct sender_part *p = &s->parts[s->nr_parts - 1], first = *p;

	first.lines /= 2;
	first.length = batch_skip(s->text.text + p->at, p->length, first.lines);
	p->at += first.length;
	p->length -= first.length;
	p->lines -= first.lines;
	s->parts[s->nr_parts++] = first;
}

static bool part_start(struct sender *s)
{
	const bool is_log = s->kind == SPOOL_ROWS && *s->target->logs_url;
	const char *url = is_log ? s->target->logs_url : s->target->url;
	const struct sender_part *p;

	part_limit(s);
	p = &s->parts[s->nr_parts - 1];
	s->body.used = 0;
	batch_compress(&s->body, s->text.text + p->at, p->length);
	if (s->body.failed || curl_easy_setopt(s->easy, CURLOPT_URL, url) != CURLE_OK ||
	    curl_easy_setopt(s->easy, CURLOPT_HTTPHEADER, s->headers) != CURLE_OK ||
	    curl_easy_setopt(s->easy, CURLOPT_POSTFIELDSIZE, (long)s->body.used) != CURLE_OK ||
	    curl_easy_setopt(s->easy, CURLOPT_POSTFIELDS, s->body.text) != CURLE_OK ||
	    !request_start(s))
		return false;
	s->state = SENDER_SENDS;
	s->counts->requests++;
	s->counts->sent_bytes += s->body.used;
	return true;
}

static void batch_read_text(struct sender *s)
{
	struct buffer both = { 0 };

	batch_expand(&both, s->batch.bytes, s->batch.length);
	if (!both.failed && !batch_is_for(&both, s->dialect)) {
		if (!s->said_dialect)
			log_warn("what waits for %s was written for another dialect: it is dropped",
				 s->target->shown);
		s->said_dialect = both.failed = true;
	}
	if (s->kind == SPOOL_SAMPLES) {
		s->text = both;
		return;
	}
	if (!both.failed)
		batch_choose(&s->text, &both, s->dialect);
	s->text.failed |= both.failed;
	buffer_done(&both);
}

/* Takes the next batch from the spool. Returns false if there is none to send now. */
static bool batch_begin(struct sender *s, uint64_t now_ns)
{
	s->kind = SPOOL_ROWS;
	if (now_ns < s->rows_next_ns || !spool_read(s->spool, s->kind, &s->batch)) {
		s->kind = SPOOL_SAMPLES;
		if (now_ns < s->samples_next_ns || !spool_read(s->spool, s->kind, &s->batch))
			return false;
	}
	batch_read_text(s);
	s->parts[0] =
		(struct sender_part){ 0, s->text.used, batch_count(s->text.text, s->text.used) };
	s->nr_parts = 1;
	return true;
}

static uint64_t *count_of(struct sender *s, uint64_t *rows, uint64_t *samples)
{
	return s->kind == SPOOL_ROWS ? rows : samples;
}

static void count_accepted(struct sender *s, uint64_t n)
{
	*count_of(s, &s->counts->rows, &s->counts->samples) += n;
}

static void count_rejected(struct sender *s, uint64_t n)
{
	*count_of(s, &s->counts->rows_rejected, &s->counts->samples_rejected) += n;
}

/* Everything of the batch has been answered. While more waits, the next has its time. */
static void batch_finish(struct sender *s, uint64_t now_ns)
{
	if (s->kind == SPOOL_SAMPLES)
		s->samples_next_ns = now_ns + s->batch.points * s->sample_ns;
	spool_remove(s->spool, s->kind, &s->batch);
	batch_end(s);
}

static void part_finish(struct sender *s, uint64_t now_ns)
{
	s->nr_parts--;
	s->wait_ns = 0;
	if (!s->nr_parts)
		batch_finish(s, now_ns);
}

static void server_accepts(struct sender *s, uint64_t now_ns)
{
	if (s->said_why)
		log_info("%s accepts lines again", s->target->shown);
	s->said_why = s->said_lasting = false;
	if (s->kind == SPOOL_ROWS)
		s->rows_misconfigured = false;
	s->counts->misconfigured = s->rows_misconfigured;
	s->accepted_ns = now_ns;
	s->refused_alone = 0;
}

/* A random part of @ns, so that many nodes do not come at once. */
static uint64_t sender_jitter(uint64_t ns)
{
	uint32_t random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != (ssize_t)sizeof(random))
		random = (uint32_t)clock_ns(CLOCK_REALTIME);
	return (ns / NSEC_PER_MSEC * random / UINT32_MAX + 10) * NSEC_PER_MSEC;
}

/*
 * The URL of the logs is wrong, as of a receiver that takes none: the batch stays in the spool, and
 * samples, which have another URL, go on.
 */
static void rows_postpone(struct sender *s, const struct answer *a, uint64_t now_ns)
{
	if (!s->rows_misconfigured)
		log_warn("cannot send ended jobs to %s: %s; retrying, what waits is kept; check "
			 "the section [push] of the configuration",
			 s->target->shown, a->why);
	s->rows_misconfigured = true;
	s->counts->misconfigured = 1;
	s->rows_next_ns = now_ns + LAST_WAIT_NS;
	batch_end(s);
}

/* Returns whether no line of the batch has been answered, so that it can begin anew later. */
static bool batch_is_whole(const struct sender *s)
{
	return s->nr_parts == 1 && s->parts[0].length == s->text.used;
}

static void sender_delay(struct sender *s, const struct answer *a, uint64_t now_ns)
{
	bool is_lasting = a->kind == ANSWER_MISCONFIGURED;

	if (is_lasting && batch_is_whole(s) && s->kind == SPOOL_ROWS && *s->target->logs_url) {
		rows_postpone(s, a, now_ns);
		return;
	}
	if (!s->said_why || (is_lasting && !s->said_lasting))
		log_warn("cannot send to %s: %s; retrying, what waits is kept%s", s->target->shown,
			 a->why,
			 is_lasting ? "; check the section [push] of the configuration" : "");
	s->said_why = true;
	s->said_lasting |= is_lasting;
	s->counts->misconfigured = is_lasting;
	s->wait_ns = s->wait_ns ? s->wait_ns * 2 : FIRST_WAIT_NS;
	if (s->wait_ns > LAST_WAIT_NS || is_lasting)
		s->wait_ns = LAST_WAIT_NS;
	s->next_ns = now_ns + (a->wait_ns   ? a->wait_ns
			       : is_lasting ? s->wait_ns
					    : sender_jitter(s->wait_ns));
}

/* A line that stands alone was refused: it is dropped. */
static void line_drop(struct sender *s, const struct answer *a, uint64_t now_ns)
{
	const struct sender_part *p = &s->parts[s->nr_parts - 1];
	const size_t most = s->dialect == DIALECT_OTLP ? 0 : 200; /* a record is no text */

	log_warn("%s refuses a line, which is dropped: %s%s%.*s", s->target->shown, a->why,
		 most ? ": " : "", (int)(p->length < most ? p->length : most),
		 s->text.text + p->at);
	count_rejected(s, p->lines);
	part_finish(s, now_ns);
}

/* A line that stands alone is bad, unless no other is accepted either. */
static void part_refused(struct sender *s, struct answer *a, uint64_t now_ns)
{
	const struct sender_part *p = &s->parts[s->nr_parts - 1];

	if (p->lines > 1 && s->nr_parts < SENDER_PARTS) {
		part_halve(s);
		return;
	}
	if (a->kind == ANSWER_DIVIDE && ++s->refused_alone > REFUSED_ALONE_MOST) {
		s->refused_alone = REFUSED_ALONE_MOST;
		a->kind = ANSWER_MISCONFIGURED;
		sender_delay(s, a, now_ns);
		return;
	}
	line_drop(s, a, now_ns);
}

static void part_answered(struct sender *s, struct answer *a, uint64_t now_ns)
{
	const struct sender_part *p = &s->parts[s->nr_parts - 1];
	const uint64_t lines = p->lines, refused = a->refused < lines ? a->refused : lines;

	s->counts->requests_failed += a->kind != ANSWER_ACCEPTED;
	switch (a->kind) {
	case ANSWER_PARTLY:
		log_warn("%s refuses some of %" PRIu64 " lines: %s", s->target->shown, lines,
			 a->why);
		/* fall through */
	case ANSWER_ACCEPTED:
		server_accepts(s, now_ns);
		count_accepted(s, lines - refused);
		count_rejected(s, refused);
		part_finish(s, now_ns);
		return;
	case ANSWER_TOO_LARGE:
		if (lines > 1)
			s->most_lines = lines / 2;
		/* fall through */
	case ANSWER_DIVIDE:
		part_refused(s, a, now_ns);
		return;
	default:
		sender_delay(s, a, now_ns);
	}
}

/* Any answer but that of an InfluxDB means another database, unless there was none. */
static void ping_answered(struct sender *s, const struct reply *r, struct answer *a,
			  uint64_t now_ns)
{
	if (s->has_version)
		s->dialect = DIALECT_INFLUXDB;
	else if (r->status && a->kind != ANSWER_LATER)
		s->dialect = DIALECT_VICTORIAMETRICS;
	else
		sender_delay(s, a, now_ns);
}

static void request_end(struct sender *s, CURLcode result, uint64_t now_ns)
{
	struct reply r = { .failure = (int)result,
			   .text = s->answer,
			   .length = s->answered < sizeof(s->answer) ? s->answered
								     : sizeof(s->answer),
			   .is_otlp = s->dialect == DIALECT_OTLP,
			   .retry_after = s->retry_after };
	bool was_ping = s->state == SENDER_ASKS;
	struct answer a;

	curl_easy_getinfo(s->easy, CURLINFO_RESPONSE_CODE, &r.status);
	curl_multi_remove_handle(s->multi, s->easy);
	s->state = SENDER_IDLE;
	answer_read(&a, &r, (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_SEC));
	if (was_ping)
		ping_answered(s, &r, &a, now_ns);
	else
		part_answered(s, &a, now_ns);
}

static int sender_wait_ms(const struct sender *s, uint64_t now_ns, int wait_ms)
{
	uint64_t until_ns = s->next_ns, rows_ns = UINT64_MAX, samples_ns = UINT64_MAX, first_ns;

	if (s->state != SENDER_IDLE || !sender_is_busy(s))
		return wait_ms;
	if (!spool_is_empty(s->spool, SPOOL_ROWS))
		rows_ns = s->rows_next_ns;
	if (!spool_is_empty(s->spool, SPOOL_SAMPLES))
		samples_ns = s->samples_next_ns;
	first_ns = rows_ns < samples_ns ? rows_ns : samples_ns;
	if (!s->nr_parts && first_ns > until_ns)
		until_ns = first_ns;
	if (until_ns <= now_ns)
		return 0;
	if ((until_ns - now_ns) / NSEC_PER_MSEC < (uint64_t)wait_ms)
		return (int)((until_ns - now_ns) / NSEC_PER_MSEC) + 1;
	return wait_ms;
}

/* Starts the next request, if there is one and its time has come. */
static void sender_start(struct sender *s, uint64_t now_ns)
{
	const struct answer failed = { .kind = ANSWER_LATER, .why = "out of memory" };
	const size_t failures = memory_failures_of_thread();

	if (s->state != SENDER_IDLE || now_ns < s->next_ns || !sender_is_busy(s))
		return;
	if (s->dialect == DIALECT_UNKNOWN) {
		if (!ping_start(s))
			sender_delay(s, &failed, now_ns);
		return;
	}
	if (!s->nr_parts && !batch_begin(s, now_ns)) {
		if (!sender_wait_ms(s, now_ns, 1)) /* the spool cannot be read now */
			s->next_ns = now_ns + FIRST_WAIT_NS;
		return;
	}
	if (s->text.failed && memory_failures_of_thread() > failures) {
		batch_end(s); /* it stays in the spool */
		sender_delay(s, &failed, now_ns);
	} else if (s->text.failed) { /* not what this program writes */
		count_rejected(s, s->batch.points);
		batch_finish(s, now_ns);
	} else if (!part_start(s)) {
		sender_delay(s, &failed, now_ns);
	}
}

int sender_wait(struct sender *s, struct pollfd *fds, unsigned nr, int wait_ms)
{
	struct curl_waitfd waits[4] = { 0 };
	int running, left;
	CURLMsg *m;

	if (!s->multi)
		return poll(fds, nr, wait_ms) < 0 && errno != EINTR ? -errno : 0;
	sender_start(s, follower_now());
	for (unsigned i = 0; i < nr; i++)
		waits[i] = (struct curl_waitfd){ fds[i].fd, CURL_WAIT_POLLIN, 0 };
	if (curl_multi_poll(s->multi, waits, nr, sender_wait_ms(s, follower_now(), wait_ms), NULL))
		return -ENOMEM;
	for (unsigned i = 0; i < nr; i++)
		fds[i].revents = (short)(waits[i].revents ? POLLIN : 0);
	curl_multi_perform(s->multi, &running);
	while ((m = curl_multi_info_read(s->multi, &left)))
		if (m->msg == CURLMSG_DONE)
			request_end(s, m->data.result, follower_now());
	return 0;
}

bool sender_is_busy(const struct sender *s)
{
	return s->state != SENDER_IDLE || s->nr_parts || !spool_is_empty(s->spool, SPOOL_ROWS) ||
	       !spool_is_empty(s->spool, SPOOL_SAMPLES);
}
