/* SPDX-License-Identifier: BSD-2-Clause */
/* Executes a command without measuring it, as a span or because nothing can measure it. */
#ifndef BPFMON_CMD_SPAN_H
#define BPFMON_CMD_SPAN_H

/*
 * Executes @command in this process, for a span or a run that is not measured. Returns only on
 * failure: an exit status, after a message.
 */
int argv_execute(char **command);

#endif
