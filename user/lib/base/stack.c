// SPDX-License-Identifier: BSD-2-Clause
#include "base/stack.h"

#include <stdbool.h>
#include <sys/resource.h>

#define MAIN_BYTES (1UL << 20)     /* a sixth of it is used */
#define NEEDED_BYTES (256UL << 10) /* with less the limit has to be raised */
#define THREAD_BYTES (512UL << 10) /* enough for SQLite and its parser */

static struct rlimit inherited;
static bool is_raised;

/*
 * The kernel compares with the limit when the stack grows, and reserves 128 MiB of addresses for
 * that.
 */
bool stack_raise_limit(void)
{
	struct rlimit wanted = { MAIN_BYTES, MAIN_BYTES };

	if (getrlimit(RLIMIT_STACK, &inherited) || inherited.rlim_cur >= MAIN_BYTES)
		return true;
	if (inherited.rlim_max > MAIN_BYTES)
		wanted.rlim_max = inherited.rlim_max;
	is_raised = !setrlimit(RLIMIT_STACK, &wanted);
	if (is_raised)
		return true;
	wanted.rlim_cur = wanted.rlim_max = inherited.rlim_max;
	is_raised = !setrlimit(RLIMIT_STACK, &wanted);
	return inherited.rlim_max >= NEEDED_BYTES;
}

void stack_restore_limit(void)
{
	if (is_raised)
		setrlimit(RLIMIT_STACK, &inherited);
}

int stack_start_thread(pthread_t *thread, void *(*fn)(void *context), void *context)
{
	pthread_attr_t attributes;
	int err = pthread_attr_init(&attributes);

	if (err)
		return err;
	err = pthread_attr_setstacksize(&attributes, THREAD_BYTES);
	if (!err)
		err = pthread_create(thread, &attributes, fn, context);
	pthread_attr_destroy(&attributes);
	return err;
}
