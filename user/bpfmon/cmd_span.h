/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a command without measuring it, as a span or because nothing can measure it. */
#ifndef BPFMON_CMD_SPAN_H
#define BPFMON_CMD_SPAN_H

/* Executes @command in this process, of a span or of a run that is not measured. Returns only if
 * that fails, an exit status, after a line. */
int words_execute(char **command);

#endif
