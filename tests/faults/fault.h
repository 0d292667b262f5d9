/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A library to preload: in one process of a program it makes the N-th call of a kind fail, as
 * chosen by the environment, which is removed at once: what the program executes is not affected.
 *
 *   FAULT          allocation, or a function of calls.def
 *   FAULT_AT       the first call that fails, from 1 on
 *   FAULT_NUMBER   the number of calls that fail (1; 0: all from there on)
 *   FAULT_ERROR    its errno, a number (ENOMEM)
 *   FAULT_PROCESS  0: the program itself; N: the process of its N-th fork
 *   FAULT_REPORT   a file that exists: a line is written to it for the first call that fails
 *   FAULT_TRACE    if set, a stack trace follows
 */
#ifndef FAULT_H
#define FAULT_H

#include <stdbool.h>

#define ALLOCATION "allocation"

/* Whether this call of @kind has to fail; errno is set then. */
bool fault_is_due(const char *kind);

#endif
