// SPDX-License-Identifier: BSD-2-Clause
#include "base/bottom_row.h"

#include "base/clock.h"
#include "base/patience.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define LEAST_ROWS 4
#define LEAST_COLUMNS 20
#define LONGEST_TEXT 1024 /* bytes */
#define REST_NS (200 * NSEC_PER_MSEC)

/* Beginnings of TERM of terminals that know scroll regions and saved cursors, as a VT100 does. */
static bool terminal_has_regions(const char *kind)
{
	static const char *const known[] = {
		"xterm",   "screen", "tmux",  "linux", "rxvt",    "vt1",     "vt2",  "vt3",
		"vt4",     "vt5",    "gnome", "vte",   "konsole", "kitty",   "foot", "alacritty",
		"wezterm", "st-",    "putty", "iterm", "mintty",  "ghostty",
	};

	for (size_t i = 0; kind && i < sizeof(known) / sizeof(*known); i++)
		if (!strncmp(kind, known[i], strlen(known[i])))
			return true;
	return false;
}

static bool size_is_enough(const struct winsize *size)
{
	return size->ws_row >= LEAST_ROWS && size->ws_col >= LEAST_COLUMNS;
}

int bottom_row_open(struct bottom_row *b, int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct winsize size;

	*b = (struct bottom_row){ .fd = fd };
	if (ioctl(fd, TIOCGWINSZ, &size))
		return -ENOTTY;
	if (!terminal_has_regions(getenv("TERM")) || !size_is_enough(&size))
		return -EOPNOTSUPP;
	if (flags < 0 || !(flags & O_NONBLOCK))
		return -EWOULDBLOCK;
	return flock(fd, LOCK_EX | LOCK_NB) ? -EBUSY : 0;
}

/* Half a sequence would garble what others print next: the rest follows, with some patience. */
static int bottom_row_write(const struct bottom_row *b, const char *text, size_t n)
{
	struct patience p = { .watched_fd = -1, .limit_ns = REST_NS };
	struct pollfd f = { .fd = b->fd, .events = POLLOUT };
	size_t done;

	if (poll(&f, 1, 0) != 1 || !(f.revents & POLLOUT))
		return -EAGAIN; /* stopped by Ctrl-S, or it is not read */
	return patience_write(&p, b->fd, text, n, &done);
}

/*
 * A row of pixels less for a row less would be right, too; but as they stay, a size that the
 * terminal's program sets later is another one even if it has as many rows as ours.
 */
static struct winsize size_without_row(const struct winsize *full)
{
	struct winsize size = *full;

	size.ws_row--;
	return size;
}

bool bottom_row_has_moved(const struct bottom_row *b)
{
	struct winsize ours = size_without_row(&b->full), size;

	return b->is_reserved && !ioctl(b->fd, TIOCGWINSZ, &size) &&
	       memcmp(&size, &ours, sizeof(size)) != 0;
}

/* The part of @text that fits into @columns. */
static int text_fit(const char *text, size_t columns)
{
	size_t at = 0, used = 0, n, width;
	bool is_control;
	uint32_t c;

	for (; text[at]; at += n, used += width) {
		n = text_character_bytes(text + at, &is_control);
		width = !is_control && utf8_decode(text + at, n, &c) ? character_width(c) : 1;
		if (is_control || used + width > columns || at + n > LONGEST_TEXT)
			break;
	}
	return (int)at;
}

/*
 * Index (ESC D) and up again: where the cursor is on the bottom row everything moves up by one, and
 * the cursor with it; elsewhere nothing moves. Then the region, which would set the cursor, too.
 */
static size_t region_set(char *out, size_t size, unsigned rows)
{
	return (size_t)snprintf(out, size, "\x1b\x44\x1b[A\x1b\x37\x1b[1;%ur\x1b\x38", rows - 1);
}

int bottom_row_draw(struct bottom_row *b, const char *text, bool is_inverse)
{
	const bool is_new = !b->is_reserved || bottom_row_has_moved(b);
	struct winsize full = b->full, less;
	char out[LONGEST_TEXT + 256];
	size_t n = 0;
	int err;

	if (is_new && ioctl(b->fd, TIOCGWINSZ, &full))
		return -errno;
	if (is_new && !size_is_enough(&full)) {
		bottom_row_release(b);
		return -EOPNOTSUPP;
	}
	if (is_new)
		n = region_set(out, sizeof(out), full.ws_row);
	/* the cursor is saved with its attributes */
	n += (size_t)snprintf(out + n, sizeof(out) - n,
			      "\x1b\x37\x1b[%u;1H\x1b[0m\x1b[2K%s%.*s\x1b[0m\x1b\x38", full.ws_row,
			      is_inverse ? "\x1b[7m" : "", text_fit(text, full.ws_col - 1U), text);
	err = bottom_row_write(b, out, n);
	if (err || !is_new)
		return err;
	less = size_without_row(&full);
	ioctl(b->fd, TIOCSWINSZ, &less); /* should it fail, full-screen programs overwrite us */
	b->full = full;
	b->is_reserved = true;
	return 0;
}

void bottom_row_release(struct bottom_row *b)
{
	char out[64];
	int n;

	if (!b->is_reserved)
		return;
	if (bottom_row_has_moved(b)) /* what is there now is not known to be ours */
		n = snprintf(out, sizeof(out), "\x1b\x37\x1b[r\x1b\x38");
	else
		n = snprintf(out, sizeof(out), "\x1b\x37\x1b[r\x1b[%u;1H\x1b[0m\x1b[2K\x1b\x38",
			     b->full.ws_row);
	bottom_row_write(b, out, (size_t)n);
	if (!bottom_row_has_moved(b))
		ioctl(b->fd, TIOCSWINSZ, &b->full);
	b->is_reserved = false;
}
