/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exit statuses. Those from 124 on are the ones of programs that execute a command, as env(1) and
 * timeout(1).
 */
#ifndef BASE_EXIT_STATUS_H
#define BASE_EXIT_STATUS_H

#define EXIT_USAGE 2    /* wrong options or arguments */
#define EXIT_LIMIT 124  /* a limit has ended the command, as in timeout(1) */
#define EXIT_BPFMON 125 /* bpfmon failed */
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND 127

#endif
