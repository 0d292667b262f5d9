/* SPDX-License-Identifier: BSD-2-Clause */
/* The exit status where a command was to be executed, as shells and env(1) have it. */
#ifndef BASE_EXIT_STATUS_H
#define BASE_EXIT_STATUS_H

#define EXIT_LIMIT 124  /* a limit has ended the command, as timeout(1) has it */
#define EXIT_BPFMON 125 /* bpfmon failed */
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND 127

#endif
