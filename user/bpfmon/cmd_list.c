// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon list: lists the stored runs. */
#include "bpfmon/cmd_list.h"

#include "base/exit_status.h"
#include "base/log.h"
#include "bpfmon/subcommands.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "store/job_title.h"
#include "store/node_store.h"
#include "store/stores.h"
#include "study/distribution.h"
#include "study/scatter.h"
#include "study/trend.h"
#include "study/unusual.h"
#include "text/jobs_text.h"
#include "text/runs_text.h"
#include "text/terminal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_LIMIT 100
#define MAX_LIMIT 1000000000

struct list_options {
	struct common_options common;
	struct filter_options filter;
	struct store_options store;
	enum run_order order;
	struct many_metrics sort_by; /* one, with BY_VALUE */
	unsigned limit;              /* 0: all */
	bool has_limit;
	enum print_format as;
	struct run_columns columns;
	struct many_options many;
};

int list_order_parse(void *options, const char *text)
{
	static const char *const words[] = {
		[BY_START] = "start",
		[BY_MEMORY] = "memory", /* with RSS where no other figure is known */
		[BY_NAME] = "name",
	};
	struct list_options *o = options;
	const char *bad;
	size_t length;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strcmp(text, words[i]) != 0)
			continue;
		o->order = (enum run_order)i;
		return 0;
	}
	if (many_metrics_parse(&o->sort_by, text, &bad, &length) || o->sort_by.nr != 1)
		return value_refuse("start, name, or a metric, as wall, cpu, memory or minflt");
	o->order = BY_VALUE;
	return 0;
}

static int list_limit_parse(void *options, const char *text)
{
	struct list_options *o = options;

	o->has_limit = true;
	return number_parse(text, 0, MAX_LIMIT, &o->limit);
}

#define WORD_SHOWN 80 /* longest part of an unknown word that a message repeats */

static int word_shown(size_t length)
{
	return length < WORD_SHOWN ? (int)length : WORD_SHOWN;
}

int list_columns_parse(void *columns, const char *text)
{
	const char *bad;
	size_t length;
	int err = run_columns_parse(columns, text, &bad, &length);

	if (err == -EEXIST)
		return value_refuse("each column only once; '%.*s' is repeated", (int)length, bad);
	if (err == -E2BIG)
		return value_refuse("at most %d metrics beside the columns of --csv",
				    MOST_KEY_COLUMNS);
	if (err)
		return value_refuse(
			"columns from 'bpfmon list --help', or metrics, separated by commas; "
			"'%.*s' is neither",
			word_shown(length), bad);
	return 0;
}

/* clang-format off */
#define AT(field) offsetof(struct list_options, field)

static const struct option_row list_rows[] = {
	{ "sort", 0, "ORDER", false, "Sort by start (default), name, or a METRIC, the largest first", list_order_parse, 0, PROJECT_MAY },
	{ "limit", 0, "N", false, "Show at most N runs; 0: all (default: 100; json and csv: all)", list_limit_parse, 0, GUARD_NONE },
	{ "columns", 0, "LIST", false, "Show these columns, as in id,name,wall,tags", list_columns_parse, AT(columns), PROJECT_MAY },
	{ "format", 'f', "FORMAT", false, "Output format: text (default), csv, or json, one object per line", print_list_parse, AT(as), GUARD_NONE },
	{ "json", 0, NULL, false, "Same as --format json", print_json_parse, AT(as), GUARD_NONE },
	{ "csv", 0, NULL, false, "Same as --format csv", print_csv_parse, AT(as), GUARD_NONE },
	{ 0 }
};
/* clang-format on */

int many_metrics_set(struct many_metrics *m, const char *text)
{
	const char *bad;
	size_t length;
	int err = many_metrics_parse(m, text, &bad, &length);

	if (err == -EEXIST)
		return value_refuse("each metric only once; '%.*s' is repeated", (int)length, bad);
	if (err == -E2BIG)
		return value_refuse("at most %d metrics", MOST_METRICS);
	if (err)
		return value_refuse("metrics, as in wall,peak,cpu, or keys of a summary; '%.*s' is "
				    "neither",
				    word_shown(length), bad);
	return 0;
}

static int many_parse(struct many_options *o, enum many_what what, const char *text)
{
	int err = many_metrics_set(&o->metrics, text);

	if (!err)
		o->what = what;
	return err;
}

int many_hist_parse(void *options, const char *text)
{
	return many_parse(options, MANY_HIST, text ? text : "wall,peak,cpu");
}

int many_scatter_parse(void *options, const char *text)
{
	struct many_options *o = options;
	int err = many_parse(o, MANY_SCATTER, text ? text : "wall,peak");

	return !err && o->metrics.nr != 2 ? value_refuse("two metrics, as in wall,peak") : err;
}

int many_unusual_parse(void *options, const char *text)
{
	struct many_options *o = options;

	if (text)
		return many_parse(o, MANY_UNUSUAL, text);
	o->what = MANY_UNUSUAL;
	o->metrics.nr = 0;
	return 0;
}

int many_trend_parse(void *options, const char *text)
{
	if (text && strchr(text, ','))
		return value_refuse("one metric, as in wall");
	return many_parse(options, MANY_TREND, text ? text : "wall");
}

#define BINS 20 /* lines of a histogram: two fit on a screen */
#define MOST_THRESHOLD 1000

static int many_threshold_parse(void *threshold, const char *text)
{
	double number;
	char *end;

	if (decimal_parse(text, &number, &end) || *end || number <= 0 || number > MOST_THRESHOLD)
		return value_refuse("a number greater than 0, up to %d", MOST_THRESHOLD);
	*(double *)threshold = number;
	return 0;
}

/* clang-format off */
const struct option_row many_rows[] = {
	{ "hist", 0, "METRIC,...", true, "Show histograms (default: wall,peak,cpu)", many_hist_parse, 0, GUARD_NONE },
	{ "scatter", 0, "METRIC,METRIC", true, "Show a scatter plot of two metrics (default: wall,peak)", many_scatter_parse, 0, GUARD_NONE },
	{ "unusual", 0, "METRIC,...", true, "Show runs that failed, or are outliers in these metrics", many_unusual_parse, 0, GUARD_NONE },
	{ "trend", 0, "METRIC", true, "Show the git revision at which a metric changed (default: wall)", many_trend_parse, 0, GUARD_NONE },
	{ "threshold", 0, "Z", false, "With --unusual: z-score of an outlier (default 3.5)", many_threshold_parse, offsetof(struct many_options, threshold), GUARD_NONE },
	{ 0 }
};
/* clang-format on */

static const struct option_group list_groups[] = {
	{ filter_rows, AT(filter), false },
	{ list_rows, 0, false },
	{ many_rows, AT(many), false },
	{ store_rows, AT(store), true },
	{ node_rows, AT(store), false },
	{ node_agent_rows, AT(store), true },
	{ colour_rows, AT(common), true },
	{ common_rows, AT(common), false },
	{ 0 },
};

static int list_check(const struct list_options *o)
{
	if (o->many.threshold > 0 && o->many.what != MANY_UNUSUAL)
		return options_refuse("--unusual is required for", "--threshold");
	if (o->many.what && o->columns.nr)
		return options_refuse("this analysis cannot be combined with", "--columns");
	if (o->many.what && o->as == PRINT_CSV)
		return options_refuse("this analysis cannot be combined with", "csv");
	if (o->as == PRINT_JSON && o->columns.nr)
		return options_refuse("--json cannot be combined with", "--columns");
	return 0;
}

static void list_help(void)
{
	const char *word, *key;

	puts("Usage: bpfmon list [OPTIONS] [WORD...]\n"
	     "\n"
	     "Lists the recorded runs of the user on all hosts, the newest first. With WORDs, "
	     "lists\n"
	     "only runs that have each of them in their name, command or note, ignoring case. "
	     "--hist,\n"
	     "--scatter, --unusual and --trend analyse the runs instead. METRIC is a key of the\n"
	     "summary, as in minflt, or a short name:");
	for (size_t i = 0; (word = run_key_word(i, &key)); i++)
		printf("%s%s", i ? ", " : "", word);
	puts(".\n");
	options_print(&subcommand_list);
	fputs("\nColumns, by their keys in JSON and CSV:", stdout);
	for (size_t i = 0; run_column_key(i); i++)
		printf("%s%s", i % 6 ? ", " : i ? ",\n  " : "\n  ", run_column_key(i));
	puts(";\n"
	     "short names: started, exit, witness, bound, uuid; and each METRIC.\n"
	     "\n"
	     "Exit status: 0: success, 2: usage error, or unreadable store.");
}

static size_t list_limit(const struct list_options *o)
{
	return o->has_limit ? o->limit : o->as != PRINT_TEXT ? 0 : DEFAULT_LIMIT;
}

/* Warns that a metric after a blank, not '=', is a search word. */
static void list_hint_metric(const struct list_options *o)
{
	struct many_metrics metrics = { 0 };

	for (char **word = o->common.words; word && *word; word++)
		if (!many_metrics_set(&metrics, *word))
			log_warn("no run matches '%s'; to give it as a metric, use '=', as in "
				 "--hist=%s",
				 *word, *word);
}

int many_read(struct many_values *v, const struct many_metrics *m, const struct stores *s,
	      const struct stored_runs *all)
{
	int err = many_values_open(v, m, all);

	if (err)
		log_error("out of memory for the values of %zu runs", all->nr);
	if (err || !many_values_need_summaries(v))
		return err;
	if (s->agent) {
		log_error("the agent provides only wall_seconds, cpu_seconds, rss_peak_bytes, "
			  "processes_total, exit_code and signal of a run; log in as root to read "
			  "all keys from its store");
		return -EOPNOTSUPP;
	}
	return stores_lines(s, all, TEXT_SUMMARY, many_values_take, v);
}

static int hist_print_one(const struct many_values *v, size_t metric, enum print_format as)
{
	struct distribution d;
	struct jsonw j = { 0 };
	int err = distribution_make(&d, v, metric, BINS);

	if (err)
		return err;
	if (as == PRINT_JSON) {
		distribution_json(&j, &d);
		return jsonw_print(&j, stdout);
	}
	if (metric)
		putchar('\n');
	return distribution_draw(stdout, &d, terminal_width(stdout), terminal_is_utf8());
}

static int hist_print(const struct many_values *v, enum print_format as)
{
	int err = 0;

	if (!v->nr && as == PRINT_TEXT) {
		puts("no runs");
		return 0;
	}
	for (size_t i = 0; !err && i < v->metrics.nr; i++)
		err = hist_print_one(v, i, as);
	if (err)
		log_error("out of memory for the distribution of %zu runs", v->nr);
	return err;
}

static int scatter_print(const struct many_values *v, enum print_format as)
{
	struct jsonw j = { 0 };
	int err;

	if (!v->nr && as == PRINT_TEXT) {
		puts("no runs");
		return 0;
	}
	if (as == PRINT_JSON) {
		err = scatter_json(&j, v);
		err = err ? err : jsonw_print(&j, stdout);
		jsonw_done(&j);
	} else {
		err = scatter_draw(stdout, v, terminal_width(stdout), terminal_is_utf8());
	}
	if (err)
		log_error("out of memory for the scatter of %zu runs", v->nr);
	return err;
}

static int unusual_print(const struct many_options *o, const struct many_values *v,
			 enum print_format as, size_t limit, const struct stores *s,
			 const struct stored_runs *all)
{
	const char *const *sources = (const char *const *)s->prefix;
	struct jsonw j = { 0 };
	struct unusual u;
	int err = unusual_find(&u, v, all, o->threshold > 0 ? o->threshold : USUAL_DISTANCE);

	if (!err && as == PRINT_JSON) {
		unusual_json(&j, &u, limit, sources);
		err = jsonw_print(&j, stdout);
	} else if (!err) {
		err = unusual_text(stdout, &u, limit, sources, terminal_width(stdout));
	}
	if (err)
		log_error("out of memory to compare %zu runs", all->nr);
	unusual_done(&u);
	return err;
}

static int trend_read(struct run_revisions *r, const struct stores *s,
		      const struct stored_runs *all)
{
	if (s->agent) {
		log_error("the agent does not provide the git revisions of runs; log in as root to "
			  "read them from its store");
		return -EOPNOTSUPP;
	}
	if (run_revisions_open(r, all->nr)) {
		log_error("out of memory for the revisions of %zu runs", all->nr);
		return -ENOMEM;
	}
	return stores_lines(s, all, TEXT_META, run_revisions_take, r);
}

static int trend_write(const struct trend *t, enum print_format as, size_t limit)
{
	struct jsonw j = { 0 };

	if (as != PRINT_JSON)
		return trend_text(stdout, t, limit, terminal_width(stdout));
	trend_json(&j, t);
	return jsonw_print(&j, stdout);
}

static int trend_print(const struct many_values *v, enum print_format as, size_t limit,
		       const struct stores *s, const struct stored_runs *all)
{
	struct run_revisions r = { 0 };
	struct trend t = { 0 };
	int err = trend_read(&r, s, all);

	if (!err) {
		err = trend_make(&t, v, &r, all);
		if (!err)
			err = trend_write(&t, as, limit);
		if (err == -EMLINK)
			log_error("--trend needs runs of one name; select it with --name, or runs "
				  "without a name with --command");
		else if (err)
			log_error("out of memory for the trend of %zu runs", all->nr);
	}
	trend_done(&t);
	run_revisions_done(&r);
	return err;
}

/* Adds the default metrics if none was given; an agent does not have the I/O of its runs. */
static struct many_metrics many_choose(const struct many_options *o, const struct stores *s)
{
	static const char *const usual[] = { "wall", "peak", "cpu", "read_bytes", "write_bytes" };
	struct many_metrics m = o->metrics;

	for (size_t i = 0; !o->metrics.nr && i < (s->agent ? 3 : 5); i++)
		many_metrics_put(&m, usual[i]);
	return m;
}

/*
 * Prints o->what of all runs; of lists the first @limit rows (0: all). Returns 0, or a negative
 * errno after a message.
 */
static int many_print(const struct many_options *o, enum print_format as, size_t limit,
		      const struct stores *s, const struct stored_runs *all)
{
	const struct many_metrics metrics = many_choose(o, s);
	struct many_values v = { 0 };
	int err = many_read(&v, &metrics, s, all);

	if (!err && o->what == MANY_HIST)
		err = hist_print(&v, as);
	else if (!err && o->what == MANY_SCATTER)
		err = scatter_print(&v, as);
	else if (!err && o->what == MANY_TREND)
		err = trend_print(&v, as, limit, s, all);
	else if (!err)
		err = unusual_print(o, &v, as, limit, s, all);
	many_values_done(&v);
	return err;
}

static int list_print_many(const struct list_options *o, const struct stores *s,
			   const struct stored_runs *all)
{
	if (!all->nr)
		list_hint_metric(o);
	return many_print(&o->many, o->as, list_limit(o), s, all) ? EXIT_USAGE : 0;
}

/* Reads the metric to sort by, if it is in the summaries of runs only. */
static int list_sort(const struct list_options *o, const struct stores *s, struct stored_runs *all)
{
	struct many_values v = { 0 };
	int err = o->order == BY_VALUE ? many_read(&v, &o->sort_by, s, all) : 0;

	for (size_t i = 0; !err && o->order == BY_VALUE && i < all->nr; i++)
		all->runs[i].sort_value = many_value(&v, 0, i);
	if (!err)
		stored_runs_sort(all, o->order);
	many_values_done(&v);
	return err;
}

/* An admin sees jobs of others, too. */
static void list_print_whose(const struct stored_runs *all)
{
	static struct user caller; /* too large for the stack */
	bool was_sudo;

	user_find_caller(&caller, &was_sudo);
	for (size_t i = 0; i < all->nr; i++)
		if (!all->runs[i].user || strcmp(all->runs[i].user, caller.name) != 0)
			return;
	own_jobs_note(stdout, caller.name);
}

/* Reads the values of columns that are metrics. The caller releases @v in any case. */
static int list_read_columns(const struct run_columns *c, struct many_values *v,
			     const struct stores *s, const struct stored_runs *shown)
{
	struct many_metrics m = { 0 };

	_Static_assert(MOST_KEY_COLUMNS <= MOST_METRICS, "all columns are read at once");
	for (size_t i = 0; i < c->nr; i++)
		if (run_column_is_of_key(c->list[i]))
			m.key[m.nr++] = c->list[i] - NR_RUN_COLUMNS;
	return m.nr ? many_read(v, &m, s, shown) : 0;
}

/* Returns 0, or -ENOMEM after a message. */
static int list_write(const struct list_options *o, const struct stores *s,
		      const struct stored_runs *all, size_t shown,
		      const struct run_columns *columns)
{
	const char *const *prefixes = (const char *const *)s->prefix;
	int err = 0;

	if (o->as == PRINT_JSON)
		err = runs_json(stdout, all, shown, prefixes);
	else if (o->as == PRINT_CSV)
		err = runs_csv(stdout, all, shown, prefixes, columns);
	else
		runs_table(stdout, all, shown, prefixes, columns, table_width(stdout));
	if (o->as == PRINT_TEXT && s->agent && !s->as_root)
		list_print_whose(all);
	if (err)
		log_error("out of memory for the list");
	return err;
}

static int list_print(const struct list_options *o, const struct stores *s, struct stored_runs *all,
		      const struct job_titles *titles)
{
	size_t limit = list_limit(o);
	struct run_columns columns = o->columns;
	struct stored_runs shown; /* not owned */
	struct many_values v = { 0 };
	size_t left_out = 0;
	int err;

	columns.of_node = s->of_node;
	if (s->of_node && o->as == PRINT_TEXT && !o->filter.filter.job)
		left_out = node_runs_fold(all);
	if (s->of_node && o->as == PRINT_TEXT && !columns.nr)
		job_titles_set(titles, all);
	err = list_sort(o, s, all);
	shown = (struct stored_runs){ .runs = all->runs,
				      .nr = limit && limit < all->nr ? limit : all->nr };
	if (!err)
		err = list_read_columns(&columns, &v, s, &shown);
	columns.values = v.value;
	columns.nr_runs = v.nr;
	if (!err)
		err = list_write(o, s, all, shown.nr, &columns);
	many_values_done(&v);
	if (!err && left_out)
		printf("left out: %zu earlier of node and other; --job node shows them\n",
		       left_out);
	return err ? EXIT_USAGE : 0;
}

static int cmd_list(int argc, char **argv)
{
	struct stored_runs all = { 0 };
	struct job_titles titles = { 0 };
	struct run_filter filter;
	struct stores s = { 0 };
	struct list_options o;
	int go_on = options_begin(&subcommand_list, &o, argc, argv), status = EXIT_USAGE;

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	filter = filter_get(&o.filter);
	if (o.store.of_node && o.as == PRINT_TEXT && !o.columns.nr && !o.many.what)
		job_titles_open(&titles, "",
				true); /* before stores_find() drops the rights of root */
	if (!stores_find(&s, &o.store) && !stores_query(&s, &filter, &all))
		status = o.many.what ? list_print_many(&o, &s, &all)
				     : list_print(&o, &s, &all, &titles);
	job_titles_done(&titles);
	stored_runs_done(&all);
	stores_done(&s);
	return status;
}

static int list_parse(void *options, int argc, char **argv)
{
	struct list_options *o = options;
	int err = options_parse(&subcommand_list, options, argc, argv);

	for (char **word = o->common.words; !err && word && *word; word++)
		if (filter_word_add(&o->filter, *word))
			return options_refuse(**word ? "too many words to search for:"
						     : "empty word to search for:",
					      *word);
	return err ? err : list_check(o);
}

const struct subcommand subcommand_list = {
	.name = "list",
	.aliases = "ls history log runs",
	.summary = "list recorded runs",
	.part = PART_READS,
	.words = { .most = ANY_WORDS },
	.run = cmd_list,
	.groups = list_groups,
	.options_bytes = sizeof(struct list_options),
	.parse = list_parse,
	.help = list_help,
};
