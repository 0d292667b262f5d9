// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lines of the agent's stream, as bpfmon-exporter takes them: whatever they say, no total falls, no
 * series has more than the users of its runs, and each text is inert and ends as it should. A line
 * of one byte is an event: "t" time passes and a scrape comes, "d" the stream breaks off.
 */
#include "fuzz.h"

#include "base/clock.h"
#include "exporter/exposition.h"
#include "board/board_intake.h"

#define SERIES 3

struct totals {
	uint64_t users, node, series;
};

static uint64_t add_up(const struct series *first, enum metric_id id)
{
	uint64_t sum = 0;

	for (const struct series *s = first; s; s = s->next)
		if (__builtin_add_overflow(sum, s->value[id], &sum))
			return UINT64_MAX;
	return sum;
}

static struct totals totals_of(const struct board *b)
{
	return (struct totals){
		.users = add_up(b->users.first, M_minflt),
		.node = b->node.value[M_minflt],
		.series = add_up(b->series.first, M_minflt),
	};
}

static void check_text(struct board *b, enum exposition as)
{
	static const char end[] = "# EOF\n";
	struct buffer t = { 0 };

	exposition_write(&t, b, as);
	FUZZ_HOLDS(!t.failed && t.used > sizeof(end));
	if (as == EXPOSITION_OPENMETRICS)
		FUZZ_HOLDS(!memcmp(t.text + t.used - strlen(end), end, strlen(end)));
	buffer_put(&t, "", 1);
	fuzz_is_inert(t.text, t.used - 1);
	buffer_done(&t);
}

static void check_scrape(struct board *b, uint64_t now_ns)
{
	struct totals t;

	FUZZ_HOLDS(!board_prepare(b, now_ns));
	FUZZ_HOLDS(b->nr_own <= SERIES && b->ended.index.nr <= SERIES);
	t = totals_of(b);
	FUZZ_HOLDS(t.series <= t.users);
	check_text(b, EXPOSITION_OPENMETRICS);
	check_text(b, EXPOSITION_PLAIN);
	board_count_scrape(b);
}

static void take_event(struct board *b, char event, uint64_t *now_ns)
{
	if (event == 't') {
		*now_ns += 200 * NSEC_PER_SEC;
		check_scrape(b, *now_ns);
	} else if (event == 'd') {
		board_disconnect(b, *now_ns);
		board_connect(b, *now_ns);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size, *stop;
	static struct board b;
	struct intake intake = { .board = &b };
	uint64_t now_ns = 1000 * NSEC_PER_SEC;
	struct totals before = { 0 }, after;

	board_init(&b, &exposition_style, SERIES, 300 * NSEC_PER_SEC);
	board_connect(&b, now_ns);
	for (; at < end; at = stop) {
		stop = memchr(at, '\n', (size_t)(end - at));
		stop = stop ? stop + 1 : end;
		if (stop - at == 2)
			take_event(&b, *at, &now_ns);
		else
			intake_apply_line(&intake, at, (size_t)(stop - at), now_ns);
		after = totals_of(&b);
		FUZZ_HOLDS(after.users >= before.users && after.node >= before.node);
		before = after;
	}
	check_scrape(&b, now_ns);
	intake_done(&intake);
	board_done(&b);
	return 0;
}
