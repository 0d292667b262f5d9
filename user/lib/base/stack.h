/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks that do not depend on the inherited limit (ulimit -s), which the command has to keep. */
#ifndef BASE_STACK_H
#define BASE_STACK_H

#include <pthread.h>

/* Calls @fn, on a new stack if the limit is too small, and returns its result. */
int stack_run(int (*fn)(int argc, char **argv), int argc, char **argv);
/* Starts a thread. 0, or a positive errno, as of pthread_create(). */
int stack_start_thread(pthread_t *thread, void *(*fn)(void *context), void *context);

#endif
