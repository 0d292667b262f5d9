// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/status_line.h"

#include "base/log.h"
#include "bpfmon/roles/launch_signals.h"
#include "text/terminal.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

bool status_line_open(struct status_line *s)
{
	int err = bottom_row_open(&s->row, STDERR_FILENO);

	s->fd = -1;
	s->is_inverse = !err && terminal_has_colour(stderr);
	if (err)
		log_info("there is no status line: %s",
			 err == -ENOTTY        ? "stderr is no terminal"
			 : err == -EBUSY       ? "the terminal shows that of another bpfmon"
			 : err == -EOPNOTSUPP  ? "the terminal (TERM) cannot keep a row for it"
			 : err == -EWOULDBLOCK ? "stderr cannot be opened again"
					       : strerror(-err));
	return !err;
}

/* Has the recorder give the row back, should this process be killed. */
static void status_line_note(const struct status_line *s, bool was_reserved)
{
	if (s->row.is_reserved != was_reserved && s->fd >= 0)
		control_send(s->fd, CONTROL_LIVE, s->row.is_reserved ? s->row.full.ws_row : 0, 0,
			     NULL);
}

void status_line_release(struct status_line *s)
{
	bool was_reserved = s->row.is_reserved;

	bottom_row_release(&s->row);
	status_line_note(s, was_reserved);
}

/* Whether a text has come; the last one is kept. */
static bool status_line_receive(struct status_line *s)
{
	struct pollfd f = { .fd = s->fd, .events = POLLIN };
	bool has_come = false;

	while (s->fd >= 0 && poll(&f, 1, 0) == 1) {
		if (control_receive(s->fd, &s->last) != 1) { /* the recorder has ended */
			s->fd = f.fd = -1;
			*s->last.text = '\0';
		}
		has_come = true;
	}
	return has_come;
}

void status_line_advance(struct status_line *s)
{
	bool was_reserved = s->row.is_reserved;

	if (!status_line_receive(s) && !bottom_row_has_moved(&s->row))
		return;
	if (!*s->last.text || !signals_have_terminal())
		status_line_release(s);
	else if (!bottom_row_draw(&s->row, s->last.text, s->is_inverse))
		status_line_note(s, was_reserved);
}
