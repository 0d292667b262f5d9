// SPDX-License-Identifier: BSD-2-Clause
/* Each format of six runs against tests/data/golden/export/: a whole one, one that was cut off,
 * one with hostile strings and few metrics, one to which its programs pushed, an attachment, and
 * one with spans. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "export_fixture.h"
#include "golden.h"

#include <errno.h>

#define WHOLE "tests/data/golden/run.jsonl"
#define PUSHED "tests/data/export/pushed.jsonl"
#define ATTACHED "tests/data/export/attached.jsonl"
#define SPANS "tests/data/export/spans.jsonl"
#define INSTANCES "tests/data/export/instances.jsonl"
#define HOSTILE "tests/data/export/hostile.jsonl"

static int export_refuse(void *context, const char *text, size_t length)
{
	(void)context, (void)text, (void)length;
	return -ENOSPC;
}

/* For every document of every format. */
static void each_document(void (*do_it)(const char *path, const char *as, const char *name,
					const struct export_document *d),
			  const char *path, const char *as)
{
	const struct export_format *f;

	for (size_t i = 0; (f = export_at(i)); i++)
		for (size_t k = 0; k < EXPORT_DOCUMENTS && f->documents[k].write; k++)
			do_it(path, as, f->name, &f->documents[k]);
}

static void compare_golden(const char *path, const char *as, const char *name,
			   const struct export_document *d)
{
	char *text = export_file(path, d), golden[128];

	snprintf(golden, sizeof(golden), "export/%s.%s%s", as, name, d->suffix);
	assert_golden_text(golden, text);
	free(text);
}

static void every_format_of_a_whole_run_is_as_it_was_reviewed(void **state)
{
	(void)state;
	each_document(compare_golden, WHOLE, "run");
}

/* bpfmon itself never writes two. */
static void a_document_has_only_the_last_summary(void **state)
{
	const struct place *p = *state;
	json_t *document;
	char *text;

	file_write(p->path, "{\"kind\":\"meta\",\"schema\":\"bpfmon/1\"}\n"
			    "{\"kind\":\"summary\",\"samples\":1}\n"
			    "{\"kind\":\"summary\",\"samples\":2}\n");
	text = export_as(p->path, "json");
	document = json_loads(text, 0, NULL);
	assert_int_equal(json_integer_value(
				 json_object_get(json_object_get(document, "summary"), "samples")),
			 2);
	json_decref(document);
	free(text);
}

static void every_format_of_hostile_strings_is_as_it_was_reviewed(void **state)
{
	(void)state;
	each_document(compare_golden, HOSTILE, "hostile");
}

static void every_format_of_what_programs_pushed_is_as_it_was_reviewed(void **state)
{
	(void)state;
	each_document(compare_golden, PUSHED, "pushed");
}

static void every_format_of_an_attachment_is_as_it_was_reviewed(void **state)
{
	(void)state;
	each_document(compare_golden, ATTACHED, "attached");
}

static void every_format_of_spans_is_as_it_was_reviewed(void **state)
{
	(void)state;
	each_document(compare_golden, SPANS, "spans");
}

static void every_format_of_instances_is_as_it_was_reviewed(void **state)
{
	(void)state;
	each_document(compare_golden, INSTANCES, "instances");
}

/* Its beginning, up to within the second sample. */
static void every_format_of_a_run_cut_off_is_as_it_was_reviewed(void **state)
{
	struct place *p = *state;
	char *text = file_read(WHOLE), *last = strstr(text, "\"elapsed_seconds\":0.1");

	assert_non_null(last);
	*last = '\0';
	file_write(p->path, text);
	free(text);
	each_document(compare_golden, p->path, "cut");
}

static void json_lines_come_out_as_they_were(void **state)
{
	static const char *const paths[] = { WHOLE, HOSTILE, PUSHED, ATTACHED, SPANS };

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		char *was = file_read(paths[i]), *is = export_as(paths[i], "jsonl");

		assert_string_equal(is, was);
		free(was);
		free(is);
	}
}

/* As a run in a store: samples and processes have no tree. */
struct without_trees {
	struct source file;
	source_fn fn;
	void *context;
};

static int give_without_tree(void *context, struct line *l)
{
	struct without_trees *w = context;
	void *tree = l->tree;
	int err;

	if (l->kind == LINE_SAMPLE || l->kind == LINE_PROCESS || l->kind == LINE_SPAN)
		l->tree = NULL;
	err = w->fn(w->context, l);
	l->tree = tree;
	return err;
}

static int each_without_tree(struct source *s, unsigned parts, source_fn fn, void *context)
{
	struct without_trees *w = s->from;

	w->fn = fn;
	w->context = context;
	return source_each(&w->file, parts, give_without_tree, w);
}

static void close_nothing(struct source *s)
{
	(void)s;
}

static void compare_without_trees(const char *path, const char *as, const char *name,
				  const struct export_document *d)
{
	static const struct source_ops ops = { .each = each_without_tree, .close = close_nothing };
	static struct without_trees w;
	static struct source s = { .ops = &ops, .from = &w };
	char *with = export_file(path, d), *without;

	(void)as, (void)name;
	assert_int_equal(source_open_file(&w.file, path), 0);
	without = export_source(&s, d);
	assert_string_equal(without, with);
	free(with);
	free(without);
	source_close(&w.file);
}

static void samples_processes_and_spans_without_text_are_exported_the_same(void **state)
{
	(void)state;
	each_document(compare_without_trees, WHOLE, NULL);
	each_document(compare_without_trees, SPANS, NULL);
}

static void refuse_document(const char *path, const char *as, const char *name,
			    const struct export_document *d)
{
	struct exporter e;
	struct source s;

	(void)as, (void)name;
	assert_int_equal(source_open_file(&s, path), 0);
	assert_int_equal(export_open(&e, &s), 0);
	assert_int_equal(export_write(&e, d, export_refuse, NULL), -ENOSPC);
	assert_true(e.is_refused);
	export_close(&e);
	source_close(&s);
}

static void write_errors_are_distinguished_from_read_errors(void **state)
{
	(void)state;
	each_document(refuse_document, WHOLE, NULL);
}

static void lines_that_cannot_be_read_are_counted_and_left_out(void **state)
{
	struct place *p = *state;
	char *text = file_read(HOSTILE), *summary = strstr(text, "{\"kind\":\"weather\"");
	struct buffer t = { 0 };
	struct exporter e;
	struct source s;

	assert_non_null(summary);
	summary[0] = '?';
	file_write(p->path, text);
	assert_int_equal(source_open_file(&s, p->path), 0);
	assert_int_equal(export_open(&e, &s), 0);
	assert_int_equal(export_write(&e, &jsonl_export.documents[0], export_take, &t), 0);
	assert_int_equal(e.unreadable, 1);
	assert_null(memmem(t.text, t.used, "weather", 7));
	export_close(&e);
	source_close(&s);
	buffer_done(&t);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_format_of_a_whole_run_is_as_it_was_reviewed),
		PLACE_TEST(a_document_has_only_the_last_summary),
		cmocka_unit_test(every_format_of_hostile_strings_is_as_it_was_reviewed),
		cmocka_unit_test(every_format_of_what_programs_pushed_is_as_it_was_reviewed),
		cmocka_unit_test(every_format_of_an_attachment_is_as_it_was_reviewed),
		cmocka_unit_test(every_format_of_spans_is_as_it_was_reviewed),
		cmocka_unit_test(every_format_of_instances_is_as_it_was_reviewed),
		PLACE_TEST(every_format_of_a_run_cut_off_is_as_it_was_reviewed),
		cmocka_unit_test(json_lines_come_out_as_they_were),
		cmocka_unit_test(samples_processes_and_spans_without_text_are_exported_the_same),
		cmocka_unit_test(write_errors_are_distinguished_from_read_errors),
		PLACE_TEST(lines_that_cannot_be_read_are_counted_and_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
