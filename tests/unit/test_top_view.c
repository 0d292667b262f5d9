// SPDX-License-Identifier: BSD-2-Clause
/* What top draws of a recorded run, as golden screens of several sizes; and what its keys do. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "golden.h"

#include "top/saved.h"
#include "top/top_list.h"
#include "top/view.h"

#define RECORDED "tests/data/top/run.jsonl"

struct shown {
	struct model model;
	struct view view;
	struct screen screen;
};

static void lines_take(struct model *m, char *text, size_t most)
{
	struct line line = { 0 };
	char *rest = text, *one;

	while (most-- && (one = strsep(&rest, "\n")) && *one) {
		assert_int_equal(line_read_quick(&line, one, strlen(one)), 0);
		assert_int_equal(model_take(m, &line), 0);
	}
	line_done(&line);
}

static int shown_make(void **state)
{
	struct shown *s = calloc(1, sizeof(*s));
	char *text = file_read(RECORDED);

	setenv("TZ", "UTC", 1);
	model_init(&s->model);
	view_init(&s->view, &s->model, NULL);
	s->screen.is_utf8 = true;
	assert_non_null(text);
	lines_take(&s->model, text, SIZE_MAX);
	free(text);
	*state = s;
	return 0;
}

static int shown_free(void **state)
{
	struct shown *s = *state;

	view_done(&s->view);
	model_done(&s->model);
	screen_done(&s->screen);
	free(s);
	return 0;
}

/* To be freed. */
static char *screen_draw(struct shown *s, int width, int height)
{
	char *text, *row;
	size_t length;
	FILE *f;

	assert_int_equal(screen_resize(&s->screen, width, height), 0);
	assert_int_equal(view_draw(&s->view, &s->screen), 0);
	f = open_memstream(&text, &length);
	for (int y = 0; y < height; y++) {
		row = screen_row_text(&s->screen, y);
		fprintf(f, "%s\n", row);
		free(row);
	}
	fclose(f);
	return text;
}

static void assert_golden_screen(struct shown *s, const char *name, int width, int height)
{
	char *text = screen_draw(s, width, height);

	assert_golden_text(name, text);
	free(text);
}

static void assert_shows(struct shown *s, const char *part)
{
	char *text = screen_draw(s, 120, 40);

	if (!strstr(text, part))
		fail_msg("'%s' is not in: %s", part, text);
	free(text);
}

static void assert_shows_no(struct shown *s, const char *part)
{
	char *text = screen_draw(s, 120, 40);

	if (strstr(text, part))
		fail_msg("'%s' is in: %s", part, text);
	free(text);
}

static void keys_press(struct shown *s, const char *keys)
{
	for (; *keys; keys++)
		assert_int_equal(view_key(&s->view, *keys), VIEW_GOES_ON);
}

/* To the second sample, at which a process has a hostile name. */
static void view_go_to_start(struct shown *s)
{
	view_show_last_live(&s->view);
	for (int i = 0; i < 20; i++)
		view_key(&s->view, KEY_OF_LEFT);
	view_key(&s->view, KEY_OF_RIGHT);
}

static void screens_of_all_sizes_are_as_recorded(void **state)
{
	view_go_to_start(*state);
	assert_golden_screen(*state, "top_40x10.txt", 40, 10);
	assert_golden_screen(*state, "top_80x24.txt", 80, 24);
	assert_golden_screen(*state, "top_120x40.txt", 120, 40);
	assert_golden_screen(*state, "top_300x100.txt", 300, 100);
}

static void without_utf8_only_ascii_is_drawn(void **state)
{
	struct shown *s = *state;
	char *text;

	s->screen.is_utf8 = false;
	view_go_to_start(s);
	assert_golden_screen(s, "top_ascii.txt", 80, 24);
	text = screen_draw(s, 300, 100);
	for (const char *c = text; *c; c++)
		assert_true(*c == '\n' || (*c >= ' ' && *c < 0x7f));
	free(text);
}

static void end_of_the_run_has_all_processes_by_program(void **state)
{
	assert_golden_screen(*state, "top_end.txt", 80, 24);
}

static void one_process_is_shown_with_its_record(void **state)
{
	struct shown *s = *state;

	view_go_to_start(s);
	free(screen_draw(s, 80, 40));
	keys_press(s, "jj");
	view_key(&s->view, KEY_OF_ENTER);
	assert_golden_screen(s, "top_process.txt", 80, 40);
	view_key(&s->view, KEY_OF_ESCAPE);
	assert_shows(s, "COMMAND");
}

static void help_and_columns_are_shown(void **state)
{
	struct shown *s = *state;

	view_go_to_start(s);
	keys_press(s, "?");
	assert_golden_screen(s, "top_help.txt", 80, 24);
	keys_press(s, "?c");
	assert_golden_screen(s, "top_columns.txt", 80, 24);
	keys_press(s, " ");
	view_key(&s->view, KEY_OF_ESCAPE);
	assert_shows_no(s, "+CPU%");
}

static void filter_shows_what_matches_and_what_is_above_it(void **state)
{
	struct shown *s = *state;

	view_go_to_start(s);
	keys_press(s, "/while");
	view_key(&s->view, KEY_OF_ENTER);
	assert_shows(s, "while");
	assert_shows(s, "align.sh");
	assert_shows_no(s, "\u2500sleep");
	view_key(&s->view, KEY_OF_ESCAPE);
	assert_shows(s, "\u2500sleep");
}

static void what_is_folded_stays_in_the_sum(void **state)
{
	struct shown *s = *state;

	view_go_to_start(s);
	free(screen_draw(s, 120, 40));
	keys_press(s, "j ");
	assert_shows(s, "(+");
	assert_shows_no(s, "while");
	keys_press(s, " ");
	assert_shows(s, "while");
}

static void arrows_go_through_time_and_back_to_the_end(void **state)
{
	struct shown *s = *state;
	char *first, *again;

	view_go_to_start(s);
	first = screen_draw(s, 120, 40);
	view_key(&s->view, KEY_OF_RIGHT);
	assert_shows_no(s, "at 251 ms of");
	view_key(&s->view, KEY_OF_LEFT);
	again = screen_draw(s, 120, 40);
	assert_string_equal(first, again);
	free(first);
	free(again);
	for (int i = 0; i < 20; i++)
		view_key(&s->view, KEY_OF_RIGHT);
	assert_shows(s, "ended with 0 after");
}

static void flat_list_has_no_branches(void **state)
{
	struct shown *s = *state;

	view_go_to_start(s);
	keys_press(s, "te");
	assert_shows_no(s, "\u2500");
	keys_press(s, "<<<<<<<<<<<<r");
	assert_shows(s, "while");
}

/* As a file that is being written, or was cut, is seen. */
static void run_without_its_end_is_one_that_goes_on(void **state)
{
	struct shown *s = *state;
	char *text = file_read(RECORDED);

	view_done(&s->view);
	model_done(&s->model);
	view_init(&s->view, &s->model, NULL);
	lines_take(&s->model, text, 20);
	free(text);
	assert_shows(s, "running, ");
	assert_shows(s, "live");
}

static void mouse_click(struct shown *s, int x, int y)
{
	s->view.mouse_x = x;
	s->view.mouse_y = y;
	assert_int_equal(view_key(&s->view, KEY_OF_CLICK), VIEW_GOES_ON);
}

/* The head has six rows, then the titles: PID in columns 0 to 6, CPU% after it. */
static void click_selects_a_row_and_opens_it_and_sorts_by_a_title(void **state)
{
	struct shown *s = *state;
	struct row_key selected;

	view_go_to_start(s);
	free(screen_draw(s, 120, 40));
	mouse_click(s, 40, 9);
	assert_int_equal(s->view.at, 2);
	assert_int_equal(s->view.mode, VIEW_TABLE);
	selected = s->view.selected;
	mouse_click(s, 40, 9);
	assert_int_equal(s->view.mode, VIEW_TASK);
	view_key(&s->view, KEY_OF_ESCAPE);
	mouse_click(s, 3, 6);
	assert_int_equal(s->view.choice.sort, COLUMN_PID);
	assert_false(s->view.choice.is_reversed);
	mouse_click(s, 3, 6);
	assert_true(s->view.choice.is_reversed);
	mouse_click(s, 10, 6);
	assert_int_equal(s->view.choice.sort, COLUMN_CPU);
	assert_false(s->view.choice.is_reversed);
	/* outside of the table nothing changes */
	mouse_click(s, 3, 0);
	mouse_click(s, 3, 39);
	assert_int_equal(s->view.choice.sort, COLUMN_CPU);
	assert_true(row_key_is(&s->view.selected, &selected));
}

static void wheel_moves_by_rows_and_scrolls_pages(void **state)
{
	struct shown *s = *state;

	view_go_to_start(s);
	free(screen_draw(s, 120, 40));
	view_key(&s->view, KEY_OF_WHEEL_DOWN);
	assert_int_equal(s->view.at, WHEEL_ROWS);
	view_key(&s->view, KEY_OF_WHEEL_UP);
	assert_int_equal(s->view.at, 0);
	keys_press(s, "?");
	view_key(&s->view, KEY_OF_WHEEL_DOWN);
	assert_int_equal(s->view.scroll, WHEEL_ROWS);
}

static void long_arguments_are_moved_up_to_their_end(void **state)
{
	struct shown *s = *state;
	char *before, *text;

	view_go_to_start(s);
	before = screen_draw(s, 80, 24);
	assert_null(strstr(before, "do :; done"));
	view_key(&s->view, KEY_OF_SHIFT_RIGHT);
	text = screen_draw(s, 80, 24);
	assert_non_null(strstr(text, "\u2514\u2500"));
	assert_string_not_equal(before, text);
	free(text);
	for (int i = 0; i < 100; i++) {
		view_key(&s->view, KEY_OF_SHIFT_RIGHT);
		free(screen_draw(s, 80, 24));
	}
	assert_in_range(s->view.shift, 1, 200);
	for (int i = 0; i < 100; i++)
		keys_press(s, "H");
	text = screen_draw(s, 80, 24);
	assert_string_equal(before, text);
	free(text);
	free(before);
}

static void stall_is_shown_in_two_lines_with_the_holder_in_the_first(void **state)
{
	struct shown *s = *state;
	struct line line = { 0 };
	char text[512], *screen;

	view_done(&s->view);
	model_done(&s->model);
	view_init(&s->view, &s->model, NULL);
	screen = file_read(RECORDED);
	lines_take(&s->model, screen, 20);
	free(screen);
	snprintf(text, sizeof(text),
		 "{\"kind\":\"event\",\"time\":1795395575.4,\"event\":\"stalled\","
		 "\"since_time\":1795395575.2,\"reason\":\"2147 flock waits for a lock (flock) "
		 "held by 2148 sleep, on /tmp/a folder with a long name/lock\"}");
	assert_int_equal(line_read_quick(&line, text, strlen(text)), 0);
	assert_int_equal(model_take(&s->model, &line), 0);
	line_done(&line);
	s->model.stall_at_ns = 0;
	assert_golden_screen(s, "top_stalled.txt", 80, 24);
}

static void choice_of_columns_is_saved_and_read_again(void **state)
{
	char text[] = "# a comment\ncolumns = PID,+RSS,nonsense,COMMAND\nsort = RSS\n"
		      "reverse = yes\nflat = no\nrubbish\nsort = WAITS FOR\n";
	struct shown *s = *state;
	struct saved saved, again;

	saved_init(&saved);
	assert_false(saved.columns[0] >> COLUMN_USER & 1);
	assert_true(saved.columns[1] >> COLUMN_USER & saved.columns[1] >> COLUMN_JOB & 1);
	saved_parse(&saved, text);
	assert_int_equal(saved.columns[0],
			 1U << COLUMN_PID | 1U << COLUMN_SUM_RSS | 1U << COLUMN_COMMAND);
	assert_int_equal(saved.sort, COLUMN_RSS);
	assert_true(saved.is_reversed);
	view_done(&s->view);
	view_init(&s->view, &s->model, &saved);
	assert_shows(s, "    PID   +RSS COMMAND");
	view_save(&s->view, &again);
	assert_true(saved_is(&saved, &again));
	keys_press(s, "t");
	view_save(&s->view, &again);
	assert_false(saved_is(&saved, &again));
}

#define GPU_START 1763690000

/* A run of two samples, in which process 7 used a GPU for half of the second. */
static void take_run_of_gpus(struct shown *s, const char *idle)
{
	char text[2048];

	model_done(&s->model);
	snprintf(text, sizeof(text),
		 "{\"kind\":\"meta\",\"schema\":\"bpfmon/1\",\"start_time\":%d,"
		 "\"interval_seconds\":1}\n"
		 "{\"kind\":\"sample\",\"elapsed_seconds\":1,\"processes\":1}\n"
		 "{\"kind\":\"process_sample\",\"elapsed_seconds\":1,\"pid\":7,\"comm\":\"train\","
		 "\"start_time\":%d,\"ppid\":1,\"uid\":0,\"gpu_seconds\":1}\n"
		 "{\"kind\":\"sample\",\"elapsed_seconds\":2,\"processes\":1,\"gpus_held\":2,"
		 "\"gpus_used\":0.5%s,\"gpu_memory_bytes\":2147483648,\"gpu_power_watts\":512}\n"
		 "{\"kind\":\"process_sample\",\"elapsed_seconds\":2,\"pid\":7,\"comm\":\"train\","
		 "\"start_time\":%d,\"ppid\":1,\"uid\":0,\"gpu_seconds\":1.5,"
		 "\"gpu_memory_bytes\":2147483648}\n",
		 GPU_START, GPU_START, idle, GPU_START);
	lines_take(&s->model, text, SIZE_MAX);
	s->view.is_built = false;
}

static void gpus_are_shown_of_the_run_and_its_processes(void **state)
{
	struct shown *s = *state;

	take_run_of_gpus(s, "");
	assert_shows(s, "\nGPU     0.50 of 2 held, 2.0 GiB, 512 W\n");
	assert_shows(s, "  GPU% GPU-MEM ");
	assert_shows(s, "  50.0    2.0G ");
	take_run_of_gpus(s, ",\"gpus_idle\":1");
	assert_shows(s, "\nGPU     0.50 of 2 held, 2.0 GiB, 512 W, 1 idle\n");
	keys_press(s, "c");
	assert_shows(s, "[x] GPU-MEM   GPU memory\n");
}

static void page_of_a_process_has_its_gpus(void **state)
{
	struct shown *s = *state;

	take_run_of_gpus(s, "");
	s->view.pid_to_select = 7;
	assert_shows(s, "train");
	view_key(&s->view, KEY_OF_ENTER);
	assert_shows(s, "\nGPU                   1.50 s         1.50 s\n");
	assert_shows(s, "\nGPU memory           2.0 GiB        2.0 GiB\n");
}

static void run_without_gpus_has_no_word_about_them(void **state)
{
	struct shown *s = *state;

	assert_shows_no(s, "GPU");
	keys_press(s, "c");
	assert_shows_no(s, "GPU");
	for (int i = 0; i < NR_COLUMNS; i++)
		keys_press(s, "k");
	for (int i = 0; i < COLUMN_READ - 2; i++)
		keys_press(s, "j");
	assert_int_equal(s->view.cursor, COLUMN_READ);
}

static void list_of_jobs_has_gpus_if_one_holds_some(void **state)
{
	struct node_job_row jobs[] = { { .run = (char *)"a", .id = (char *)"slurm/1" },
				       { .run = (char *)"b", .id = (char *)"slurm/2" } };
	struct list_item items[] = { { .job = &jobs[0] }, { .job = &jobs[1] } };
	struct list l = { .items = items, .nr = 2 };
	struct shown *s = *state;
	char *row;

	assert_int_equal(screen_resize(&s->screen, 80, 8), 0);
	list_draw(&l, &s->screen, 1);
	row = screen_row_text(&s->screen, 3);
	assert_null(strstr(row, "GPU"));
	free(row);
	jobs[1].value[M_gpus_held] = 2;
	jobs[1].value[M_gpus_idle] = 2;
	metric_put(&jobs[1].have, M_gpus_held);
	metric_put(&jobs[1].have, M_gpus_used);
	metric_put(&jobs[1].have, M_gpus_idle);
	list_draw(&l, &s->screen, 1);
	row = screen_row_text(&s->screen, 3);
	assert_non_null(strstr(row, " GPUS "));
	free(row);
	row = screen_row_text(&s->screen, 5);
	assert_non_null(strstr(row, " 0.00 of 2, 2 idle "));
	free(row);
}

static void load_has_a_colour(void **state)
{
	(void)state;
	assert_int_equal(load_style(0), STYLE_DIM);
	assert_int_equal(load_style(0.01), STYLE_PLAIN);
	assert_int_equal(load_style(0.3), STYLE_CPU);
	assert_int_equal(load_style(0.7), STYLE_WARN);
	assert_int_equal(load_style(1), STYLE_HOT);
}

static void steering_bytes_and_wide_characters_are_measured_and_harmless(void **state)
{
	struct shown *s = *state;
	char *row;

	assert_int_equal(screen_resize(&s->screen, 8, 1), 0);
	assert_int_equal(screen_text(&s->screen, 0, 0, 8, STYLE_PLAIN, "\x1b[2J\xff\u202e"), 6);
	row = screen_row_text(&s->screen, 0);
	assert_string_equal(row, "?[2J??");
	free(row);
	screen_clear(&s->screen);
	assert_int_equal(screen_text(&s->screen, 0, 0, 8, STYLE_PLAIN, "e\u0301\u65e5\u672c"), 5);
	row = screen_row_text(&s->screen, 0);
	assert_string_equal(row, "e\u0301\u65e5\u672c");
	free(row);
	/* half of a wide one does not stay, and does not reach beyond its column */
	screen_text(&s->screen, 2, 0, 1, STYLE_PLAIN, "x");
	assert_int_equal(screen_text(&s->screen, 7, 0, 1, STYLE_PLAIN, "\u65e5"), 0);
	row = screen_row_text(&s->screen, 0);
	assert_string_equal(row, "e\u0301 x\u672c");
	free(row);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, shown_make, shown_free)
	const struct CMUnitTest tests[] = {
		TEST(screens_of_all_sizes_are_as_recorded),
		TEST(without_utf8_only_ascii_is_drawn),
		TEST(end_of_the_run_has_all_processes_by_program),
		TEST(one_process_is_shown_with_its_record),
		TEST(help_and_columns_are_shown),
		TEST(filter_shows_what_matches_and_what_is_above_it),
		TEST(what_is_folded_stays_in_the_sum),
		TEST(arrows_go_through_time_and_back_to_the_end),
		TEST(flat_list_has_no_branches),
		TEST(run_without_its_end_is_one_that_goes_on),
		TEST(click_selects_a_row_and_opens_it_and_sorts_by_a_title),
		TEST(wheel_moves_by_rows_and_scrolls_pages),
		TEST(long_arguments_are_moved_up_to_their_end),
		TEST(stall_is_shown_in_two_lines_with_the_holder_in_the_first),
		TEST(choice_of_columns_is_saved_and_read_again),
		TEST(gpus_are_shown_of_the_run_and_its_processes),
		TEST(page_of_a_process_has_its_gpus),
		TEST(run_without_gpus_has_no_word_about_them),
		TEST(list_of_jobs_has_gpus_if_one_holds_some),
		TEST(load_has_a_colour),
		TEST(steering_bytes_and_wide_characters_are_measured_and_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
