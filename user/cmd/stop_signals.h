/* SPDX-License-Identifier: BSD-2-Clause */
/* Signals that end us while a file is being written: what was begun is removed first. */
#ifndef CMD_STOP_SIGNALS_H
#define CMD_STOP_SIGNALS_H

#include <stdbool.h>

/* From now on they are noted, those aside that were ignored. */
void stop_signals_catch(void);
/* One of them came. */
bool stop_signals_came(void);
/* They end us again; so does now the one that came, if any. */
void stop_signals_release(void);

#endif
