/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks whose size does not depend on the limit (ulimit -s) that we were started with, which the
 * command is to have.
 */
#ifndef BASE_STACK_H
#define BASE_STACK_H

#include <pthread.h>

/* Calls @fn, on a stack of our own if the limit is too small, and returns what it returns. */
int stack_run(int (*fn)(int argc, char **argv), int argc, char **argv);
/* Starts a thread. An errno, as of pthread_create(). */
int stack_thread(pthread_t *thread, void *(*fn)(void *context), void *context);

#endif
