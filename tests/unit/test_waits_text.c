// SPDX-License-Identifier: BSD-2-Clause
/* Sentences about waits are plain, inert and bounded. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "waits/task.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char *said(struct wait *w)
{
	static char text[WAIT_TEXT];

	wait_text(w, text, sizeof(text));
	return text;
}

static void a_sentence_names_what_is_waited_for_and_who_has_it(void **state)
{
	struct wait w = { .pid = 1,
			  .kind = WAIT_LOCK,
			  .lock = "FLOCK",
			  .lock_last = UINT64_MAX,
			  .object = "/data/x.lock",
			  .state = 'S',
			  .has_other_end = true,
			  .peers = 1,
			  .peer = { { 4711, "cp", 'S' } } };

	(void)state;
	assert_string_equal(said(&w), "waits for a lock (flock) held by 4711 cp, on /data/x.lock");
	w.peers = 0;
	assert_string_equal(said(&w),
			    "waits for a lock (flock) held by no process, on /data/x.lock");
	w.unread = WAIT_NO_OTHERS;
	assert_string_equal(said(&w), "waits for a lock (flock) held by no process that this "
				      "user may read, on /data/x.lock");
	w = (struct wait){ .kind = WAIT_DISK,
			   .state = 'D',
			   .channel = "folio_wait_bit_common",
			   .object = "/x",
			   .call = "read" };
	assert_string_equal(said(&w),
			    "uninterruptible: waits for the disk (folio_wait_bit_common), file /x");
	w = (struct wait){ .kind = WAIT_SERVER,
			   .state = 'D',
			   .channel = "rpc_wait_bit_killable",
			   .object = "/home/x",
			   .call = "read" };
	assert_string_equal(said(&w),
			    "waits for a file server (NFS), file /home/x; uninterruptible");
	snprintf(w.mount, sizeof(w.mount), "/home");
	snprintf(w.mount_type, sizeof(w.mount_type), "nfs4");
	snprintf(w.mount_source, sizeof(w.mount_source), "nas:/export/home");
	assert_string_equal(said(&w), "waits for the file system at /home (nfs4), served by "
				      "nas:/export/home, file /home/x; uninterruptible");
	w = (struct wait){ .kind = WAIT_UNREAD, .state = 'S' };
	assert_string_equal(said(&w), "waits, but only root and its user can see for what");
	w = (struct wait){
		.kind = WAIT_CHILD,
		.peers = 9,
		.peer = { { 1, "a", 'T' }, { 2, "b", 'S' }, { 3, "c", 'Z' }, { 4, "", 0 } }
	};
	assert_string_equal(
		said(&w),
		"waits for one of its 9 children: 1 a (stopped), 2 b, 3 c (ended), 4 and 5 more");
}

static void a_stop_is_put_down_to_the_terminal_only_if_the_signal_is_its(void **state)
{
	struct wait w = { .kind = WAIT_STOPPED, .stop_signal = SIGTTOU, .object = "/dev/pts/3" };

	(void)state;
	assert_string_equal(said(&w), "stopped by SIGTTOU: it writes to /dev/pts/3, or changes it, "
				      "in the background");
	w.stop_signal = 0; /* not shown, as by older kernels */
	assert_string_equal(said(&w),
			    "stopped by a signal, while it uses /dev/pts/3 in the background");
	w.object[0] = '\0';
	assert_string_equal(said(&w), "stopped by a signal");
	w.stop_signal = SIGTSTP;
	assert_string_equal(said(&w), "stopped by SIGTSTP (Ctrl-Z)");
	w.stop_signal = SIGSTOP;
	assert_string_equal(said(&w), "stopped by a signal");
}

static void every_kind_has_a_word_and_a_sentence(void **state)
{
	(void)state;
	for (int kind = 0; kind < NR_WAIT_KINDS; kind++) {
		struct wait w = { .kind = (enum wait_kind)kind };

		assert_non_null(wait_kind_name(w.kind));
		assert_true(strlen(said(&w)) > 3);
		assert_null(strchr(said(&w), '%'));
	}
}

static void a_text_is_cut_to_the_room_there_is(void **state)
{
	struct wait w = { .kind = WAIT_TERMINAL, .object = "/dev/pts/3" };
	char text[16] = "", none = 'x';

	(void)state;
	wait_text(&w, text, 10);
	assert_string_equal(text, "waits for");
	wait_text(&w, &none, 0);
	assert_int_equal(none, 'x');
}

static void long_names_are_cut_at_a_character(void **state)
{
	char out[12];

	(void)state;
	text_copy_inert(out, sizeof(out), "aaaaaaa\xc3\xa4xxxxxx");
	assert_string_equal(out, "aaaaaaa...");
	path_copy_inert(out, sizeof(out), "/aaaaaaaaaaaaa\xc3\xa4xxxxxxx");
	assert_string_equal(out, "...xxxxxxx");
	text_copy_inert(out, sizeof(out), "a\x1b\xff");
	assert_string_equal(out, "a??");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sentence_names_what_is_waited_for_and_who_has_it),
		cmocka_unit_test(a_stop_is_put_down_to_the_terminal_only_if_the_signal_is_its),
		cmocka_unit_test(every_kind_has_a_word_and_a_sentence),
		cmocka_unit_test(a_text_is_cut_to_the_room_there_is),
		cmocka_unit_test(long_names_are_cut_at_a_character),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
