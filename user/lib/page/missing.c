// SPDX-License-Identifier: BSD-2-Clause
#include "page/page_run.h"

#include "base/memory.h"
#include "base/number.h"
#include "text/format.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTS 1024 /* even; of more events neighbours are merged */

void missing_done(struct report_missing *m)
{
	free(m->list);
	*m = (struct report_missing){ 0 };
}

static void missing_merge_pairs(struct report_missing *m)
{
	for (size_t i = 0; i < m->nr / 2; i++) {
		const struct missing_part *a = &m->list[2 * i], *b = a + 1;

		m->list[i] = (struct missing_part){ a->from, b->to, a->samples + b->samples };
	}
	m->nr /= 2;
}

int missing_add(struct report_missing *m, const json_t *event, double interval, bool *is_taken)
{
	const char *name = json_string_value(json_object_get(event, "event"));
	double count = json_number_value(json_object_get(event, "count"));
	double at = json_number_value(json_object_get(event, "elapsed_seconds"));

	*is_taken = name && !strcmp(name, "late_ticks") && count >= 1;
	if (!*is_taken)
		return 0;
	if (!m->list)
		m->list = memory_calloc(PARTS, sizeof(*m->list));
	if (!m->list)
		return -ENOMEM;
	if (m->nr == PARTS)
		missing_merge_pairs(m);
	m->list[m->nr++] = (struct missing_part){ .from = fmax(0, at - count * interval),
						  .to = at,
						  .samples = number_clamp(count) };
	m->samples += number_clamp(count);
	return 0;
}

/* Finds the second, minute or hour of the run in which most are missing. Returns their number. */
static uint64_t missing_find_most(const struct report_missing *m, double unit, double *first)
{
	double at = -1;
	uint64_t here = 0, most = 0;

	for (size_t i = 0; i < m->nr; i++) {
		double its = floor(m->list[i].from / unit);

		here = its == at ? here + m->list[i].samples : m->list[i].samples;
		at = its;
		if (here > most) {
			most = here;
			*first = at;
		}
	}
	return most;
}

/* Writes a sentence such as "466 of 12,079 samples are missing, 174 of them between 6 and 7 min".
 */
static void missing_write_text(const struct report_missing *m, uint64_t there, double wall,
			       struct jsonw *j)
{
	const double unit = wall < 120 ? 1 : wall < 7200 ? 60 : 3600;
	const char *name = wall < 120 ? "s" : wall < 7200 ? "min" : "h";
	char a[FORMAT_BYTES], b[FORMAT_BYTES], text[200];
	double first = 0;
	uint64_t most = missing_find_most(m, unit, &first);
	size_t n =
		(size_t)snprintf(text, sizeof(text), "%s of %s samples are missing",
				 format_count(a, m->samples), format_count(b, there + m->samples));

	if (m->samples > 1 && most == m->samples)
		snprintf(text + n, sizeof(text) - n, ", between %.0f and %.0f %s", first, first + 1,
			 name);
	else if (most > 1 && most >= m->samples / 10)
		snprintf(text + n, sizeof(text) - n, ", %s of them between %.0f and %.0f %s",
			 format_count(a, most), first, first + 1, name);
	jsonw_string(j, "text", text);
}

void missing_write(const struct report_missing *m, uint64_t there, double wall, struct jsonw *j)
{
	if (!m->samples)
		return;
	jsonw_object(j, "missing");
	missing_write_text(m, there, wall, j);
	jsonw_uint(j, "samples", m->samples);
	jsonw_decimal(j, "share", m->samples * 10000 / (there + m->samples), 4);
	jsonw_array(j, "from");
	for (size_t i = 0; i < m->nr; i++)
		jsonw_decimal(j, NULL, number_clamp(m->list[i].from * 1e6), 6);
	jsonw_array_end(j);
	jsonw_array(j, "to");
	for (size_t i = 0; i < m->nr; i++)
		jsonw_decimal(j, NULL, number_clamp(m->list[i].to * 1e6), 6);
	jsonw_array_end(j);
	jsonw_array(j, "counts");
	for (size_t i = 0; i < m->nr; i++)
		jsonw_uint(j, NULL, m->list[i].samples);
	jsonw_array_end(j);
	jsonw_object_end(j);
}
