// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/whole_file.h"

#include "base/log.h"
#include "base/memory.h"
#include "bpfmon/roles/output.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES (1UL << 20) /* between checks for signals */

static volatile sig_atomic_t stopped_by;

bool stop_signals_came(void)
{
	return stopped_by != 0;
}

static int whole_file_put(struct output *out, const char *text, size_t length)
{
	size_t piece;
	int err = 0;

	for (size_t at = 0; !err && at < length && !stop_signals_came(); at += piece) {
		piece = length - at < PIECE_BYTES ? length - at : PIECE_BYTES;
		output_put(out, text + at, piece);
		err = output_flush(out);
	}
	if (!err && stop_signals_came())
		err = -EINTR;
	if (!err && memory_has_failed()) /* part of the text may be missing */
		err = -ENOMEM;
	/* a full disk may show only here */
	if (!err && out->is_regular && fsync(out->fd))
		err = -errno;
	return err ? err : output_commit(out);
}

static int whole_file_report(const char *what, const char *path, int err, const char *why)
{
	if (err == -EEXIST)
		log_error("'%s' exists; use --force to overwrite it", path);
	else if (err)
		log_error("cannot write the %s to '%s': %s", what, path,
			  why ? why : strerror(-err));
	return err;
}

static void stop_signal_note(int sig)
{
	stopped_by = sig;
}

static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

#define NR_SIGNALS (sizeof(signals) / sizeof(*signals))

static void stop_signals_handle(void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler }, old;

	for (size_t i = 0; i < NR_SIGNALS; i++)
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

void stop_signals_catch(void)
{
	stop_signals_handle(stop_signal_note);
}

void stop_signals_release(void)
{
	stop_signals_handle(SIG_DFL);
	if (stopped_by)
		raise(stopped_by);
}

int whole_file_write(const char *what, const char *path, bool force, const char *text,
		     size_t length)
{
	bool did_exit = memory_exit_on_failure(false); /* an incomplete file has to be removed */
	struct output out;
	int err = output_open_whole(&out, path, force), closed;
	const char *why = out.why;

	if (!err) {
		if (out.is_regular) /* a signal may end a write to a pipe at once */
			stop_signals_catch();
		err = whole_file_put(&out, text, length);
		closed = output_close(&out);
		err = err ? err : closed;
		stop_signals_release();
	}
	memory_exit_on_failure(did_exit);
	return whole_file_report(what, path, err, why);
}

int whole_file_check(const char *what, const char *path, bool force)
{
	struct output out;
	struct stat st;
	bool did_exit;
	int err;

	/* closing a pipe would end it for its reader */
	if (!strcmp(path, "-") || (!stat(path, &st) && S_ISFIFO(st.st_mode)))
		return 0;
	did_exit = memory_exit_on_failure(false);
	err = output_open_whole(&out, path, force);
	if (!err)
		output_close(&out); /* without a commit no file is created or replaced */
	memory_exit_on_failure(did_exit);
	return whole_file_report(what, path, err, out.why);
}

void whole_file_remove(const char *path)
{
	struct stat st;
	struct output out;
	bool did_exit;

	if (!strcmp(path, "-") || stat(path, &st) || !S_ISREG(st.st_mode))
		return;
	did_exit = memory_exit_on_failure(false);
	if (!output_open_whole(&out, path, true)) { /* with its checks of whose file it is */
		unlinkat(out.at.folder, out.at.name, 0);
		output_close(&out);
	}
	memory_exit_on_failure(did_exit);
}

void whole_file_announce(const char *what, const char *path, const char *also)
{
	if (also)
		log_note("the %s is in '%s' and '%s'", what, path, also);
	else if (strcmp(path, "-") != 0)
		log_note("the %s is in '%s'", what, path);
}
