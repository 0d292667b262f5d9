/* SPDX-License-Identifier: BSD-2-Clause */
/* A session of top: the terminal, the keys, the stream, the signals, in one loop. */
#ifndef TOP_SESSION_H
#define TOP_SESSION_H

#include "top/top_options.h"

/* The exit status; after a failure one line was printed. */
int session_run(const struct top_options *o);

#endif
