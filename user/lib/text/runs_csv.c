// SPDX-License-Identifier: BSD-2-Clause
/* The list of runs as CSV. */
#include "text/runs_text.h"

#include "base/buffer.h"

#include <errno.h>
#include <string.h>

/* In quotes where it needs them (RFC 4180). */
static void csv_put_text(struct buffer *t, const char *text)
{
	if (!text)
		return;
	if (!text[strcspn(text, ",\"\r\n")] && *text)
		buffer_puts(t, text);
	else
		buffer_put_quoted(t, text);
}

static void csv_put_number(struct buffer *t, int64_t v, unsigned decimals)
{
	if (v >= 0)
		buffer_put_decimal(t, (uint64_t)v, decimals);
}

/* "key=value;key=value" */
static void csv_put_tags(struct buffer *t, const char *tags)
{
	struct buffer all = { 0 };

	for (const char *tag = tags; *tag; tag += strlen(tag) + 1) {
		buffer_puts(&all, tag == tags ? "" : ";");
		buffer_puts(&all, tag);
	}
	buffer_put(&all, "", 1);
	if (*tags && !all.failed)
		csv_put_text(t, all.text);
	t->failed |= all.failed;
	buffer_done(&all);
}

static void csv_put_ref(struct buffer *t, const struct stored_run *r, const char *const *sources)
{
	char ref[RUN_CELL_BYTES];

	csv_put_text(t, run_ref_text(ref, r, sources));
}

static void csv_put_cell(struct buffer *t, enum run_column col, const struct stored_run *r,
			 const char *const *sources)
{
	const char *const texts[NR_RUN_COLUMNS] = {
		[RUN_STATE] = run_state_name(r->state),
		[RUN_WITNESS] = *r->needed.witness ? r->needed.witness : NULL,
		[RUN_BOUND] = *r->needed.bound ? r->needed.bound : NULL,
		[RUN_NAME] = r->name,
		[RUN_JOB] = r->job,
		[RUN_NOTE] = r->note,
		[RUN_USER] = r->user,
		[RUN_HOST] = r->host,
		[RUN_UUID] = r->uuid,
		[RUN_COMMAND] = r->command,
	};

	if (col == RUN_ID)
		csv_put_number(t, r->id, 0);
	else if (col == RUN_REF)
		csv_put_ref(t, r, sources);
	else if (col == RUN_START)
		buffer_put_decimal(t, r->start_epoch_ns / 1000, 6);
	else if (col == RUN_TAGS)
		csv_put_tags(t, r->tags);
	else if (col == RUN_COMPLETE && r->state == RUN_FINISHED)
		buffer_puts(t, run_is_complete(r) ? "true" : "false");
	else if (col == RUN_EXIT || col == RUN_SIGNAL)
		csv_put_number(t, col == RUN_EXIT ? r->exit_code : r->signal, 0);
	else if (col == RUN_WALL || col == RUN_CPU)
		csv_put_number(t, col == RUN_WALL ? r->wall_ns : r->cpu_ns, 9);
	else if (col == RUN_NEEDED)
		csv_put_number(t, run_needed_bytes(r), 0);
	else if (col == RUN_PEAK || col == RUN_PROCESSES)
		csv_put_number(t, col == RUN_PEAK ? r->rss_peak_bytes : r->processes, 0);
	else
		csv_put_text(t, texts[col]);
}

int runs_csv(FILE *f, const struct stored_runs *all, size_t shown, const char *const *sources,
	     const struct run_columns *columns)
{
	struct run_columns chosen = *columns;
	struct buffer t = { 0 };
	bool failed;

	for (; !columns->nr && chosen.nr < NR_RUN_COLUMNS; chosen.nr++)
		chosen.list[chosen.nr] = (enum run_column)chosen.nr;
	for (size_t k = 0; k < chosen.nr; k++)
		buffer_printf(&t, "%s%s", k ? "," : "", run_column_key(chosen.list[k]));
	buffer_puts(&t, "\n");
	for (size_t i = 0; i < shown && !t.failed; i++) {
		for (size_t k = 0; k < chosen.nr; k++) {
			buffer_puts(&t, k ? "," : "");
			csv_put_cell(&t, chosen.list[k], &all->runs[i], sources);
		}
		buffer_puts(&t, "\n");
		if (!t.failed)
			fwrite(t.text, 1, t.used, f);
		if (!t.failed)
			t.used = 0;
	}
	if (t.used && !t.failed)
		fwrite(t.text, 1, t.used, f);
	failed = t.failed;
	buffer_done(&t);
	return failed ? -ENOMEM : 0;
}
