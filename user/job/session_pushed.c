// SPDX-License-Identifier: BSD-2-Clause
/* What programs push, as a part of the run: who may, when a sample is taken for it, its lines. */
#include "base/clock.h"
#include "base/mark.h"
#include "job/session.h"
#include "wire/writer.h"

#include <string.h>

#define LINE_NS (NSEC_PER_SEC / PUSHED_PER_SECOND)
#define LINES_NS (LINE_NS * PUSHED_BURST)
#define BYTE_NS (NSEC_PER_SEC / PUSHED_BYTES_PER_SECOND)
#define BYTES_NS (BYTE_NS * PUSHED_BYTES_BURST)
#define SAMPLE_NS (NSEC_PER_SEC / 20) /* in the long run a sample for marks in that time */
#define SAMPLES_NS NSEC_PER_SEC
#define SAMPLE_SHARE 20          /* and what it takes is no more than one part of so many */
#define PATIENCE_NS NSEC_PER_SEC /* whom two samples did not show by then is a stranger */
#define LOOK_AGAIN_MS 10

static uint64_t elapsed_of(const struct session *s, const struct letter *l)
{
	return l->sent_ns > s->start_ns ? l->sent_ns - s->start_ns : 0;
}

/* Sends the line that has been written, and counts it as one of those @taken, or as dropped: so
 * many bytes come in a time, and never more than leaves room for what the run itself tells. */
static void put_line(struct session *s, struct allowance *a, uint64_t now_ns, uint64_t *taken)
{
	struct json *j = &s->json;

	if (rate_take(&a->bytes, now_ns, BYTE_NS * j->used, BYTES_NS) &&
	    stream_offer(&s->stream, j, a->queue_bytes))
		++*taken;
	else
		s->pushed.counts.dropped++;
	jw_reset(j);
}

static void take_mark(struct session *s, const struct letter *l, uint64_t now_ns)
{
	struct pushed_counts *counts = &s->pushed.counts;
	const char *text = l->text + strlen(MARK_PREFIX);
	size_t length = l->length - strlen(MARK_PREFIX);

	if (length && text[length - 1] == '\n')
		length--;
	if (!length || length > MARK_BYTES) {
		counts->malformed++;
	} else if (!rate_take(&s->pushed.marks.lines, now_ns, LINE_NS, LINES_NS)) {
		counts->dropped++;
	} else {
		write_mark(&s->json, s->run, elapsed_of(s, l), (int32_t)l->pid, text, length);
		put_line(s, &s->pushed.marks, now_ns, &counts->marks);
	}
}

static void take_metrics(struct session *s, struct letter *l, uint64_t now_ns)
{
	struct pushed_counts *counts = &s->pushed.counts;
	char *at = l->text, *end = l->text + l->length;
	struct point point;

	counts->malformed += !l->length;
	while (at < end) {
		int got;

		if (!rate_take(&s->pushed.metrics.lines, now_ns, LINE_NS, LINES_NS)) {
			counts->dropped += point_lines(at, (size_t)(end - at));
			return;
		}
		got = point_parse(&point, &at, end);
		if (!got)
			continue;
		if (got < 0) {
			counts->malformed++;
			continue;
		}
		write_point(&s->json, s->run, elapsed_of(s, l), (int32_t)l->pid, &point);
		put_line(s, &s->pushed.metrics, now_ns, &counts->metrics);
	}
}

enum verdict { WAIT, TAKE, REFUSE };

static bool is_mark(const struct letter *l)
{
	return !l->is_udp && mark_is_one(l->text, l->length);
}

/* Nobody has looked since it came. */
static bool lacks_a_sample(const struct session *s, const struct letter *l)
{
	return l->samples == s->summary.samples;
}

static bool was_looked_for(const struct session *s, const struct letter *l)
{
	return s->summary.samples - l->samples >= 2;
}

static bool is_overdue(const struct letter *l, uint64_t now_ns)
{
	return now_ns > l->sent_ns && now_ns - l->sent_ns >= PATIENCE_NS;
}

/* @is_last: all that can be known is known. */
static enum verdict judge(const struct session *s, const struct letter *l, uint64_t now_ns,
			  bool is_last)
{
	if (l->is_udp)
		return TAKE;
	if (is_mark(l) && lacks_a_sample(s, l) && !is_last)
		return WAIT;
	if (senders_know(&s->pushed.senders, l->pid, l->sent_boot_ns))
		return TAKE;
	return is_last || (was_looked_for(s, l) && is_overdue(l, now_ns)) ? REFUSE : WAIT;
}

/* The totals at a mark are what phases are made of. Of metrics only the sender is to be known. */
static bool sample_is_due(const struct session *s, uint64_t now_ns)
{
	for (const struct letter *l = s->pushed.waiting; l; l = l->next)
		if ((is_mark(l) && lacks_a_sample(s, l)) ||
		    (is_overdue(l, now_ns) && !was_looked_for(s, l)))
			return true;
	return false;
}

static void sample_for_them(struct session *s)
{
	struct rate *rate = &s->pushed.samples;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), cost_ns;

	if (!sample_is_due(s, now_ns) || !rate_take(rate, now_ns, SAMPLE_NS, SAMPLES_NS))
		return;
	session_sample(s);
	cost_ns = (clock_ns(CLOCK_MONOTONIC) - now_ns) * SAMPLE_SHARE;
	if (cost_ns > SAMPLE_NS)
		rate_charge(rate, cost_ns - SAMPLE_NS);
}

static void know_senders(struct session *s)
{
	struct pushed *p = &s->pushed;

	if (p->drains != s->tracker.drains)
		s->unnamed += senders_set_alive(&p->senders, s->rows.all, s->rows.nr) != 0;
	p->drains = s->tracker.drains;
}

static void settle(struct session *s, bool is_last)
{
	struct pushed *p = &s->pushed;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct letter **at = &p->waiting, *l;

	know_senders(s);
	while ((l = *at)) {
		enum verdict verdict = judge(s, l, now_ns, is_last);

		if (verdict == WAIT) {
			at = &l->next;
			continue;
		}
		if (is_last) /* then there is time for the recorder to catch up */
			stream_flush_whole(&s->stream);
		if (verdict == REFUSE)
			p->counts.refused += letter_lines(l);
		else if (is_mark(l))
			take_mark(s, l, now_ns);
		else
			take_metrics(s, l, now_ns);
		pushed_remove(p, at);
	}
}

void session_take_pushed(struct session *s)
{
	struct letter *came;

	if (!s->pushed.is_on)
		return;
	came = inbox_take(&s->pushed.inbox);
	if (!came && !s->pushed.nr_waiting)
		return;
	know_senders(s);
	pushed_put(&s->pushed, came, s->summary.samples);
	session_consume(s);
	sample_for_them(s);
	settle(s, false);
	stream_flush(&s->stream);
}

int session_pushed_wait(const struct session *s, int wait_ms)
{
	if (!s->pushed.nr_waiting || (wait_ms >= 0 && wait_ms < LOOK_AGAIN_MS))
		return wait_ms;
	return LOOK_AGAIN_MS;
}

void session_close_pushed(struct session *s)
{
	if (!s->pushed.is_on)
		return;
	settle(s, true);
	s->summary.has_pushed = true;
	s->summary.pushed = s->pushed.counts;
}
