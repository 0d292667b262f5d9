// SPDX-License-Identifier: BSD-2-Clause
/* CSV: a row as each sample comes. */
#include "record/observer.h"

#include "wire/csv.h"

static void csv_line(struct observer *s, const struct line *l, const char *text, size_t length)
{
	struct buffer t = { 0 };

	(void)text, (void)length;
	if (l->kind == LINE_META) {
		s->columns = l->wanted;
		s->has_header = true;
		csv_header(&t, &s->columns);
	} else if (l->kind == LINE_SAMPLE && s->has_header) {
		csv_row(&t, &s->columns, l->start_epoch_ns, &l->sample);
	}
	if (t.failed)
		s->out.is_short_of_memory = true; /* the next flush tells */
	else if (t.used)
		output_put(&s->out, t.text, t.used);
	buffer_done(&t);
}

const struct observer_ops csv_observer = {
	.name = "csv",
	.extension = ".csv",
	.line = csv_line,
};
