// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/picture.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/memory.h"
#include "bpfmon/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LONGEST_MS 60000
#define LOOK_MS 10
#define MOST_BYTES (64L << 20) /* of a picture */
#define MOST_WORDS 16
#define WORD_BYTES 400

extern char **environ;

struct workplace {
	char folder[WORD_BYTES / 2];
	char svg[WORD_BYTES - 50], page[WORD_BYTES - 50], profile[WORD_BYTES - 50],
		out[WORD_BYTES - 50];
};

/* A command line, stored in @text. */
struct words {
	char *argv[MOST_WORDS + 1];
	char text[MOST_WORDS][WORD_BYTES];
	size_t nr;
};

__attribute__((format(printf, 2, 3))) static void words_add(struct words *w, const char *format,
							    ...)
{
	va_list args;

	if (w->nr == MOST_WORDS)
		return;
	va_start(args, format);
	vsnprintf(w->text[w->nr], WORD_BYTES, format, args);
	va_end(args);
	w->argv[w->nr] = w->text[w->nr];
	w->nr++;
}

static void rsvg_words(struct words *w, const struct workplace *at, const struct picture *p)
{
	words_add(w, "rsvg-convert");
	words_add(w, "--format=%s", p->format);
	if (strcmp(p->format, "pdf") != 0)
		words_add(w, "--zoom=%g", p->scale);
	words_add(w, "--output=%s", at->out);
	words_add(w, "%s", at->svg);
}

static void chromium_words(struct words *w, const struct workplace *at, const struct picture *p,
			   const char *name)
{
	words_add(w, "%s", name);
	words_add(w, "--headless");
	words_add(w, "--disable-gpu");
	words_add(w, "--hide-scrollbars");
	if (!geteuid()) /* root cannot use its sandbox; the page is our own and has no scripts */
		words_add(w, "--no-sandbox");
	words_add(w, "--user-data-dir=%s", at->profile);
	words_add(w, "--force-device-scale-factor=%g", p->scale);
	words_add(w, "--window-size=%.0f,%.0f", ceil(p->width), ceil(p->height));
	if (!strcmp(p->format, "pdf")) {
		words_add(w, "--no-pdf-header-footer");
		words_add(w, "--print-to-pdf=%s", at->out);
	} else {
		words_add(w, "--screenshot=%s", at->out);
	}
	words_add(w, "file://%s", at->page);
}

/*
 * Returns 0, -EIO if the program failed, -EINTR if this process got a signal to end, or -ETIMEDOUT.
 */
static int drawer_wait(pid_t pid)
{
	const struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };
	int status = 0, err = -ETIMEDOUT;

	for (int ms = 0; ms < LONGEST_MS; ms += LOOK_MS) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
		if (stop_signals_came()) {
			err = -EINTR;
			break;
		}
		nanosleep(&pause, NULL);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return err;
}

/* Discards the program's output. Returns -ENOENT if the program does not exist. */
static int drawer_run(const struct words *w)
{
	posix_spawn_file_actions_t files;
	pid_t pid;
	int err = posix_spawn_file_actions_init(&files);

	if (err)
		return -err;
	for (int fd = STDIN_FILENO; !err && fd <= STDERR_FILENO; fd++)
		err = posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
	if (!err)
		err = posix_spawnp(&pid, w->argv[0], &files, NULL, w->argv, environ);
	posix_spawn_file_actions_destroy(&files);
	return err ? -err : drawer_wait(pid);
}

static int drawers_try(const struct workplace *at, const struct picture *p)
{
	static const char *const browsers[] = { "chromium", "chromium-browser", "google-chrome" };
	struct words w = { 0 };
	int err;

	rsvg_words(&w, at, p);
	err = drawer_run(&w);
	for (size_t i = 0; err == -ENOENT && i < sizeof(browsers) / sizeof(*browsers); i++) {
		w = (struct words){ 0 };
		chromium_words(&w, at, p, browsers[i]);
		err = drawer_run(&w);
	}
	return err;
}

static int file_write(const char *path, const char *before, const char *text, size_t length)
{
	__cleanup(fclosep) FILE *f = memory_fopen(path, "wxe");

	if (!f)
		return -errno;
	fputs(before, f);
	fwrite(text, 1, length, f);
	return fflush(f) || ferror(f) ? -EIO : 0;
}

/*
 * Writes the SVG, and a page of its size around it: a browser prints a bare SVG on a page of
 * another size.
 */
static int workplace_fill(const struct workplace *at, const struct picture *p, const char *svg,
			  size_t length)
{
	const char *element = strstr(svg, "<svg");
	char head[300];
	int err = file_write(at->svg, "", svg, length);

	snprintf(head, sizeof(head),
		 "<!doctype html><meta charset=\"utf-8\"><style>@page{size:%.6gpx %.6gpx;margin:0}"
		 "body{margin:0}svg{display:block}</style>\n",
		 p->width, p->height);
	if (!err && element)
		err = file_write(at->page, head, element, length - (size_t)(element - svg));
	return err;
}

static int workplace_make(struct workplace *at, const char *format)
{
	const char *folder = getenv("TMPDIR");

	if (!folder || *folder != '/' || strlen(folder) > sizeof(at->folder) - 30)
		folder = "/tmp";
	snprintf(at->folder, sizeof(at->folder), "%s/bpfmon-picture.XXXXXX", folder);
	if (!mkdtemp(at->folder))
		return -errno;
	snprintf(at->svg, sizeof(at->svg), "%s/figure.svg", at->folder);
	snprintf(at->page, sizeof(at->page), "%s/figure.html", at->folder);
	snprintf(at->profile, sizeof(at->profile), "%s/profile", at->folder);
	snprintf(at->out, sizeof(at->out), "%s/out.%s", at->folder, format);
	return 0;
}

static int workplace_read(const struct workplace *at, char **out, size_t *length)
{
	__cleanup(fclosep) FILE *f = memory_fopen(at->out, "re");
	long size;

	if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) <= 0 || size > MOST_BYTES)
		return -EIO;
	rewind(f);
	*out = memory_malloc((size_t)size);
	if (!*out)
		return -ENOMEM;
	*length = fread(*out, 1, (size_t)size, f);
	return *length == (size_t)size ? 0 : -EIO;
}

static int entry_remove(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st, (void)type, (void)where;
	remove(path);
	return 0;
}

static void folder_remove(const char *path)
{
	nftw(path, entry_remove, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static void picture_report(const struct picture *p, const char *path, int err)
{
	if (err == -ENOENT)
		log_error("cannot draw '%s': %s needs rsvg-convert (package librsvg2-bin or "
			  "librsvg2-tools) or chromium, and neither is installed; -f svg needs "
			  "neither",
			  path, p->format);
	else if (err == -EIO)
		log_error("cannot draw '%s': the program that draws a %s failed; -f svg needs no "
			  "program",
			  path, p->format);
	else if (err != -EINTR)
		log_error("cannot draw '%s': %s", path, strerror(-err));
}

int picture_draw(const struct picture *p, const char *path, const char *svg, size_t length,
		 char **out, size_t *out_length)
{
	struct workplace at;
	int err = workplace_make(&at, p->format);

	*out = NULL;
	if (err) {
		log_error("cannot draw '%s': cannot create a directory below %s: %s", path,
			  at.folder, strerror(-err));
		return err;
	}
	stop_signals_catch();
	err = workplace_fill(&at, p, svg, length);
	if (!err)
		err = drawers_try(&at, p);
	if (!err)
		err = workplace_read(&at, out, out_length);
	folder_remove(at.folder);
	stop_signals_release();
	if (err)
		picture_report(p, path, err);
	return err;
}
