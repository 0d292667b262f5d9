// SPDX-License-Identifier: BSD-2-Clause
/* Counts failed allocations of SQLite. A separate file, as bpfmon-exporter has no SQLite. */
#include "base/memory.h"

#include <errno.h>
#include <sqlite3.h>

static sqlite3_mem_methods plain; /* SQLite's own */

static void *sqlite_check(void *p)
{
	if (!p)
		memory_count_failure();
	return p;
}

static void *sqlite_allocate(int bytes)
{
	return sqlite_check(plain.xMalloc(bytes));
}

static void *sqlite_reallocate(void *old, int bytes)
{
	return sqlite_check(plain.xRealloc(old, bytes));
}

int memory_init(void)
{
	sqlite3_mem_methods counted;

	memory_init_jansson();
	if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &plain) != SQLITE_OK)
		return -EINVAL;
	counted = plain;
	counted.xMalloc = sqlite_allocate;
	counted.xRealloc = sqlite_reallocate;
	return sqlite3_config(SQLITE_CONFIG_MALLOC, &counted) == SQLITE_OK ? 0 : -EINVAL;
}
