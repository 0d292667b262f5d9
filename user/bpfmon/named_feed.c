// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/named_feed.h"

#include "base/log.h"
#include "store/named_run.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Exit status of the child. */
enum feed_answer { FEED_FOUND, FEED_REPORTED = 2, FEED_UNKNOWN = 3 };

static int feed_name_take(void *context, struct line *l)
{
	const char *text = json_string_value(json_object_get(l->tree, "live_socket"));

	snprintf(context, FEED_NAME_BYTES, "%s", text ? text : "");
	return 1;
}

/*
 * Reads the "live_socket" of the meta line of @s; "" if it has none. Returns 0 or an error of
 * source_each().
 */
static int feed_name_read(struct source *s, char name[FEED_NAME_BYTES])
{
	int err;

	name[0] = '\0';
	err = source_each(s, PART(LINE_META), feed_name_take, name);
	return err < 0 ? err : 0;
}

static int feed_report(const char *word, const struct named_run *r, const char *name)
{
	if (!r->file && r->run.state != RUN_RUNNING)
		log_error("run '%s' has ended; see: bpfmon show %s", word, r->label);
	else if (!*name)
		log_error("run '%s' has no live feed, because an older bpfmon records it", word);
	else
		return 0;
	return -ESRCH;
}

static int feed_look_up(const struct store_options *store, const char *word,
			char name[FEED_NAME_BYTES])
{
	static const struct run_word_rules one;
	char *const words[] = { (char *)word, NULL };
	struct source s = { 0 };
	struct named_runs n;
	int err = named_runs_find(&n, store, words, &one, NULL);

	if (!err)
		err = named_runs_open(&n, 0, &s);
	if (!err) {
		err = feed_name_read(&s, name);
		if (err)
			log_error("cannot read run '%s': %s", word, source_why(&s, err));
		else
			err = feed_report(word, &n.list[0], name);
		source_close(&s);
	}
	named_runs_done(&n);
	return err;
}

/*
 * Returns true if a run has this number. If none has, that is no error to report: it may be a PID.
 */
static bool number_is_run(const struct store_options *store, const char *word)
{
	static const struct run_word_rules one;
	struct stored_runs all = { 0 };
	struct stores stores = { 0 };
	bool is_chosen, is_run;

	is_run = !stores_find(&stores, store) &&
		 !run_word_find(&stores, word, &one, &all, &is_chosen) && all.nr;
	stored_runs_done(&all);
	stores_done(&stores);
	return is_run;
}

static enum feed_answer feed_answer_write(const struct store_options *store, const char *word,
					  int fd)
{
	char name[FEED_NAME_BYTES];
	int64_t id;

	if (run_word_is_number(word, &id) && !number_is_run(store, word))
		return FEED_UNKNOWN;
	if (feed_look_up(store, word, name) ||
	    write(fd, name, sizeof(name)) != (ssize_t)sizeof(name))
		return FEED_REPORTED;
	return FEED_FOUND;
}

static int feed_answer_read(pid_t child, int fd, char name[FEED_NAME_BYTES])
{
	ssize_t n = read(fd, name, FEED_NAME_BYTES);
	int status = 0;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	name[FEED_NAME_BYTES - 1] = '\0';
	if (WIFEXITED(status) && WEXITSTATUS(status) == FEED_UNKNOWN)
		return -ENOENT;
	return n == FEED_NAME_BYTES ? 0 : -ESRCH;
}

int named_feed_find(const struct store_options *store, const char *word, char name[FEED_NAME_BYTES])
{
	int fds[2], err;
	pid_t child;

	if (pipe(fds)) {
		err = -errno;
		log_error("cannot make a pipe: %s", strerror(-err));
		return err;
	}
	fflush(stdout);
	child = fork();
	if (!child) {
		close(fds[0]);
		_exit((int)feed_answer_write(store, word, fds[1]));
	}
	err = child < 0 ? -errno : 0;
	close(fds[1]);
	if (err)
		log_error("cannot start a process: %s", strerror(-err));
	else
		err = feed_answer_read(child, fds[0], name);
	close(fds[0]);
	return err;
}
