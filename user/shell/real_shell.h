/* SPDX-License-Identifier: BSD-2-Clause */
/* The shell that the wrapper stands for. */
#ifndef SHELL_REAL_SHELL_H
#define SHELL_REAL_SHELL_H

#include <stdbool.h>

#define REAL_SHELL "/bin/bash"

/*
 * Executes REAL_SHELL, or else bash from PATH, or else sh, with these arguments; never this program
 * itself. @was_wrapper: another copy of it has executed this one, and PATH leads
 * back to that.
 * Returns only when there is none: a negative errno.
 */
int real_shell_execute(char **argv, bool was_wrapper);

/*
 * Executes the first program called @name in PATH, except this one. Returns only when there is none
 * or it cannot be executed: a negative errno.
 */
int path_execute(const char *name, char **argv);

#endif
