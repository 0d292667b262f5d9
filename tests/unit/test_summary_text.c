// SPDX-License-Identifier: BSD-2-Clause
/* The summary for people, line by line; as a whole it is in tests/data/golden/. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "summary_text_fixture.h"
#include "text/terminal.h"

/* One process of @exe, of which only that one metric is known. */
static void add_process(struct summary *s, const char *exe, enum metric_id id, uint64_t value)
{
	struct process p = { .exe = exe };

	p.value[id] = value;
	metric_put(&p.have, id);
	assert_int_equal(summary_add_process(s, &p), 0);
}

/* The run as a whole has all that the table of programs shows. */
static void know_all(struct summary *s)
{
	sample_set(&s->total, M_cpu, 0);
	sample_set(&s->total, M_read, 0);
	sample_set(&s->total, M_write, 0);
}

/* Programs p0, p1, ... that have used a second each. */
static void add_programs(struct summary *s, int n)
{
	char exe[32];

	for (int i = 0; i < n; i++) {
		snprintf(exe, sizeof(exe), "p%d", i);
		add_process(s, exe, M_cpu, 1000000000);
	}
}

static void what_programs_pushed_and_what_was_not_taken_is_shown(void **state)
{
	struct summary s = { .pushed = { .marks = 12, .metrics = 3400 } };

	(void)state;
	assert_shown(&s, "  pushed      12 marks, 3,400 metrics\n");
	s.pushed = (struct pushed_counts){ .dropped = 3, .refused = 4, .malformed = 5 };
	assert_shown(&s, "  pushed      0 marks, 0 metrics; 3 dropped: too many at once; "
			 "4 refused: not from the command; 5 malformed\n");
}

static void text_of_a_summary_that_knows_nothing_is_short(void **state)
{
	struct summary s = { 0 };
	char *text = summary_text(&s, NULL, 0);

	(void)state;
	assert_string_equal(text, "bpfmon: the command's end was not seen\n"
				  "  INCOMPLETE:\n");
	free(text);
}

static void only_a_summary_of_the_collector_has_the_cost_of_bpfmon(void **state)
{
	struct summary s = { .samples = 1, .drains = 1, .map_bytes = 1000 };

	(void)state;
	assert_shown(&s,
		     "not seen after 0 s\n  INCOMPLETE:\n"
		     "  bpfmon      0 s CPU; memory: collector -, recorder -, kernel 1.0 KiB\n");
}

static void what_is_not_known_of_a_program_is_a_dash(void **state)
{
	struct summary s = { 0 };

	(void)state;
	know_all(&s);
	add_process(&s, "reader", M_read, 4096);
	assert_shown(&s, "  reader                                     1           -    4.0 KiB "
			 "         -\n");
}

static void zero_of_a_program_is_shown_as_zero(void **state)
{
	struct summary s = { 0 };

	(void)state;
	know_all(&s);
	add_process(&s, "idle", M_cpu, 0);
	assert_shown(&s, "  idle                                       1         0 s          - "
			 "         -\n");
}

static void what_is_not_known_of_the_others_is_a_dash(void **state)
{
	struct summary s = { 0 };

	(void)state;
	know_all(&s);
	add_programs(&s, 12);
	assert_shown(&s, "  others (2 programs)                        2      2.00 s          - "
			 "         -\n");
}

static void others_are_the_sum_of_what_is_known(void **state)
{
	struct summary s = { 0 };

	(void)state;
	know_all(&s);
	add_programs(&s, 11);
	add_process(&s, "reader", M_read, 4096);
	assert_shown(&s, "  others (2 programs)                        2      1.00 s    4.0 KiB "
			 "         -\n");
}

/* A cgroup that was attached to. */
static struct summary attached(void)
{
	struct summary s = { .is_attached = true, .by_cgroup = true, .processes_total = 4 };

	know_all(&s);
	sample_set(&s.total, M_forks, 1);
	return s;
}

static void processes_that_entered_and_left_a_cgroup_are_counted(void **state)
{
	struct summary s = attached();

	(void)state;
	s.entered = 2;
	s.left = 1;
	assert_shown(&s, "processes   4, 0 execs; 2 moved in, 1 moved out\n");
}

static void values_of_the_cgroups_own_files_are_shown(void **state)
{
	struct summary s = attached();

	(void)state;
	sample_set(&s.total, M_cgroup_cpu, 2000000000);
	assert_shown(&s, "2.00 s is what the cgroup's own files said last\n");
}

static void throttling_by_a_cpu_limit_is_told_from_other_waits(void **state)
{
	struct summary s = attached();

	(void)state;
	sample_set(&s.total, M_cpu, 1);
	sample_set(&s.total, M_runqueue_wait, 3000000000);
	sample_set(&s.total, M_cgroup_throttled, 2000000000);
	assert_shown(&s, "waited      3.00 s for a CPU\n"
			 "              2.00 s for which the CPU limit throttled its cgroup\n");
}

static void assert_network_shown(uint64_t rx, uint64_t tx, uint64_t loopback_rx,
				 uint64_t loopback_tx, const char *line)
{
	struct summary s = attached();

	sample_set(&s.total, M_net_rx_tcp, rx);
	sample_set(&s.total, M_net_tx_tcp, tx);
	sample_set(&s.total, M_net_rx_udp, 0);
	sample_set(&s.total, M_net_tx_udp, 0);
	sample_set(&s.total, M_net_rx_other, 0);
	sample_set(&s.total, M_net_tx_other, 0);
	sample_set(&s.total, M_net_rx_loopback, loopback_rx);
	sample_set(&s.total, M_net_tx_loopback, loopback_tx);
	assert_shown(&s, line);
}

static void what_may_stay_on_this_machine_is_a_lower_bound(void **state)
{
	(void)state;
	assert_network_shown(
		9, 7, 0, 1,
		" 9 B received, 7 B sent; of these at least 1 B sent on this machine\n");
	assert_network_shown(
		9, 7, 9, 1,
		" 9 B received, 7 B sent; of these at least 9 B received and 1 B sent on "
		"this machine\n");
	assert_network_shown(
		9, 7, 2, 0,
		" 9 B received, 7 B sent; of these at least 2 B received on this machine\n");
	assert_network_shown(9, 0, 9, 0, " 9 B received, 0 B sent; all of it on this machine\n");
	assert_network_shown(9, 7, 0, 0, " 9 B received, 7 B sent\n");
}

static void uncertainty_of_the_cpu_time_after_moves_is_shown(void **state)
{
	struct summary s = attached();
	char *text;

	(void)state;
	s.cpu_unsure_ns = 12000000;
	assert_shown(&s, "up to 12.0 ms more or less: tasks were moved while they ran\n");
	s.cpu_unsure_ns = 0;
	text = summary_text(&s, NULL, 0);
	assert_null(strstr(text, "more or less"));
	free(text);
}

static void only_processes_leave_descendants_unfound(void **state)
{
	struct summary s = attached();
	char *text = summary_text(&s, NULL, 0);

	(void)state;
	assert_null(strstr(text, "descendants whose parent"));
	free(text);
	s.by_cgroup = false;
	assert_shown(&s, "descendants whose parent had ended before are not found\n");
	text = summary_text(&s, &(struct summary_view){ .is_of_job = true }, 0);
	assert_null(strstr(text, "descendants whose parent"));
	free(text);
}

static void a_run_of_a_command_has_no_moves(void **state)
{
	struct summary s = attached();

	(void)state;
	s.is_attached = s.by_cgroup = false;
	s.entered = 1;
	assert_shown(&s, "processes   4, 0 execs\n");
}

#define EVIL "\033]0;pwned\007\033[2J\n\302\233\342\200\256"

/* All that is text in it, as a file may have it. */
static void put_evil_everywhere(struct summary *s)
{
	struct holder holder = { .pid = 1, .comm = EVIL, .rss_bytes = 1 };

	summary_add_loss(s, EVIL, 3);
	snprintf(s->reason, sizeof(s->reason), "%s", EVIL);
	snprintf(s->not_kept, sizeof(s->not_kept), "%s", EVIL);
	snprintf(s->oom.comm, sizeof(s->oom.comm), "%s", EVIL);
	snprintf(s->oom.cgroup, sizeof(s->oom.cgroup), "%s", EVIL);
	s->oom_kills = s->oom.limit_bytes = 1;
	s->has_rss_peak = s->has_rss_peak_exact = true;
	holders_add(&s->holders, &holder);
	holder.exe = EVIL;
	holders_add(&s->holders, &holder);
	add_process(s, EVIL, M_cpu, 1);
}

static void no_text_of_a_file_steers_the_terminal(void **state)
{
	struct summary s = { 0 };
	char *text;

	(void)state;
	put_evil_everywhere(&s);
	text = summary_text(&s, NULL, 0);
	assert_null(strpbrk(text, "\033\007"));
	assert_null(strstr(text, "\302\233"));
	assert_null(strstr(text, "\342\200\256"));
	assert_null(strstr(text, "2J\n"));
	assert_non_null(strstr(text, "INCOMPLETE: ?]0;pwned??[2J???; lost 3 ?]0;pwned??[2J???\n"));
	free(text);
	summary_done(&s);
}

static void no_line_is_wider_than_asked_for(void **state)
{
	struct summary s = attached();

	(void)state;
	s.by_cgroup = false;
	put_evil_everywhere(&s);
	add_programs(&s, 12);
	s.programs[0].has_rss_peak = true;
	snprintf(s.reason, sizeof(s.reason), "%0150d and so on", 1);
	for (size_t width = 40; width < 120; width++) {
		char *text = summary_text(&s, NULL, width), *rest;

		for (char *l = strtok_r(text, "\n", &rest); l; l = strtok_r(NULL, "\n", &rest))
			assert_in_range(strlen(l), 1, width);
		free(text);
	}
	summary_done(&s);
}

/* The summary with marks of style, in colour or not; takes @s. */
static void assert_painted(struct summary *s, size_t width, enum colour_choice colour,
			   const char *line)
{
	static const struct summary_view view = { .has_styles = true };
	char *text;

	terminal_choose_colour(colour);
	text = terminal_paint(summary_text(s, &view, width), stdout);
	assert_non_null(text);
	if (!strstr(text, line))
		fail_msg("no %s in %s", line, text);
	free(text);
	summary_done(s);
}

#define RED(text) "\x1b[31m" text "\x1b[0m"

static void what_went_wrong_is_red_and_nothing_else(void **state)
{
	struct summary s = { .has_status = true, .complete = true };

	(void)state;
	assert_painted(&s, 0, COLOUR_ALWAYS, "bpfmon: the command ended with 0\n");
	s = (struct summary){ .has_status = true, .exit_code = 3, .reason = "it ended with 1" };
	assert_painted(
		&s, 0, COLOUR_ALWAYS,
		RED("bpfmon: the command ended with 3") "\n  " RED("INCOMPLETE:") " it ended");
	s = (struct summary){ .limit = { .text = "rss<1GiB", .is_end = true } };
	assert_painted(&s, 0, COLOUR_ALWAYS, "  " RED("ENDED") "       beyond rss<1GiB");
	s = (struct summary){ .limit = { .text = "rss<1GiB" } };
	assert_painted(&s, 0, COLOUR_ALWAYS, "  limit       beyond rss<1GiB");
	s = (struct summary){ .oom_kills = 1, .oom = { .comm = "a\x01\x03" } };
	assert_painted(&s, 0, COLOUR_ALWAYS, "  " RED("OOM-killed") "  a?\? (");
	s = (struct summary){ .not_kept = "no room" };
	assert_painted(&s, 0, COLOUR_ALWAYS, "  " RED("NOT SAVED") "   in the store: no room\n");
}

static void marks_of_style_take_no_columns_and_are_removed_without_colour(void **state)
{
	struct summary s = { .limit = { .text = "rss<1GiB", .is_end = true } };

	(void)state;
	assert_painted(&s, 0, COLOUR_NEVER, "\n  ENDED       beyond rss<1GiB");
	s = (struct summary){ .not_kept = "abcdefghi klmnopqr" };
	assert_painted(&s, 46, COLOUR_ALWAYS,
		       "\n  " RED("NOT SAVED") "   in the store: abcdefghi klmnopqr\n");
	s = (struct summary){ .not_kept = "abcdefghi klmnopqr" };
	assert_painted(
		&s, 45, COLOUR_ALWAYS,
		"\n  " RED("NOT SAVED") "   in the store: abcdefghi\n              klmnopqr\n");
}

static void a_short_summary_has_the_main_figures_and_all_trouble(void **state)
{
	const struct summary_view view = { .is_short = true, .what = "make" };
	struct summary s = { .has_status = true,
			     .exit_code = 2,
			     .kept_as = 7,
			     .processes_total = 1,
			     .wall_ns = 5000000,
			     .oom_kills = 2,
			     .oom = { .comm = "hog", .pid = 9 } };
	char *text;

	(void)state;
	summary_add_loss(&s, "stream_lines", 1);
	sample_set(&s.total, M_cpu, 2000000);
	text = summary_text(&s, &view, 0);
	assert_string_equal(
		text,
		"bpfmon: the command ended with 2 after 5.00 ms: make\n"
		"  OOM-killed  2 processes, one of them hog (9); the whole machine was out of "
		"memory\n"
		"  INCOMPLETE: lost 1 line (samples or processes are missing, totals are not "
		"affected)\n"
		"  used        2.00 ms CPU, 1 process\n"
		"  saved       as run 7: bpfmon show 7\n");
	free(text);
}

static void a_short_summary_names_the_program_with_the_most_cpu(void **state)
{
	const struct summary_view view = { .is_short = true, .what = "make" };
	struct summary s = { .has_status = true, .processes_total = 41, .wall_ns = 5000000 };
	char *text;

	(void)state;
	sample_set(&s.total, M_cpu, 9000000);
	summary_append_program(&s, "/usr/bin/sh")->value[M_cpu] = 1000000;
	text = summary_text(&s, &view, 0);
	assert_non_null(strstr(text, "\n  used        9.00 ms CPU, 41 processes\n"));
	free(text);
	summary_append_program(&s, "/usr/bin/python3.11")->value[M_cpu] = 8000000;
	text = summary_text(&s, &view, 0);
	assert_non_null(
		strstr(text, "\n  used        9.00 ms CPU, 41 processes, most CPU: python3.11\n"));
	free(text);
	summary_done(&s);
}

/* The loop is for widths; the message has the text. */
static void label_of_what_no_sample_saw_is_not_cut(void **state)
{
	struct summary s = { .bounds.is_from_proc = true, .complete = true };
	struct process p = { .exe = "/bin/cc", .has_rss_peak = true };

	(void)state;
	for (int id = 0; id < NR_METRICS; id++) {
		sample_set(&s.total, (enum metric_id)id, 9000000000);
		metric_put(&p.have, (enum metric_id)id);
	}
	assert_int_equal(summary_add_process(&s, &p), 0);
	for (size_t width = 50; width < 100; width++) {
		char *text = summary_text(&s, NULL, width);

		if (!strstr(text, "\n  (ended between samples) "))
			fail_msg("at %zu columns: %s", width, text);
		free(text);
	}
	summary_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_short_summary_has_the_main_figures_and_all_trouble),
		cmocka_unit_test(a_short_summary_names_the_program_with_the_most_cpu),
		cmocka_unit_test(what_programs_pushed_and_what_was_not_taken_is_shown),
		cmocka_unit_test(text_of_a_summary_that_knows_nothing_is_short),
		cmocka_unit_test(only_a_summary_of_the_collector_has_the_cost_of_bpfmon),
		cmocka_unit_test(what_is_not_known_of_a_program_is_a_dash),
		cmocka_unit_test(zero_of_a_program_is_shown_as_zero),
		cmocka_unit_test(what_is_not_known_of_the_others_is_a_dash),
		cmocka_unit_test(others_are_the_sum_of_what_is_known),
		cmocka_unit_test(processes_that_entered_and_left_a_cgroup_are_counted),
		cmocka_unit_test(values_of_the_cgroups_own_files_are_shown),
		cmocka_unit_test(throttling_by_a_cpu_limit_is_told_from_other_waits),
		cmocka_unit_test(what_may_stay_on_this_machine_is_a_lower_bound),
		cmocka_unit_test(uncertainty_of_the_cpu_time_after_moves_is_shown),
		cmocka_unit_test(only_processes_leave_descendants_unfound),
		cmocka_unit_test(a_run_of_a_command_has_no_moves),
		cmocka_unit_test(no_text_of_a_file_steers_the_terminal),
		cmocka_unit_test(no_line_is_wider_than_asked_for),
		cmocka_unit_test(label_of_what_no_sample_saw_is_not_cut),
		cmocka_unit_test(what_went_wrong_is_red_and_nothing_else),
		cmocka_unit_test(marks_of_style_take_no_columns_and_are_removed_without_colour),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
