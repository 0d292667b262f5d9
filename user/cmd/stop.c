// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/stop.h"

#include <signal.h>
#include <stddef.h>

static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

#define NR_SIGNALS (sizeof(signals) / sizeof(*signals))

static volatile sig_atomic_t stopped_by;

static void note_signal(int sig)
{
	stopped_by = sig;
}

static void set_handlers(void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler }, old;

	for (size_t i = 0; i < NR_SIGNALS; i++)
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

void stop_begin(void)
{
	set_handlers(note_signal);
}

bool stop_asked(void)
{
	return stopped_by != 0;
}

void stop_end(void)
{
	set_handlers(SIG_DFL);
	if (stopped_by)
		raise(stopped_by);
}
