// SPDX-License-Identifier: BSD-2-Clause
/* Unusual runs for people, a paragraph each, and for programs. */
#include "study/unusual.h"

#include "base/buffer.h"
#include "base/text.h"
#include "text/compared_number.h"
#include "study/run_groups.h"
#include "text/format.h"
#include "text/run_column.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define INDENT 4
#define NAME_CHARACTERS 40

static const char *plural_ending(size_t n)
{
	return n == 1 ? "" : "s";
}

/* 3.45, 1,200 */
static void factor_put(struct buffer *t, double factor)
{
	char count[NUMBER_BYTES];

	if (factor < 100)
		buffer_printf(t, ", x %.3g", factor);
	else
		buffer_printf(t, ", x %s", number_format(count, UNIT_COUNT, round(factor)));
}

static void off_put(struct buffer *t, const struct unusual *u, const struct off_value *off)
{
	const struct compare_key key = compare_key(u->values->metrics.key[off->metric]);
	char value[NUMBER_BYTES], median[NUMBER_BYTES];

	buffer_printf(t, "%s %s against %s", key.name, number_format(value, key.unit, off->value),
		      number_format(median, key.unit, off->usual.median));
	if (off->usual.median > 0)
		factor_put(t, off->value / off->usual.median);
	if (isinf(off->z))
		buffer_puts(t, " (all others are the same)");
	else
		buffer_printf(t, " (z %+.1f)", off->z);
}

/* Its beginning, in whole characters. */
static void name_put(struct buffer *t, const char *name)
{
	const char *end = name;
	bool is_control;

	for (size_t n = 0; *end && n < NAME_CHARACTERS; n++)
		end += text_character_bytes(end, &is_control);
	buffer_printf(t, "%.*s%s", (int)(end - name), name, *end ? "..." : "");
}

static void failure_put(struct buffer *t, const struct unusual *u, const struct unusual_run *run)
{
	const struct stored_run *r = &u->all->runs[run->at];

	if (r->signal > 0)
		buffer_printf(t, "killed by signal %lld", (long long)r->signal);
	else
		buffer_printf(t, "ended with %lld", (long long)r->exit_code);
	buffer_printf(t, ", %zu of %zu failed", run->group_failed, run->group_runs);
}

/* The run in one line, without its end. */
static void unusual_put_line(struct buffer *t, const struct unusual *u,
			     const struct unusual_run *run, size_t id_width,
			     const char *const *sources)
{
	const struct stored_run *r = &u->all->runs[run->at];
	char ref[RUN_CELL_BYTES], moment[MOMENT_BYTES];

	buffer_printf(t, "%*s  %s  ", (int)id_width, run_ref_text(ref, r, sources),
		      format_moment(moment, r->start_epoch_ns, false));
	name_put(t, run_group_name(r));
	buffer_puts(t, ": ");
	if (run->has_failed)
		failure_put(t, u, run);
	for (size_t i = 0; i < run->nr_off; i++) {
		buffer_puts(t, i || run->has_failed ? "; " : "");
		off_put(t, u, &run->off[i]);
	}
	buffer_put(t, "", 1);
	if (!t->failed)
		text_disarm(t->text);
}

static void unusual_put_sums(FILE *f, const struct unusual *u, size_t width)
{
	char text[4000], a[FORMAT_BYTES], b[FORMAT_BYTES]; /* more than all metrics need */
	size_t n = 0;

	if (u->judged)
		n += (size_t)snprintf(text, sizeof(text), "%s of %s runs of %zu name%s %s unusual",
				      format_count(a, u->nr), format_count(b, u->judged), u->groups,
				      plural_ending(u->groups), u->nr == 1 ? "is" : "are");
	else
		n += (size_t)snprintf(text, sizeof(text), "too few runs to tell what is usual");
	if (u->few)
		n += (size_t)snprintf(
			text + n, sizeof(text) - n,
			"; not judged: %s run%s of %zu name%s with fewer than %d that "
			"ended well",
			format_count(a, u->few), plural_ending(u->few), u->few_groups,
			plural_ending(u->few_groups), LEAST_RUNS);
	for (size_t k = 0; k < u->values->metrics.nr; k++)
		if (u->lacking[k])
			n += (size_t)snprintf(text + n, sizeof(text) - n,
					      "; of %zu name%s too few runs have %s", u->lacking[k],
					      plural_ending(u->lacking[k]),
					      compare_key(u->values->metrics.key[k]).name);
	if (u->going_on)
		snprintf(text + n, sizeof(text) - n, "; %s ha%s not ended",
			 format_count(a, u->going_on), u->going_on == 1 ? "s" : "ve");
	format_folded(f, text, width, INDENT);
}

int unusual_text(FILE *f, const struct unusual *u, size_t limit, const char *const *sources,
		 size_t width)
{
	size_t shown = limit && limit < u->nr ? limit : u->nr, id_width = 0;
	struct buffer line = { 0 };
	char ref[RUN_CELL_BYTES];
	int err;

	unusual_put_sums(f, u, width);
	for (size_t i = 0; i < shown; i++) {
		size_t n = strlen(run_ref_text(ref, &u->all->runs[u->list[i].at], sources));

		id_width = n > id_width ? n : id_width;
	}
	for (size_t i = 0; !line.failed && i < shown; i++) {
		line.used = 0;
		unusual_put_line(&line, u, &u->list[i], id_width, sources);
		if (!line.failed)
			format_folded(f, line.text, width, id_width + 2);
	}
	err = line.failed ? -ENOMEM : 0;
	buffer_done(&line);
	if (shown < u->nr)
		fprintf(f, "%zu of %zu; --limit 0 shows all\n", shown, u->nr);
	return err;
}

static void off_json(struct jsonw *j, const struct unusual *u, const struct off_value *off)
{
	const struct compare_key key = compare_key(u->values->metrics.key[off->metric]);

	jsonw_object(j, NULL);
	jsonw_string(j, "metric", key.name);
	jsonw_double(j, "value", off->value);
	jsonw_double(j, "median", number_as_measured(key.unit, off->usual.median));
	jsonw_uint(j, "of", off->usual.nr);
	jsonw_string(j, "scale", off->usual.is_log ? "log" : "linear");
	jsonw_double(j, "z", off->z); /* null: all others are the same */
	jsonw_object_end(j);
}

static void unusual_run_json(struct jsonw *j, const struct unusual *u,
			     const struct unusual_run *run, const char *const *sources)
{
	const struct stored_run *r = &u->all->runs[run->at];
	char ref[RUN_CELL_BYTES];

	jsonw_object(j, NULL);
	jsonw_int(j, "id", r->id);
	jsonw_string(j, "ref", run_ref_text(ref, r, sources));
	jsonw_string(j, "run", r->uuid);
	jsonw_string(j, "name", r->name);
	jsonw_string(j, "command", r->command);
	jsonw_decimal(j, "start_time", r->start_epoch_ns / 1000, 6);
	jsonw_bool(j, "failed", run->has_failed);
	jsonw_bool(j, "failure_is_unusual", run->failure_is_unusual);
	if (r->exit_code >= 0)
		jsonw_int(j, "exit_code", r->exit_code);
	if (r->signal >= 0)
		jsonw_int(j, "signal", r->signal);
	jsonw_uint(j, "group_runs", run->group_runs);
	jsonw_uint(j, "group_failed", run->group_failed);
	jsonw_array(j, "off");
	for (size_t i = 0; i < run->nr_off; i++)
		off_json(j, u, &run->off[i]);
	jsonw_array_end(j);
	jsonw_object_end(j);
}

void unusual_json(struct jsonw *j, const struct unusual *u, size_t limit,
		  const char *const *sources)
{
	jsonw_object(j, NULL);
	jsonw_schema(j, "list-unusual");
	jsonw_double(j, "threshold", u->threshold);
	jsonw_uint(j, "unusual", u->nr);
	jsonw_uint(j, "judged", u->judged);
	jsonw_uint(j, "groups", u->groups);
	jsonw_uint(j, "least_runs", LEAST_RUNS);
	jsonw_uint(j, "too_few_runs", u->few);
	jsonw_uint(j, "too_few_groups", u->few_groups);
	jsonw_uint(j, "not_ended", u->going_on);
	jsonw_array(j, "runs");
	for (size_t i = 0; i < u->nr && (!limit || i < limit); i++)
		unusual_run_json(j, u, &u->list[i], sources);
	jsonw_array_end(j);
	jsonw_object_end(j);
	jsonw_newline(j);
}
