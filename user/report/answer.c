// SPDX-License-Identifier: BSD-2-Clause
#include "report/answer.h"

#include "base/cleanup.h"
#include "model/time_parts.h"
#include "view/answer.h"
#include "view/limit_text.h"
#include "wire/reader_parts.h"

typedef void answer_part_fn(FILE *f, const struct answer *a);

static void answer_write_part(struct jsonw *j, const char *key, answer_part_fn *write,
			      const struct answer *a)
{
	__cleanup(freep) char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	if (f)
		write(f, a);
	if (!f || fclose(f))
		j->failed = true;
	else if (length)
		jsonw_string(j, key, text);
}

/* The parts that there are, for one bar. */
static void time_write(struct jsonw *j, const struct sample *total)
{
	unsigned percent[NR_TIME_PARTS];
	struct time_parts t;

	if (!time_parts_of(&t, total))
		return;
	time_parts_divide(&t, 100, percent);
	jsonw_array(j, "time_parts");
	for (int i = 0; i < NR_TIME_PARTS; i++) {
		if (!t.ns[i])
			continue;
		jsonw_object(j, NULL);
		jsonw_string(j, "name", time_part_name(&t, i));
		jsonw_decimal(j, "seconds", t.ns[i], 9);
		jsonw_uint(j, "percent", percent[i]);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
}

static void answer_write_limit(struct jsonw *j, const struct limit_hit *hit)
{
	__cleanup(freep) char *text = NULL;

	if (!hit->text[0])
		return;
	text = limit_text_make(hit);
	if (text)
		jsonw_string(j, "limit", text);
	else
		j->failed = true;
}

void report_answer_write(struct report_run *r, struct jsonw *j)
{
	struct summary total = { 0 };
	struct answer answer;

	summary_read_members(&total, r->summary);
	answer_of_run(&answer, &total, r->meta, &r->times);
	jsonw_object(j, "answer");
	if (!r->is_running)
		answer_write_part(j, "request", answer_request_text, &answer);
	answer_write_limit(j, &total.limit);
	answer_write_part(j, "used", answer_cores_text, &answer);
	answer_write_part(j, "phase", answer_phase_text, &answer);
	if (answer.has_cores && answer.cores_available)
		jsonw_decimal(j, "busy", answer.cores_used * 10000 / answer.cores_available, 4);
	time_write(j, &total.total);
	jsonw_object_end(j);
	summary_done(&total);
}
