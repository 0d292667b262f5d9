/* SPDX-License-Identifier: BSD-2-Clause */
/* Exit statuses. Those from 124 on are of a program that was to execute a command, as of env(1) and
 * timeout(1). */
#ifndef BASE_EXIT_STATUS_H
#define BASE_EXIT_STATUS_H

#define EXIT_USAGE 2    /* options or arguments cannot be what was meant */
#define EXIT_LIMIT 124  /* a limit has ended the command, as timeout(1) has it */
#define EXIT_BPFMON 125 /* bpfmon failed */
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND 127

#endif
