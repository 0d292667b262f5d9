/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks that do not depend on the inherited limit (ulimit -s), which the command has to keep. */
#ifndef BASE_STACK_H
#define BASE_STACK_H

#include <pthread.h>
#include <stdbool.h>

/*
 * Raises the limit of this process if it is too small. Returns false if the hard limit is too small
 * and may not be raised.
 */
bool stack_raise_limit(void);
/* Restores the limit, before another program is executed. */
void stack_restore_limit(void);
/* Starts a thread. Returns 0 or a positive errno, like pthread_create(). */
int stack_start_thread(pthread_t *thread, void *(*fn)(void *context), void *context);

#endif
