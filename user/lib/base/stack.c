// SPDX-License-Identifier: BSD-2-Clause
#include "base/stack.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#define MAIN_BYTES (1UL << 20)     /* a sixth of it is used */
#define THREAD_BYTES (512UL << 10) /* enough for SQLite and its parser */

static struct {
	int (*fn)(int argc, char **argv);
	int argc;
	char **argv;
	int result;
} call;

static void stack_enter(void)
{
	call.result = call.fn(call.argc, call.argv);
}

static bool stack_is_small(void)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur < MAIN_BYTES;
}

/* Not a thread: capabilities and signal masks are per thread, and the first one would keep its own.
 */
int stack_run(int (*fn)(int argc, char **argv), int argc, char **argv)
{
	static ucontext_t here, there;
	size_t guard = (size_t)sysconf(_SC_PAGESIZE), bytes = guard + MAIN_BYTES;
	char *all = stack_is_small() ? mmap(NULL, bytes, PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0)
				     : MAP_FAILED;

	if (all == MAP_FAILED || mprotect(all, guard, PROT_NONE) || getcontext(&there))
		return fn(argc, argv);
	call.fn = fn;
	call.argc = argc;
	call.argv = argv;
	there.uc_stack.ss_sp = all + guard;
	there.uc_stack.ss_size = MAIN_BYTES;
	there.uc_link = &here;
	makecontext(&there, stack_enter, 0);
	return swapcontext(&here, &there) ? fn(argc, argv) : call.result;
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
