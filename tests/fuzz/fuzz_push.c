// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lines of the agent's stream, as bpfmon-push takes them: whatever they say, each line that it
 * sends is one of the line protocol, and the two lines of a row agree. A line of one byte is an
 * event: "t" time passes and lines are written, "d" the stream breaks off.
 */
#include "fuzz.h"

#include "base/clock.h"
#include "board/board_intake.h"
#include "push/batch.h"
#include "push/points.h"

#define SERIES 3
#define EPOCH_NS (1700000000 * NSEC_PER_SEC)

static struct points points;

/* Returns the end of a name, in which @ends and blanks have a backslash. */
static const char *name_end(const char *at, const char *ends)
{
	const char *begin = at;

	for (; !strchr(ends, *at); at++)
		if (*at == '\\')
			FUZZ_HOLDS(strchr(",= ", *++at));
	FUZZ_HOLDS(at > begin);
	return at;
}

static const char *string_end(const char *at)
{
	for (at++; *at != '"'; at++) {
		FUZZ_HOLDS(*at != '\n');
		if (*at == '\\')
			FUZZ_HOLDS(strchr("\"\\", *++at));
	}
	return at + 1;
}

static const char *digits_end(const char *at)
{
	size_t n = strspn(at, "0123456789");

	FUZZ_HOLDS(n);
	return at + n;
}

static const char *number_end(const char *at)
{
	at = digits_end(at);
	if (*at == '.')
		return digits_end(at + 1);
	return at + (*at == 'i');
}

/* Checks a line, with a newline at its end, and returns where its fields begin. */
static const char *check_line(const char *at)
{
	const char *fields;

	FUZZ_HOLDS(!strncmp(at, "bpfmon_", 7));
	at += strspn(at, "abcdefghijklmnopqrstuvwxyz_");
	while (*at == ',') {
		at = name_end(at + 1, ",= \n");
		FUZZ_HOLDS(*at == '=');
		at = name_end(at + 1, ",= \n");
	}
	fields = at + 1;
	do {
		at = name_end(at + 1, ",= \n");
		FUZZ_HOLDS(*at == '=');
		at = at[1] == '"' ? string_end(at + 1) : number_end(at + 1);
	} while (*at == ',');
	FUZZ_HOLDS(*at == ' ');
	FUZZ_HOLDS(strtoull(at + 1, NULL, 10) <= INFLUX_LAST_NS);
	FUZZ_HOLDS(*digits_end(at + 1) == '\n');
	return fields;
}

/* Returns where the numbers begin in the fields of a row. */
static const char *fields_skip_strings(const char *at)
{
	for (const char *value; (value = name_end(at, "= \n") + 1, *value == '"');) {
		at = string_end(value);
		FUZZ_HOLDS(*at == ',');
		at++;
	}
	return at;
}

static void check_rows(const char *text)
{
	for (const char *at = text; *at;) {
		const char *second = strchr(at, '\n') + 1, *end, *one, *other;

		one = fields_skip_strings(check_line(at));
		FUZZ_HOLDS(*second);
		end = strchr(second, '\n') + 1;
		other = check_line(second);
		FUZZ_HOLDS(second - one == end - other);
		FUZZ_HOLDS(!memcmp(one, other, (size_t)(end - other)));
		at = end;
	}
}

/* Ends the text with a NUL, and checks what holds for all lines. */
static void check_text(struct buffer *t)
{
	FUZZ_HOLDS(!t->failed);
	buffer_put(t, "", 1);
	FUZZ_HOLDS(strlen(t->text) == t->used - 1);
	FUZZ_HOLDS(t->used == 1 || t->text[t->used - 2] == '\n');
	FUZZ_HOLDS(!strchr(t->text, '\t'));
	fuzz_is_inert(t->text, t->used - 1);
}

static void check_lines(struct board *b, uint64_t now_ns)
{
	const struct push_counts counts = { .samples = 1 };
	struct buffer t = { 0 };

	FUZZ_HOLDS(!board_prepare(b, now_ns));
	FUZZ_HOLDS(b->nr_own <= SERIES && !b->ended.index.nr);
	points_put_board(&points, &t, b, EPOCH_NS + now_ns);
	board_count_scrape(b);
	points_put_own(&points, &t, b, &counts, EPOCH_NS + now_ns);
	check_text(&t);
	for (const char *at = t.text; *at; at = strchr(at, '\n') + 1)
		check_line(at);
	buffer_done(&t);
}

static void check_ended(void)
{
	FUZZ_HOLDS(batch_count(points.rows.text, points.rows.used) == 2 * points.nr_rows);
	check_text(&points.rows);
	check_rows(points.rows.text);
	points.rows.used = 0;
	points.nr_rows = 0;
}

static void take_event(struct board *b, char event, uint64_t *now_ns)
{
	if (event == 't') {
		*now_ns += 200 * NSEC_PER_SEC;
		check_lines(b, *now_ns);
		check_ended();
	} else if (event == 'd') {
		board_disconnect(b, *now_ns);
		check_lines(b, *now_ns);
		board_connect(b, *now_ns);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct board_style style = { .put_labels = points_put_labels,
						  .end_job = points_end_job,
						  .context = &points };
	const char *at = (const char *)data, *end = at + size, *stop;
	static struct board b;
	struct intake intake = { .board = &b };
	uint64_t now_ns = 1000 * NSEC_PER_SEC;

	FUZZ_HOLDS(!points_init(&points, "n1", "cluster=a rack=7", "all", 15 * NSEC_PER_SEC,
				DIALECT_INFLUXDB));
	board_init(&b, &style, SERIES, 0);
	b.began_epoch_ns = EPOCH_NS;
	board_connect(&b, now_ns);
	for (; at < end; at = stop) {
		stop = memchr(at, '\n', (size_t)(end - at));
		stop = stop ? stop + 1 : end;
		if (stop - at == 2)
			take_event(&b, *at, &now_ns);
		else
			intake_apply_line(&intake, at, (size_t)(stop - at), now_ns);
	}
	check_lines(&b, now_ns);
	check_ended();
	intake_done(&intake);
	board_done(&b);
	points_done(&points);
	return 0;
}
