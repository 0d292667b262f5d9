// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/report_many.h"

#include "base/log.h"
#include "base/memory.h"
#include "bpfmon/cmd_list.h"
#include "page/many_page.h"
#include "text/format.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WHAT_BYTES 1000

int report_many_parse(void *options, const char *text)
{
	struct report_many_options *o = options;
	int err =
		many_metrics_set(&o->metrics, text ? text : "wall,peak,cpu,read_bytes,write_bytes");

	if (!err)
		o->is_given = true;
	return err;
}

/* clang-format off */
const struct option_row report_many_rows[] = {
	{ "many", 0, "METRIC,...", true, "All runs that pass filters: histograms", report_many_parse, 0, GUARD_NONE },
	{ 0 }
};
/* clang-format on */

int report_many_take_words(struct report_many_options *o, char **words)
{
	for (; words && *words; words++)
		if (filter_word_add(&o->filter, *words))
			return options_refuse("report cannot search for", *words);
	return 0;
}

/* What is said of the runs: the filters that were given. */
static void many_describe(char what[WHAT_BYTES], const struct run_filter *f)
{
	const struct {
		const char *of, *text;
	} parts[] = {
		{ "name", f->name },       { "span", f->span }, { "job", f->job },
		{ "command", f->command }, { "host", f->host }, { "user", f->user },
	};
	size_t n = (size_t)snprintf(what, WHAT_BYTES, "runs"), before = n;
	char since[MOMENT_BYTES];

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && n < WHAT_BYTES; i++)
		if (parts[i].text)
			n += (size_t)snprintf(what + n, WHAT_BYTES - n, ", %s %s", parts[i].of,
					      parts[i].text);
	for (size_t i = 0; i < f->nr_tags && n < WHAT_BYTES; i++)
		n += (size_t)snprintf(what + n, WHAT_BYTES - n, ", tag %s", f->tags[i]);
	for (size_t i = 0; i < f->nr_words && n < WHAT_BYTES; i++)
		n += (size_t)snprintf(what + n, WHAT_BYTES - n, ", with %s", f->words[i]);
	if (f->state != ANY_STATE && n < WHAT_BYTES)
		n += (size_t)snprintf(what + n, WHAT_BYTES - n, ", %s",
				      filter_state_word(f->state));
	if (f->since_ns && n < WHAT_BYTES)
		n += (size_t)snprintf(what + n, WHAT_BYTES - n, ", since %s",
				      format_moment(since, f->since_ns, false));
	if (n == before)
		snprintf(what, WHAT_BYTES, "all runs");
}

static int many_render(const struct report_many_options *o, const struct many_values *v,
		       const struct stored_runs *all, char **text, size_t *length)
{
	const struct run_filter filter = filter_get(&o->filter);
	FILE *f = memory_open_memstream(text, length);
	char what[WHAT_BYTES];
	int err = -ENOMEM;

	if (f) {
		many_describe(what, &filter);
		err = many_page_write(f, what, v, all);
		if (fclose(f) && !err)
			err = -ENOMEM;
	}
	if (err)
		log_error("out of memory for the page of %zu runs", all->nr);
	return err;
}

int report_many_make(const struct report_many_options *o, const struct store_options *store,
		     char **text, size_t *length)
{
	const struct run_filter filter = filter_get(&o->filter);
	struct stored_runs all = { 0 };
	struct many_values v = { 0 };
	struct stores s = { 0 };
	int err = stores_find(&s, store);

	if (!err)
		err = stores_query(&s, &filter, &all);
	if (!err && !all.nr) {
		log_error("no run passes the filters; see bpfmon list with the same ones");
		err = -ENOENT;
	}
	if (!err)
		err = many_read(&v, &o->metrics, &s, &all);
	if (!err)
		err = many_render(o, &v, &all, text, length);
	many_values_done(&v);
	stored_runs_done(&all);
	stores_done(&s);
	return err;
}
