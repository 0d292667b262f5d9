// SPDX-License-Identifier: BSD-2-Clause
/* Wrappers of allocations, by whichever library: the C library itself calls them, too. */
#include "fault.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size)
{
	return fault_is_due(ALLOCATION) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fault_is_due(ALLOCATION) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	return fault_is_due(ALLOCATION) ? NULL : __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, bytes);
}

void *memalign(size_t alignment, size_t size)
{
	return fault_is_due(ALLOCATION) ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

int posix_memalign(void **at, size_t alignment, size_t size)
{
	void *p = memalign(alignment, size);

	if (!p)
		return ENOMEM;
	*at = p;
	return 0;
}
