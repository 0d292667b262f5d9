// SPDX-License-Identifier: BSD-2-Clause
/* What /proc says about tasks, locks and sockets is parsed; sentences about it are plain, inert and
 * bounded. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "waits/syscalls.h"
#include "waits/fdinfo.h"
#include "waits/locks.h"
#include "waits/look.h"
#include "waits/waits_memory.h"
#include "waits/sockets.h"
#include "waits/task.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
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
	assert_int_equal(channel_kind(""), WAIT_OTHER);
	assert_string_equal(channel_disk("folio_wait_bit_common"), "the disk");
	assert_null(channel_disk("kernel_clone"));
}

static const char locks[] = "1: POSIX  ADVISORY  WRITE 18002 fe:00:10953612 0 EOF\n"
			    "1: -> POSIX  ADVISORY  WRITE 18101 fe:00:10953612 0 EOF\n"
			    "2: FLOCK  ADVISORY  READ 18002 fe:00:10953611 0 EOF\n"
			    "2: -> FLOCK  ADVISORY  WRITE 18100 fe:00:10953611 0 EOF\n"
			    "2:  -> FLOCK  ADVISORY  WRITE 18103 fe:00:10953611 0 EOF\n"
			    "3: OFDLCK ADVISORY  WRITE -1 fe:00:10953499 0 9\n"
			    "3: -> OFDLCK ADVISORY  WRITE -1 fe:00:10953499 0 4\n"
			    "4: OFDLCK ADVISORY  WRITE -1 fe:00:10953499 50 EOF\n"
			    "4: -> OFDLCK ADVISORY  READ -1 fe:00:10953499 60 69\n"
			    "5: LEASE  BREAKING  READ 18002 fe:00:10954182 0 EOF\n"
			    "5: -> LEASE  BREAKER   READ 18105 <none>:0 0 EOF\n";

static void a_lock_is_found_by_the_process_that_waits_for_it(void **state)
{
	struct file_lock asked = { .pid = 18101, .first = 1 }, held;

	(void)state;
	assert_true(locks_find(locks, &asked, &held));
	assert_string_equal(held.kind, "POSIX");
	assert_int_equal(held.pid, 18002);
	assert_int_equal(held.major, 0xfe);
	assert_int_equal(held.inode, 10953612);
	asked = (struct file_lock){ .pid = 18103, .first = 1 };
	assert_true(locks_find(locks, &asked, &held));
	assert_string_equal(held.kind, "FLOCK");
	assert_true(asked.writes);
	asked = (struct file_lock){ .pid = 18103, .kind = "POSIX", .first = 1 };
	assert_false(locks_find(locks, &asked, &held));
	asked = (struct file_lock){ .pid = 18002, .first = 1 };
	assert_false(locks_find(locks, &asked, &held));
}

static void a_lock_of_an_open_file_is_found_by_the_file_and_its_bytes(void **state)
{
	struct file_lock asked = { .pid = -1, .inode = 10953499, .first = 60, .last = 69 }, held;

	(void)state;
	assert_true(locks_find(locks, &asked, &held));
	assert_string_equal(held.kind, "OFDLCK");
	assert_int_equal(held.pid, -1);
	assert_int_equal(held.first, 50);
	assert_true(held.last == UINT64_MAX);
	assert_false(asked.writes);
	asked = (struct file_lock){ .pid = -1, .inode = 4711, .first = 1 };
	assert_false(locks_find(locks, &asked, &held));
}

static void the_breaker_of_a_lease_waits_for_the_process_that_has_it(void **state)
{
	struct file_lock asked = { .pid = 18105, .first = 1 }, held;

	(void)state;
	assert_true(locks_find(locks, &asked, &held));
	assert_string_equal(held.kind, "LEASE");
	assert_int_equal(held.pid, 18002);
	assert_non_null(locks_next_holder(locks, &asked, &held));
	assert_int_equal(held.inode, 10954182);
}

static void a_holder_has_a_lock_of_the_same_kind_and_bytes(void **state)
{
	const struct file_lock write = { "OFDLCK", true, -1, 8, 1, 5, 10, 19 };
	struct file_lock held = { "POSIX", false, 7, 8, 1, 5, 19, UINT64_MAX };

	(void)state;
	assert_true(lock_conflicts(&held, &write));
	held.first = 20;
	assert_false(lock_conflicts(&held, &write));
	held = (struct file_lock){ "FLOCK", true, 7, 8, 1, 5, 0, UINT64_MAX };
	assert_false(lock_conflicts(&held, &write));
	held = (struct file_lock){ "OFDLCK", true, -1, 8, 1, 6, 0, UINT64_MAX };
	assert_false(lock_conflicts(&held, &write));
	assert_true(fdinfo_has_conflict(
		"pos:\t0\nlock:\t1: OFDLCK ADVISORY  READ -1 08:01:5 0 10\n", &write));
	assert_false(fdinfo_has_conflict(
		"pos:\t0\nlock:\t1: OFDLCK ADVISORY  READ -1 08:01:5 0 9\n", &write));
	assert_false(fdinfo_has_conflict("pos:\t0\n", &write));
}

static void two_that_read_do_not_wait_for_each_other_and_none_for_its_own_lock(void **state)
{
	struct file_lock held = { "POSIX", false, 7, 8, 1, 5, 0, 9 };
	struct file_lock request = { "POSIX", false, 8, 8, 1, 5, 0, 9 };

	(void)state;
	assert_false(lock_conflicts(&held, &request));
	request.writes = true;
	assert_true(lock_conflicts(&held, &request));
	request.pid = 7;
	assert_false(lock_conflicts(&held, &request));
}

static bool text_has_request(const char *text, pid_t pid)
{
	struct file_lock asked = { .pid = pid, .first = 1 }, held;

	return locks_find(text, &asked, &held);
}

static void no_line_of_rubbish_is_a_lock(void **state)
{
	(void)state;
	assert_false(text_has_request("1: -> FLOCK ADVISORY WRITE 7 fe:00:1 0 EOF", 7));
	assert_false(text_has_request("no colon\n:\n1:\n1: ->\n", 0));
	assert_false(text_has_request("1: FLOCK ADVISORY WRITE 6 fe:00:1 0 EOF\nrubbish\n"
				      "1: -> FLOCK ADVISORY WRITE 7 fe:00:1 0 EOF\n",
				      7));
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

#define ROW(local, remote, inode)                                                                  \
	"   1: " local " " remote                                                                  \
	" 01 00000000:00000000 00:00000000 00000000  1000        0 " inode " 1 0\n"

static void both_ends_of_a_connection_are_in_the_table(void **state)
{
	static const char table[] = "  sl  local_address rem_address   st tx_queue rx_queue tr "
				    "tm->when retrnsmt   uid  timeout inode\n" //
		ROW("0100007F:1F90", "00000000:0000", "4711")                  //
		ROW("0100007F:9C40", "0100007F:1F90", "4712")
			ROW("0100007F:1F90", "0100007F:9C40", "4713");
	struct socket_view v = { .peer = 0 };

	(void)state;
	assert_true(net_table_find(table, NULL, 4712, "tcp", &v));
	assert_string_equal(v.local, "127.0.0.1:40000 (tcp)");
	assert_string_equal(v.remote, "127.0.0.1:8080 (tcp)");
	assert_int_equal(v.peer, 4713);
	memset(&v, 0, sizeof(v));
	assert_true(net_table_find(table, NULL, 4711, "tcp", &v));
	assert_string_equal(v.local, "127.0.0.1:8080 (tcp)");
	assert_string_equal(v.remote, "");
	assert_int_equal(v.peer, 0);
	assert_false(net_table_find(table, NULL, 471, "tcp", &v));
	assert_false(net_table_find("", NULL, 4711, "tcp", &v));
	assert_false(net_table_find(NULL, NULL, 4711, "tcp", &v));
}

static void the_other_end_may_be_in_the_table_of_the_other_version(void **state)
{
	static const char six[] = ROW("0000000000000000FFFF00000100007F:1F90",
				      "0000000000000000FFFF00000100007F:9C40", "4713");
	static const char four[] = ROW("0100007F:9C40", "0100007F:1F90", "4712");
	struct socket_view v = { .peer = 0 };

	(void)state;
	assert_true(net_table_find(six, four, 4713, "tcp", &v));
	assert_string_equal(v.remote, "127.0.0.1:40000 (tcp)");
	assert_int_equal(v.peer, 4712);
	memset(&v, 0, sizeof(v));
	assert_true(net_table_find(four, six, 4712, "tcp", &v));
	assert_int_equal(v.peer, 4713);
}

#define ROW_OF(local, remote, state, queued, inode)                                                \
	"   1: " local " " remote " " state " 00000000:" queued                                    \
	" 00:00000000 00000000  1000        0 " inode " 1 0\n"

static uint64_t listener_of(const char *text, const char *others, uint64_t inode, unsigned *queued)
{
	struct socket_view v = { .peer = 0 };

	assert_true(net_table_find(text, others, inode, "tcp", &v));
	*queued = v.queued;
	return v.listener;
}

static void what_listens_is_known_of_a_connection_to_this_machine_that_is_not_answered(void **state)
{
	static const char four[] =
		ROW_OF("00000000:1F90", "00000000:0000", "0A", "00000002", "10") //
		ROW_OF("0100007F:9C40", "0100007F:1F90", "02", "00000000",
		       "11") ROW_OF("0A00000A:9C41", "0B00000A:1F90", "02", "00000000", "12")
			ROW_OF("0A00000A:9C42", "0A00000A:1F90", "02", "00000000", "13") ROW_OF(
				"0100007F:9C43", "0100007F:1F91", "02", "00000000", "14")
				ROW_OF("0100007F:9C44", "0100007F:1F90", "01", "00000000", "15");
	static const char six[] =
		ROW_OF("00000000000000000000000000000000:1F91",
		       "00000000000000000000000000000000:0000", "0A", "00000000", "20");
	unsigned queued;

	(void)state;
	assert_int_equal(listener_of(four, six, 11, &queued), 10);
	assert_int_equal(queued, 2);
	assert_int_equal(listener_of(four, six, 12, &queued), 0); /* of another machine */
	assert_int_equal(listener_of(four, six, 13, &queued), 10);
	assert_int_equal(listener_of(four, six, 14, &queued), 20);
	assert_int_equal(queued, 0);
	assert_int_equal(listener_of(four, six, 15, &queued), 0); /* it is connected */
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
	assert_int_equal(scan_ends(&item, 1, NULL, &memory, true), 0);
	assert_int_equal(wait.peers, wait.unread & WAIT_NO_OTHERS ? 0 : 1);
	assert_int_equal(wait.peer[0].pid, wait.peers ? getpid() : 0);
	child = fork();
	if (!child) {
		close(gate[1]);
		_exit(read(gate[0], &st, 1) != 0);
	}
	memset(&wait, 0, sizeof(wait));
	wait.pid = 1;
	assert_int_equal(scan_ends(&item, 1, NULL, &memory, true), 0);
	assert_int_equal(wait.peers, 0);
	close(gate[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	close(gate[0]);
	close(ends[0]);
	close(ends[1]);
}

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
	assert_string_equal(said(&w), "waits for a lock (flock) on /data/x.lock, held by 4711 cp");
	w.peers = 0;
	assert_string_equal(said(&w),
			    "waits for a lock (flock) on /data/x.lock, held by no process");
	w.unread = WAIT_NO_OTHERS;
	assert_string_equal(said(&w), "waits for a lock (flock) on /data/x.lock, held by no "
				      "process that may be looked at");
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
	assert_string_equal(
		said(&w), "waits; for what is not readable without root or the rights of its user");
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
	assert_string_equal(said(&w), "stopped by SIGTSTP, as by Ctrl-Z");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_name_with_brackets_and_controls_does_not_shift_the_fields_of_stat),
		cmocka_unit_test(a_stopped_process_has_its_terminal_and_the_signal),
		cmocka_unit_test(
			a_call_is_read_with_its_arguments_and_none_of_a_program_of_32_bits),
		cmocka_unit_test(calls_are_known_by_the_numbers_of_this_machine),
		cmocka_unit_test(the_least_number_names_no_group_of_children),
		cmocka_unit_test(channels_have_a_kind_where_they_are_certain),
		cmocka_unit_test(a_lock_is_found_by_the_process_that_waits_for_it),
		cmocka_unit_test(a_lock_of_an_open_file_is_found_by_the_file_and_its_bytes),
		cmocka_unit_test(the_breaker_of_a_lease_waits_for_the_process_that_has_it),
		cmocka_unit_test(a_holder_has_a_lock_of_the_same_kind_and_bytes),
		cmocka_unit_test(
			two_that_read_do_not_wait_for_each_other_and_none_for_its_own_lock),
		cmocka_unit_test(a_number_of_fdinfo_is_that_of_the_whole_key),
		cmocka_unit_test(no_line_of_rubbish_is_a_lock),
		cmocka_unit_test(both_ends_of_a_connection_are_in_the_table),
		cmocka_unit_test(the_other_end_may_be_in_the_table_of_the_other_version),
		cmocka_unit_test(
			what_listens_is_known_of_a_connection_to_this_machine_that_is_not_answered),
		cmocka_unit_test(a_mount_is_found_by_its_number_and_by_the_longest_path),
		cmocka_unit_test(a_mount_without_a_path_is_meant_if_there_is_one_of_its_kind),
		cmocka_unit_test(without_the_key_the_only_process_that_has_the_file_is_it),
		cmocka_unit_test(the_path_of_a_call_is_absolute_and_has_no_dots),
		cmocka_unit_test(a_sentence_names_what_is_waited_for_and_who_has_it),
		cmocka_unit_test(a_stop_is_put_down_to_the_terminal_only_if_the_signal_is_its),
		cmocka_unit_test(every_kind_has_a_word_and_a_sentence),
		cmocka_unit_test(a_text_is_cut_to_the_room_there_is),
		cmocka_unit_test(long_names_are_cut_at_a_character),
		cmocka_unit_test(a_process_with_another_start_is_not_taken_for_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
