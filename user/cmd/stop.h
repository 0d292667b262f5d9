/* SPDX-License-Identifier: BSD-2-Clause */
/* Signals that end us while a file is being written: what was begun is removed first. */
#ifndef CMD_STOP_H
#define CMD_STOP_H

#include <stdbool.h>

/* From now on they are noted, those aside that were ignored. */
void stop_begin(void);
/* One of them came. */
bool stop_asked(void);
/* They end us again; so does now the one that came, if any. */
void stop_end(void);

#endif
