// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/stop_signals.h"

#include <signal.h>
#include <stddef.h>

static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

#define NR_SIGNALS (sizeof(signals) / sizeof(*signals))

static volatile sig_atomic_t stopped_by;

static void stop_signal_note(int sig)
{
	stopped_by = sig;
}

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

bool stop_signals_came(void)
{
	return stopped_by != 0;
}

void stop_signals_release(void)
{
	stop_signals_handle(SIG_DFL);
	if (stopped_by)
		raise(stopped_by);
}
