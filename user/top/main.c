// SPDX-License-Identifier: BSD-2-Clause
/*
 * bpfmon-top, a program of its own, so that bpfmon does not load ncurses: shows a run while it goes
 * on, or again. `bpfmon top` executes it with the rights of the user. It follows and signals
 * nothing.
 */
#include "base/exit_status.h"
#include "base/log.h"
#include "base/memory.h"
#include "top/top_options.h"
#include "top/session.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	struct top_options o;

	if (memory_init() || top_options_read(&o, argc, argv))
		return EXIT_USAGE;
	if (o.shows_help) {
		top_options_help();
		return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
	}
	/* numbers stay as in the C locale */
	setlocale(LC_CTYPE, "");
	return session_run(&o);
}
