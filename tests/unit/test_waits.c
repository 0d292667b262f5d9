// SPDX-License-Identifier: BSD-2-Clause
/* Tasks, calls and mounts in /proc are parsed; descriptors of other processes are searched. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "waits/waits.h"
#include "waits/look.h"
#include "waits/syscalls.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void a_name_with_brackets_and_controls_does_not_shift_the_fields_of_stat(void **state)
{
	struct task_stat s;

	(void)state;
	assert_int_equal(
		task_stat_parse(
			"7 (a) Z \x1b[2J\n(b) S 5 6 0 0 -1 0 0 0 0 0 0 0 0 0 20 0 3 0 4711 0\n",
			&s),
		0);
	assert_string_equal(s.comm, "a) Z ?[2J?(b");
	assert_int_equal(s.state, 'S');
	assert_int_equal(s.parent, 5);
	assert_int_equal(s.group, 6);
	assert_int_equal(s.threads, 3);
	assert_int_equal(s.start_ticks, 4711);
	assert_int_equal(s.stop_signal, 0);
	assert_true(task_stat_parse("7 (a) S 5", &s) < 0);
	assert_true(task_stat_parse("7 )a( S 5", &s) < 0);
	assert_true(task_stat_parse("", &s) < 0);
}

static void a_stopped_process_has_its_terminal_and_the_signal(void **state)
{
	static const char begin[] =
		"7 (a) T 5 6 6 34817 9 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 1 2 3 4 "
		"5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 "
		"28 29";
	struct task_stat s;
	char text[400];

	(void)state;
	snprintf(text, sizeof(text), "%s 21\n", begin);
	assert_int_equal(task_stat_parse(text, &s), 0);
	assert_int_equal(s.stop_signal, 21);
	assert_int_equal(s.foreground, 9);
	assert_int_equal(s.terminal, 34817);
	assert_int_equal(task_stat_parse(begin, &s), 0);
	assert_int_equal(s.stop_signal, 0);
}

static void a_call_is_read_with_its_arguments_and_none_of_a_program_of_32_bits(void **state)
{
	struct task_view t;

	(void)state;
	assert_true(task_call_parse(
		"0 0x3 0x7fc2 0x1 0x5600b67a34a0 0x0 0x0 0x7ffde0eb0bf8 0x7fc2cdb162ad", &t));
	assert_int_equal(t.call, 0);
	assert_int_equal(t.argument[0], 3);
	assert_int_equal(t.argument[3], 0x5600b67a34a0);
	assert_true(task_call_parse("-1 0x7ffde0eb0bf8 0x7fc2cdb162ad", &t));
	assert_int_equal(t.call, -1);
	assert_false(task_call_parse("3 0x3 0xff2 0x1 0x0 0x0 0x0 0xffae0bf8 0xf7fc62ad", &t));
	assert_false(task_call_parse("running", &t));
	assert_false(task_call_parse("0 0x3", &t));
}

static void calls_are_known_by_the_numbers_of_this_machine(void **state)
{
	struct task_view t = { .has_call = true, .call = SYS_ppoll };

	(void)state;
	assert_string_equal(call_of_task(&t)->name, "ppoll");
	t.call = SYS_flock;
	assert_int_equal(call_of_task(&t)->kind, CALL_FLOCK);
	t.call = 100000;
	assert_null(call_of_task(&t));
	t.call = SYS_flock;
	t.has_call = false;
	assert_null(call_of_task(&t));
}

/* The kernel refuses it; a tracer may show the call before that. */
static void the_least_number_names_no_group_of_children(void **state)
{
	struct task_view t = { .has_call = true, .call = SYS_wait4 };
	struct wait wait = { .pid = getpid() };

	(void)state;
	t.argument[0] = 0x80000000;
	children_look(&wait, &t);
	assert_true(wait.has_other_end);
	assert_int_equal(wait.peers, 0);
}

static void channels_have_a_kind_where_they_are_certain(void **state)
{
	(void)state;
	assert_int_equal(channel_kind("anon_pipe_read"), WAIT_PIPE_READ);
	assert_int_equal(channel_kind("pipe_read"), WAIT_PIPE_READ);
	assert_int_equal(channel_kind("futex_wait_queue"), WAIT_FUTEX);
	assert_int_equal(channel_kind("poll_schedule_timeout.constprop.0"), WAIT_POLL);
	assert_int_equal(channel_kind("wait_woken"), WAIT_OTHER);
	assert_int_equal(channel_kind("kernel_clone"), WAIT_CHILD);
	assert_int_equal(channel_kind(""), WAIT_OTHER);
	assert_string_equal(channel_disk("folio_wait_bit_common"), "the disk");
	assert_null(channel_disk("kernel_clone"));
}

/* The call is not readable with other users' rights. */
static void parent_in_vfork_waits_for_its_child_not_for_a_disk(void **state)
{
	struct task_view t = { .stat = { .state = 'D' }, .channel = "kernel_clone" };

	(void)state;
	assert_int_equal(detail_kind(&t), WAIT_CHILD);
	snprintf(t.channel, sizeof(t.channel), "folio_wait_bit_common");
	assert_int_equal(detail_kind(&t), WAIT_DISK);
}

static void a_number_of_fdinfo_is_that_of_the_whole_key(void **state)
{
	static const char text[] = "pos:\t3\nmnt_id:\t24\nino:\t1038\neventfd-id: 12\nflags:x\n";
	uint64_t number = 0;

	(void)state;
	assert_true(fdinfo_number(text, "pos", &number));
	assert_int_equal(number, 3);
	assert_true(fdinfo_number(text, "eventfd-id", &number));
	assert_int_equal(number, 12);
	assert_false(fdinfo_number(text, "id", &number));
	assert_false(fdinfo_number(text, "eventfd", &number));
	assert_false(fdinfo_number(text, "flags", &number));
	assert_false(fdinfo_number("", "pos", &number));
}

static FILE *mountinfo(void)
{
	static char text[] = "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
			     "43 22 0:39 / /mnt/a\\040b rw - fuse.sshfs me@nas:/ rw,user_id=0\n"
			     "44 22 0:45 / /home rw shared:7 - nfs4 nas:/export/home rw\n"
			     "45 44 0:46 / /home/local rw - tmpfs tmpfs rw\n"
			     "46 22 8:17 / /usb rw - fuseblk /dev/sdb1 rw\n"
			     "47 22 0:45 /x /srv/x rw - nfs4 nas:/export/home rw\n"
			     "rubbish\n";

	return fmemopen(text, sizeof(text) - 1, "r");
}

static void a_mount_is_found_by_its_number_and_by_the_longest_path(void **state)
{
	struct mount_view m;
	FILE *f = mountinfo();

	(void)state;
	assert_true(mount_find_id(f, 43, &m));
	assert_string_equal(m.point, "/mnt/a b");
	assert_string_equal(m.type, "fuse.sshfs");
	assert_int_equal(m.device, 39);
	rewind(f);
	assert_false(mount_find_id(f, 99, &m));
	rewind(f);
	assert_true(mount_find_path(f, "/home/me/file", &m));
	assert_string_equal(m.source, "nas:/export/home");
	rewind(f);
	assert_true(mount_find_path(f, "/home/local", &m));
	assert_string_equal(m.type, "tmpfs");
	rewind(f);
	assert_true(mount_find_path(f, "/homes/me", &m));
	assert_string_equal(m.type, "ext4");
	fclose(f);
}

static void a_mount_without_a_path_is_meant_if_there_is_one_of_its_kind(void **state)
{
	struct mount_view m;
	FILE *f = mountinfo();

	(void)state;
	assert_true(mount_find_only(f, SERVER_NFS, &m)); /* twice, but one file system */
	assert_string_equal(m.point, "/home");
	rewind(f);
	assert_false(mount_find_only(f, SERVER_FUSE, &m));
	rewind(f);
	assert_false(mount_find_only(f, SERVER_SMB, &m));
	fclose(f);
	assert_false(mount_find_id(NULL, 43, &m));
	assert_int_equal(mount_server_of("fuse"), SERVER_FUSE);
	assert_int_equal(mount_server_of("fusectl"), SERVER_NONE);
	assert_int_equal(mount_server_of("nfsd"), SERVER_NONE);
	assert_int_equal(mount_server_of(""), SERVER_NONE);
}

/* The second witness of call_path() is the test itself, whose memory it reads. */
static void the_path_of_a_call_is_absolute_and_has_no_dots(void **state)
{
	char name[] = "./a//../b/.", out[4096], whole[4200], folder[4096];
	struct task_view t = { .has_call = true, .call = SYS_openat };

	(void)state;
	assert_non_null(getcwd(folder, sizeof(folder)));
	snprintf(whole, sizeof(whole), "%s/b", folder);
	t.argument[0] = (uint64_t)AT_FDCWD;
	t.argument[1] = (uintptr_t)name;
	assert_true(call_path(getpid(), &t, out, sizeof(out)));
	assert_string_equal(out, whole);
	memcpy(name, "/../a/../..", 12);
	assert_true(call_path(getpid(), &t, out, sizeof(out)));
	assert_string_equal(out, "/");
	t.call = SYS_read;
	assert_false(call_path(getpid(), &t, out, sizeof(out)));
}

/* As before Linux 6.14 for FUSE; what may not look at all processes does not know. */
static void without_the_key_the_only_process_that_has_the_file_is_it(void **state)
{
	struct other_end end = { .is_wanted = true, .key = "no-such-key", .is_new_key = true };
	struct wait wait = { .pid = 1, .has_other_end = true };
	struct scan_item item = { &wait, &end };
	struct scan_memory memory = { 0 };
	int ends[2], gate[2];
	struct stat st;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pipe(gate), 0);
	assert_int_equal(fstat(ends[0], &st), 0);
	snprintf(end.link, sizeof(end.link), "pipe:[%lu]", (unsigned long)st.st_ino);
	assert_int_equal(scan_ends(&item, 1, NULL, 0, &memory), 0);
	assert_int_equal(wait.peers, wait.unread & WAIT_NO_OTHERS ? 0 : 1);
	assert_int_equal(wait.peer[0].pid, wait.peers ? getpid() : 0);
	child = fork();
	if (!child) {
		close(gate[1]);
		_exit(read(gate[0], &st, 1) != 0);
	}
	memset(&wait, 0, sizeof(wait));
	wait.pid = 1;
	assert_int_equal(scan_ends(&item, 1, NULL, 0, &memory), 0);
	assert_int_equal(wait.peers, 0);
	close(gate[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	close(gate[0]);
	close(ends[0]);
	close(ends[1]);
}

static void a_process_with_another_start_is_not_taken_for_it(void **state)
{
	struct waits *w = waits_new();
	uint64_t start;

	(void)state;
	assert_int_equal(waits_add(w, getpid(), 0), 0);
	assert_int_equal(waits_add(w, getpid(), 0), 0);
	assert_int_equal(waits_read(w, false), 0);
	assert_int_equal(waits_get(w, 0)->kind, WAIT_RUNS);
	start = waits_get(w, 0)->start_epoch_ns;
	waits_free(w);
	w = waits_new();
	assert_int_equal(waits_add(w, getpid(), start - 10000000000ull), 0);
	assert_int_equal(waits_read(w, true), 0);
	assert_int_equal(waits_get(w, 0)->kind, WAIT_ENDED);
	waits_free(w);
	w = waits_new();
	assert_int_equal(waits_add(w, getpid(), start), 0);
	assert_int_equal(waits_read(w, true), 0);
	assert_int_equal(waits_get(w, 0)->kind, WAIT_RUNS);
	waits_free(w);
}

/* A folder as /proc/PID/fd, with these links. */
static void gpu_files_of(const char *const *links, size_t nr, char text[GPU_FILES_TEXT])
{
	char folder[] = "/tmp/bpfmon-fd-XXXXXX", path[64];
	struct gpu_files g;

	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "%s/%zu", folder, i);
		assert_int_equal(symlink(links[i], path), 0);
	}
	gpu_files_read(&g, folder);
	gpu_files_text(&g, text);
	for (size_t i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "%s/%zu", folder, i);
		unlink(path);
	}
	rmdir(folder);
}

static void gpu_that_a_process_has_open_is_named_once(void **state)
{
	const char *const links[] = { "/dev/nvidia0",          "/dev/nvidia0",
				      "/dev/nvidiactl",        "/dev/nvidia-uvm",
				      "/dev/dri/card0",        "/dev/nvidia",
				      "pipe:[4711]",           "/home/ada/dev/nvidia0",
				      "/dev/nvidia0 (deleted)" };
	char text[GPU_FILES_TEXT];

	(void)state;
	gpu_files_of(links, sizeof(links) / sizeof(*links), text);
	assert_string_equal(text, "holds /dev/nvidia0 open");
	gpu_files_of((const char *const[]){ "/dev/dri/renderD128" }, 1, text);
	assert_string_equal(text, "holds /dev/dri/renderD128 open");
	gpu_files_of(links + 2, 7, text);
	assert_string_equal(text, "");
}

static void all_gpus_that_a_process_has_open_are_named(void **state)
{
	const char *const links[] = { "/dev/nvidia0", "/dev/nvidia11", "/dev/nvidia2" };
	char text[GPU_FILES_TEXT];

	(void)state;
	gpu_files_of(links, 3, text); /* in any order */
	assert_int_equal(strlen(text),
			 strlen("holds /dev/nvidia0, /dev/nvidia11 and /dev/nvidia2 open"));
	for (size_t i = 0; i < 3; i++)
		assert_non_null(strstr(text, links[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_name_with_brackets_and_controls_does_not_shift_the_fields_of_stat),
		cmocka_unit_test(a_stopped_process_has_its_terminal_and_the_signal),
		cmocka_unit_test(
			a_call_is_read_with_its_arguments_and_none_of_a_program_of_32_bits),
		cmocka_unit_test(calls_are_known_by_the_numbers_of_this_machine),
		cmocka_unit_test(gpu_that_a_process_has_open_is_named_once),
		cmocka_unit_test(all_gpus_that_a_process_has_open_are_named),
		cmocka_unit_test(the_least_number_names_no_group_of_children),
		cmocka_unit_test(channels_have_a_kind_where_they_are_certain),
		cmocka_unit_test(parent_in_vfork_waits_for_its_child_not_for_a_disk),
		cmocka_unit_test(a_number_of_fdinfo_is_that_of_the_whole_key),
		cmocka_unit_test(a_mount_is_found_by_its_number_and_by_the_longest_path),
		cmocka_unit_test(a_mount_without_a_path_is_meant_if_there_is_one_of_its_kind),
		cmocka_unit_test(without_the_key_the_only_process_that_has_the_file_is_it),
		cmocka_unit_test(the_path_of_a_call_is_absolute_and_has_no_dots),
		cmocka_unit_test(a_process_with_another_start_is_not_taken_for_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
