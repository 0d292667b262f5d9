// SPDX-License-Identifier: BSD-2-Clause
/* The rules of the table of summary fields, and each field on its way: written, read, stored,
 * listed. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "run/key.h"
#include "run/summary_field.h"
#include "store/database_open.h"
#include "store/source.h"
#include "store_fixture.h"
#include "run/writer.h"

#include <jansson.h>

#define SCHEMA "docs/bpfmon-1.schema.json"
#define LETTERS "abcdefghijklmnopqrstuvwxyz0123456789_"

/* The rules are for every row: the loops are here, and the message names the row. */
#define each_field(f)                                                                              \
	for (const struct member *f = summary_field_get(0), *f##_end = f + NR_SUMMARY_FIELDS;      \
	     f < f##_end; f++)

static bool ends_with(const char *text, const char *suffix)
{
	size_t n = strlen(text), m = strlen(suffix);

	return n >= m && !strcmp(text + n - m, suffix);
}

static bool is_number(const struct member *f)
{
	return f->type == TYPE_NUMBER || f->type == TYPE_DERIVED;
}

static void number_set(struct summary *s, const struct member *f, uint64_t value)
{
	if (f->set)
		f->set(s, value);
	else if (!f->get)
		*(uint64_t *)member_at(s, f) = value;
}

/* Every member that has a row, and every part, of a value that no other has. */
static void fill_summary(struct summary *s)
{
	const struct holder holder = { .pid = 11, .comm = "a", .rss_bytes = 12 };
	uint64_t value = 7000000;

	*s = (struct summary){ .has_status = true };
	each_field(f)
	{
		if (f->there == THERE_IF_HAS)
			*member_has(s, f) = true;
		if (f->type == TYPE_NUMBER)
			number_set(s, f, value++ * (f->unit == UNIT_NS ? 1000 : 1));
		if (f->type == TYPE_TRUTH)
			*(bool *)member_at(s, f) = true;
		if (f->type == TYPE_TEXT)
			snprintf(member_at(s, f), f->size, "t%u", (unsigned)value++ % 1000);
	}
	s->drain_ns_total = s->drains * 13; /* only their mean is published */
	s->exit_code = 77;
	strcpy(s->losses[s->nr_losses].name, "records");
	s->losses[s->nr_losses++].count = 14;
	s->oom = (struct oom_kill){ .pid = 15, .comm = "b", .has_rss = true, .rss_bytes = 16 };
	s->oom.limit_bytes = 17;
	strcpy(s->oom.cgroup, "c");
	s->limit = (struct limit_hit){ .text = "cpu<1h", .unit = UNIT_NS, .value = 21 };
	s->limit.has_process = true;
	sample_add_instance(&s->total, "device", "vda");
	latencies_get(&s->latencies, "vda", 0)->count[3] = 20;
	holders_add(&s->holders, &holder);
	s->holders.others = 18;
	s->holders.others_bytes = 19;
	assert_non_null(summary_append_program(s, "/bin/d"));
	fixture_values(s->total.value, &s->total.have, 1);
	s->bounds.is_from_proc = true;
	metric_put(&s->bounds.counters, M_cpu);
}

static void assert_same_member(const struct summary *a, const struct summary *b,
			       const struct member *f)
{
	if (memcmp(member_get(a, f), member_get(b, f), f->size) != 0)
		fail_msg("%s is not what was written", f->key);
	if (f->there == THERE_IF_HAS && !summary_field_is_there(b, f))
		fail_msg("%s was written, and is not there", f->key);
}

static void assert_same_members(const struct summary *a, const struct summary *b)
{
	each_field(f) if (f->size) assert_same_member(a, b, f);
	assert_int_equal(a->drain_ns_total, b->drain_ns_total);
}

static void assert_same_text(const struct summary *s, const char *text)
{
	struct jsonw j = { 0 };

	write_summary(&j, s);
	assert_string_equal(j.text, text);
	jsonw_done(&j);
}

static void keys_of_an_object_are_unique(void **state)
{
	(void)state;
	each_field(a) each_field(b)
		assert_true(a == b || a->in != b->in || strcmp(a->key, b->key) != 0);
}

static void no_key_is_that_of_a_metric(void **state)
{
	enum metric_id id;

	(void)state;
	each_field(f) if (f->in == IN_LINE && metric_find(f->key, strlen(f->key), &id) == 0)
		fail_msg("%s is a metric", f->key);
}

static void keys_have_small_letters_and_their_unit(void **state)
{
	(void)state;
	each_field(f)
	{
		assert_int_equal(strspn(f->key, LETTERS), strlen(f->key));
		if (is_number(f)) {
			assert_int_equal(!!strstr(f->key, "seconds"), f->unit == UNIT_NS);
			assert_int_equal(ends_with(f->key, "_bytes"), f->unit == UNIT_BYTES);
		}
	}
}

static void members_are_of_the_type_of_their_row(void **state)
{
	static const size_t sizes[NR_MEMBER_TYPES] = {
		[TYPE_NUMBER] = sizeof(uint64_t),
		[TYPE_TRUTH] = sizeof(bool),
		[TYPE_STATUS] = sizeof(int),
	};

	(void)state;
	each_field(f) if (f->type == TYPE_TEXT ? f->size < 2 : f->size != sizes[f->type])
		fail_msg("%s: %zu bytes", f->key, f->size);
}

static void members_and_derived_numbers_have_one_row(void **state)
{
	(void)state;
	each_field(a) each_field(b)
	{
		assert_true(a == b || !a->size || a->offset != b->offset || !b->size);
		assert_true(a == b || !a->get || a->get != b->get);
	}
}

/* An object that no row opens would never be written. */
static void every_object_is_opened_once(void **state)
{
	size_t opened[NR_SUMMARY_IN] = { [IN_LINE] = 1 };

	(void)state;
	each_field(f) if (f->type == TYPE_OBJECT) opened[f->opens]++;
	for (int i = 0; i < NR_SUMMARY_IN; i++)
		assert_int_equal(opened[i], 1);
}

static void descriptions_have_no_full_stop(void **state)
{
	(void)state;
	each_field(f) assert_false(ends_with(f->help, "."));
}

/* The order of the columns of `bpfmon compare`, which no change of the table may move. */
static void keys_are_compared_in_this_order(void **state)
{
	static const char *const order[] = {
		"wall_seconds",
		"exit_code",
		"signal",
		"cores_mean",
		"cores_peak",
		"rss_peak_bytes",
		"rss_peak_upper_bytes",
		"rss_peak_exact_bytes",
		"process_rss_peak_bytes",
		"hugetlb_peak_bytes",
		"pss_peak_bytes",
		"uss_peak_bytes",
		"cgroup_peak_bytes",
		"cgroup_peak_anon_bytes",
		"cgroup_peak_file_bytes",
		"oom_kills",
		"processes_total",
		"outlived",
		"memory_needed_bytes",
		"gpu_memory_peak_bytes",
		"gpus_held_peak",
		"gpus_used_peak",
		"cpu_seconds",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		assert_string_equal(run_key(i).name, order[i]);
}

/* Every key of the objects @value has, in the schema of it, and the other way round. */
static void assert_in_schema(const json_t *schema, const json_t *value, const json_t *more)
{
	const json_t *known = json_object_get(schema, "properties");
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)value, key, v) {
		const json_t *of_key = json_object_get(known, key);

		if (!of_key && !json_object_get(more, key))
			fail_msg("the schema has no %s", key);
		if (json_object_get(of_key, "properties"))
			assert_in_schema(of_key, v, NULL);
	}
	json_object_foreach((json_t *)known, key, v)
		if (!json_object_get(value, key) && strcmp(key, "lossy") != 0)
			fail_msg("nothing writes the %s of the schema", key);
}

static void schema_has_each_key_that_a_summary_can_have_and_no_other(void **state)
{
	json_t *schema = json_load_file(SCHEMA, 0, NULL), *line;
	const json_t *defs = json_object_get(schema, "$defs");
	struct jsonw j = { 0 };
	struct summary s;

	(void)state;
	fill_summary(&s);
	write_summary(&j, &s);
	line = json_loadb(j.text, j.used, 0, NULL);
	assert_non_null(line);
	assert_in_schema(json_object_get(defs, "summary"), line,
			 json_object_get(json_object_get(defs, "counters"), "properties"));
	json_decref(line);
	json_decref(schema);
	summary_done(&s);
	jsonw_done(&j);
}

static void schema_has_each_key_that_a_span_can_have_and_no_other(void **state)
{
	json_t *schema = json_load_file(SCHEMA, 0, NULL), *line;
	const json_t *defs = json_object_get(schema, "$defs");
	struct span span = { .id = 2,
			     .parent = 1,
			     .in_place = true,
			     .label = { .name = "a", .tags = { "b=c" }, .nr_tags = 1 } };
	struct jsonw j = { 0 };

	(void)state;
	fill_summary(&span.used);
	write_span(&j, &span);
	line = json_loadb(j.text, j.used, 0, NULL);
	assert_non_null(line);
	assert_in_schema(json_object_get(defs, "span"), line,
			 json_object_get(json_object_get(defs, "counters"), "properties"));
	json_decref(line);
	json_decref(schema);
	summary_done(&span.used);
	jsonw_done(&j);
}

static int read_summary_again(void *context, struct line *l)
{
	assert_same_members(context, &l->summary);
	return 1;
}

/* What `list` shows of the run: columns of the store that have the value of a field. */
static void assert_listed(const struct place *p, const struct summary *s)
{
	struct run_filter all = { 0 };
	struct stored_runs runs = { 0 };
	struct database d;

	assert_int_equal(database_open(&d, p->path, DATABASE_READ), 0);
	assert_int_equal(query_runs(&d, 0, &all, &runs), 0);
	assert_int_equal(runs.nr, 1);
	assert_int_equal(runs.runs[0].state, RUN_FINISHED);
	assert_true(runs.runs[0].is_complete);
	assert_int_equal(runs.runs[0].exit_code, s->exit_code);
	assert_int_equal(runs.runs[0].signal, -1);
	assert_int_equal(runs.runs[0].wall_ns, s->wall_ns);
	assert_int_equal(runs.runs[0].cpu_ns, s->total.value[M_cpu]);
	assert_int_equal(runs.runs[0].rss_peak_bytes, s->rss_peak_exact_bytes);
	assert_int_equal(runs.runs[0].processes, s->processes_total);
	assert_int_equal(runs.runs[0].needed.bytes, s->needed.bytes);
	assert_string_equal(runs.runs[0].needed.witness, s->needed.witness);
	assert_string_equal(runs.runs[0].needed.bound, s->needed.bound);
	stored_runs_done(&runs);
	database_close(&d);
}

static void every_field_comes_through_writer_reader_and_store(void **state)
{
	struct place *p = *state;
	struct jsonw lines = { 0 };
	static struct line l;
	static struct source from;
	struct summary s;
	char *text;

	fill_summary(&s);
	s.signal = 0; /* it ended with a status */
	write_summary(&lines, &s);
	assert_int_equal(line_read(&l, lines.text, lines.used), 0);
	assert_same_members(&s, &l.summary);
	assert_same_text(&l.summary, lines.text);
	assert_true(asprintf(&text, "%s%s", RUN, lines.text) > 0);
	keep(p->path, text);
	assert_int_equal(source_open_stored(&from, p->path, 1, RUN_FINISHED), 0);
	assert_int_equal(source_each(&from, PART(LINE_SUMMARY), read_summary_again, &s), 1);
	source_close(&from);
	assert_listed(p, &s);
	free(text);
	line_done(&l);
	summary_done(&s);
	jsonw_done(&lines);
}

/* A part of what belongs together is not the whole of it. */
static void share_of_a_cgroup_without_the_other_is_absent(void **state)
{
	static const char text[] = "{\"kind\":\"summary\",\"cgroup_peak_anon_bytes\":5,"
				   "\"rss_peak_bytes\":6}";
	struct line l = { 0 };

	(void)state;
	assert_int_equal(line_read(&l, text, strlen(text)), 0);
	assert_false(l.summary.has_cgroup_split);
	assert_true(l.summary.has_rss_peak);
	line_done(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_of_an_object_are_unique),
		cmocka_unit_test(no_key_is_that_of_a_metric),
		cmocka_unit_test(keys_have_small_letters_and_their_unit),
		cmocka_unit_test(members_are_of_the_type_of_their_row),
		cmocka_unit_test(members_and_derived_numbers_have_one_row),
		cmocka_unit_test(every_object_is_opened_once),
		cmocka_unit_test(descriptions_have_no_full_stop),
		cmocka_unit_test(keys_are_compared_in_this_order),
		cmocka_unit_test(schema_has_each_key_that_a_summary_can_have_and_no_other),
		cmocka_unit_test(schema_has_each_key_that_a_span_can_have_and_no_other),
		PLACE_TEST(every_field_comes_through_writer_reader_and_store),
		cmocka_unit_test(share_of_a_cgroup_without_the_other_is_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
