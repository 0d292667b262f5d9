/* SPDX-License-Identifier: BSD-2-Clause */
/* Signals that end the process: while a file is written they wait until what was begun is removed.
 */
#ifndef BPFMON_STOP_SIGNALS_H
#define BPFMON_STOP_SIGNALS_H

#include <stdbool.h>

/* From now on they are only noted; ignored ones stay ignored. */
void stop_signals_catch(void);
/* Whether one of them came. */
bool stop_signals_came(void);
/* From now on they end the process again; one that came does so here. */
void stop_signals_release(void);

#endif
