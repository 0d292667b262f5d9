// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "measure/images.h"

#include <stdlib.h>
#include <string.h>

#define SECOND_NS 1000000000ULL
#define NOW_NS (1000 * SECOND_NS)
#define MANY 1500 /* images: more than are kept without asking */

static int images_make(void **state)
{
	struct images *all = calloc(1, sizeof(*all));

	*state = all;
	return images_init(all);
}

static int images_free(void **state)
{
	images_done(*state);
	free(*state);
	return 0;
}

/* Adds an image as the kernel would tell of it: components leaf first, then arguments. */
static void add(struct images *all, uint64_t id, const char *path, size_t path_bytes,
		const char *args, size_t args_bytes, uint32_t flags)
{
	struct exec_event e = {
		.kind = EVENT_EXEC,
		.flags = flags,
		.image = id,
		.path_bytes = (uint32_t)path_bytes,
		.args_bytes = (uint32_t)args_bytes,
	};

	memcpy(e.text, path, path_bytes);
	memcpy(e.text + path_bytes, args, args_bytes);
	assert_int_equal(images_add(all, &e, NOW_NS), 0);
}

#define ADD(all, id, path, args, flags) add(all, id, path, sizeof(path), args, sizeof(args), flags)

static void add_many(struct images *all, uint64_t first, uint64_t n)
{
	for (uint64_t id = first; id < first + n; id++)
		ADD(all, id, "a", "a", 0);
}

static size_t count_found(const struct images *all, uint64_t first, uint64_t n)
{
	size_t found = 0;

	for (uint64_t id = first; id < first + n; id++)
		found += images_find(all, id) && images_find(all, id)->id == id;
	return found;
}

static void path_is_joined_from_its_components(void **state)
{
	struct images *all = *state;

	ADD(all, 1, "cc\0bin\0usr", "cc", 0);
	assert_string_equal(images_find(all, 1)->exe, "/usr/bin/cc");
}

static void path_of_one_component_is_below_the_root(void **state)
{
	struct images *all = *state;

	ADD(all, 1, "init", "init", 0);
	assert_string_equal(images_find(all, 1)->exe, "/init");
}

static void longest_path_and_arguments_fit(void **state)
{
	static char path[PATH_BYTES], args[ARGS_BYTES];
	struct images *all = *state;

	memset(path, 'p', sizeof(path) - 1);
	memset(args, 'a', sizeof(args) - 1);
	add(all, 1, path, sizeof(path), args, sizeof(args), 0);
	assert_int_equal(strlen(images_find(all, 1)->exe), PATH_BYTES);
	assert_int_equal(images_find(all, 1)->args_length, ARGS_BYTES);
}

static void path_that_was_cut_is_not_known(void **state)
{
	struct images *all = *state;

	ADD(all, 1, "cc\0bin\0usr", "cc", EXEC_PATH_CUT);
	assert_null(images_find(all, 1)->exe);
	assert_string_equal(images_find(all, 1)->args, "cc");
}

static void path_that_was_not_read_is_not_known(void **state)
{
	struct images *all = *state;

	add(all, 1, "", 0, "cc", 3, 0);
	assert_null(images_find(all, 1)->exe);
	assert_true(images_find(all, 1)->has_args);
}

static void arguments_are_kept_with_their_nuls(void **state)
{
	struct images *all = *state;

	ADD(all, 1, "cc\0bin", "cc\0-c\0a.c", 0);
	assert_true(images_find(all, 1)->has_args);
	assert_false(images_find(all, 1)->args_cut);
	assert_int_equal(images_find(all, 1)->args_length, 10);
	assert_memory_equal(images_find(all, 1)->args, "cc\0-c\0a.c", 10);
}

static void arguments_that_were_cut_say_so(void **state)
{
	struct images *all = *state;

	ADD(all, 1, "cc", "cc\0-c", EXEC_ARGS_CUT);
	assert_true(images_find(all, 1)->args_cut);
	assert_true(images_find(all, 1)->has_args);
}

static void arguments_that_could_not_be_read_are_absent(void **state)
{
	struct images *all = *state;

	add(all, 1, "cc", 3, "", 0, EXEC_ARGS_UNREAD);
	assert_false(images_find(all, 1)->has_args);
}

static void image_of_mixed_ids_is_known_as_such(void **state)
{
	struct images *all = *state;

	ADD(all, 1, "su", "su", EXEC_MIXED_IDS);
	ADD(all, 2, "cc", "cc", 0);
	assert_true(images_find(all, 1)->has_mixed_ids);
	assert_false(images_find(all, 2)->has_mixed_ids);
}

static void unknown_image_is_not_found(void **state)
{
	struct images *all = *state;

	ADD(all, 1, "cc", "cc", 0);
	assert_null(images_find(all, 2));
	assert_null(images_find(all, 0));
}

/* More than there are slots: some must share one. */
static void images_that_share_a_slot_are_distinguished(void **state)
{
	struct images *all = *state;

	add_many(all, 1, all->nr_slots + 1);
	assert_int_equal(count_found(all, 1, all->nr_slots + 1), all->nr_slots + 1);
	assert_int_equal(all->used, all->nr_slots + 1);
}

static void few_images_are_kept_however_old(void **state)
{
	struct images *all = *state;

	ADD(all, 1, "cc", "cc", 0);
	images_prune(all, NOW_NS + 3600 * SECOND_NS);
	assert_non_null(images_find(all, 1));
}

static void many_images_are_kept_while_they_are_young(void **state)
{
	struct images *all = *state;

	add_many(all, 1, MANY);
	images_prune(all, NOW_NS + SECOND_NS);
	assert_int_equal(count_found(all, 1, MANY), MANY);
}

static void old_images_are_forgotten_when_there_are_many(void **state)
{
	struct images *all = *state;

	add_many(all, 1, MANY);
	images_prune(all, NOW_NS + 11 * SECOND_NS);
	assert_int_equal(all->used, 0);
	assert_int_equal(count_found(all, 1, MANY), 0);
}

static void image_that_is_in_use_is_kept(void **state)
{
	struct images *all = *state;

	add_many(all, 1, MANY);
	images_touch(all, 7, NOW_NS + 10 * SECOND_NS);
	images_touch(all, MANY + 1, NOW_NS + 10 * SECOND_NS); /* unknown: no matter */
	images_prune(all, NOW_NS + 11 * SECOND_NS);
	assert_int_equal(all->used, 1);
	assert_non_null(images_find(all, 7));
}

static void pruning_soon_after_boot_forgets_nothing(void **state)
{
	struct images *all = *state;

	add_many(all, 1, MANY);
	images_prune(all, SECOND_NS);
	assert_int_equal(all->used, MANY);
}

static void pruning_waits_until_the_number_has_doubled(void **state)
{
	struct images *all = *state;

	add_many(all, 1, MANY);
	images_prune(all, NOW_NS + SECOND_NS); /* all are young */
	images_prune(all, NOW_NS + 60 * SECOND_NS);
	assert_int_equal(all->used, MANY);
	add_many(all, MANY + 1, MANY);
	images_prune(all, NOW_NS + 60 * SECOND_NS);
	assert_int_equal(all->used, 0);
}

static void next_process_reads_the_same_images(void **state)
{
	struct images *all = *state, read;
	struct jsonw j = { 0 };
	const struct image *one;
	json_t *o;

	ADD(all, 7, "sh\0\xff", "sh\0-c\0\xfe", EXEC_ARGS_CUT | EXEC_MIXED_IDS);
	ADD(all, 8, "x", "x", EXEC_PATH_CUT | EXEC_ARGS_UNREAD);
	jsonw_object(&j, NULL);
	images_keep(all, NOW_NS, &j);
	jsonw_object_end(&j);
	o = json_loadb(j.text, j.used, 0, NULL);
	assert_non_null(o);
	assert_int_equal(images_init(&read), 0);
	assert_int_equal(images_resume(&read, json_object_get(o, "images"), NOW_NS), 0);
	assert_int_equal(read.used, 2);
	one = images_find(&read, 7);
	assert_string_equal(one->exe, images_find(all, 7)->exe);
	assert_int_equal(one->args_length, images_find(all, 7)->args_length);
	assert_memory_equal(one->args, images_find(all, 7)->args, one->args_length);
	assert_true(one->has_args && one->args_cut && one->has_mixed_ids);
	one = images_find(&read, 8);
	assert_null(one->exe);
	assert_false(one->has_args || one->args_cut || one->has_mixed_ids);
	json_decref(o);
	images_done(&read);
	jsonw_done(&j);
}

static void images_not_seen_since_are_not_left(void **state)
{
	struct jsonw j = { 0 };

	ADD(*state, 7, "sh", "sh", 0);
	jsonw_object(&j, NULL);
	images_keep(*state, NOW_NS + 1, &j);
	assert_string_equal(j.text, "{\"images\":[]");
	jsonw_done(&j);
}

#define IMAGES_TEST(test) cmocka_unit_test_setup_teardown(test, images_make, images_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IMAGES_TEST(path_is_joined_from_its_components),
		IMAGES_TEST(path_of_one_component_is_below_the_root),
		IMAGES_TEST(longest_path_and_arguments_fit),
		IMAGES_TEST(path_that_was_cut_is_not_known),
		IMAGES_TEST(path_that_was_not_read_is_not_known),
		IMAGES_TEST(arguments_are_kept_with_their_nuls),
		IMAGES_TEST(arguments_that_were_cut_say_so),
		IMAGES_TEST(arguments_that_could_not_be_read_are_absent),
		IMAGES_TEST(image_of_mixed_ids_is_known_as_such),
		IMAGES_TEST(unknown_image_is_not_found),
		IMAGES_TEST(images_that_share_a_slot_are_distinguished),
		IMAGES_TEST(few_images_are_kept_however_old),
		IMAGES_TEST(many_images_are_kept_while_they_are_young),
		IMAGES_TEST(old_images_are_forgotten_when_there_are_many),
		IMAGES_TEST(image_that_is_in_use_is_kept),
		IMAGES_TEST(pruning_soon_after_boot_forgets_nothing),
		IMAGES_TEST(next_process_reads_the_same_images),
		IMAGES_TEST(images_not_seen_since_are_not_left),
		IMAGES_TEST(pruning_waits_until_the_number_has_doubled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
