// SPDX-License-Identifier: BSD-2-Clause
/* CSV: a row as each sample comes. */
#include "bpfmon/roles/observe_file.h"

#include "run/csv.h"

#include <errno.h>

struct csv {
	struct output out;
	struct metric_set columns; /* those of the header */
	bool has_header;
};

static int csv_line(struct observer *o, const struct line *l, const char *text, size_t length)
{
	struct csv *csv = o->own;
	struct buffer t = { 0 };
	int err;

	(void)text, (void)length;
	if (l->kind == LINE_META) {
		csv->columns = l->wanted;
		csv->has_header = true;
		csv_header(&t, &csv->columns);
	} else if (l->kind == LINE_SAMPLE && csv->has_header) {
		csv_row(&t, &csv->columns, l->start_epoch_ns, &l->sample);
	}
	err = t.failed ? -ENOMEM : 0;
	if (!err && t.used)
		output_put(&csv->out, t.text, t.used);
	buffer_done(&t);
	return err;
}

const struct observer_ops csv_observer = {
	.name = "csv",
	.extension = ".csv",
	.own_bytes = sizeof(struct csv),
	.open = file_observer_open,
	.begin = file_observer_begin,
	.line = csv_line,
	.flush = file_observer_flush,
	.close = file_observer_close,
};
