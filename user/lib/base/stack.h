/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks that do not depend on the inherited limit (ulimit -s), which the command has to keep. */
#ifndef BASE_STACK_H
#define BASE_STACK_H

#include <pthread.h>
#include <stdbool.h>

/* Raise the limit of this process if it is too small, as far as the process may. Returns false if
 * that does not suffice: without the right to more, the hard limit is too small. */
bool stack_raise_limit(void);
/* Set the limit to what it was, before another program is executed. */
void stack_restore_limit(void);
/* Start a thread. Returns 0, or a positive errno, as pthread_create() does. */
int stack_start_thread(pthread_t *thread, void *(*fn)(void *context), void *context);

#endif
