/* SPDX-License-Identifier: BSD-2-Clause */
/* The first process of the historian: it starts those that write and read the store. */
#ifndef HISTORY_HISTORIAN_H
#define HISTORY_HISTORIAN_H

#include "history/history.h"

/* Until the agent has gone, and what it sent is kept. */
void historian_run(const struct history_options *o, int stream_fd, int control_fd);

#endif
