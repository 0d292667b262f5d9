// SPDX-License-Identifier: BSD-2-Clause
#include "run/meta.h"

#include <stdlib.h>

/* clang-format off */
static const struct limit_row rows[NR_LIMITS] = {
	[LIMIT_MEMORY_MAX]      = { "memory_max_bytes", 0 },
	[LIMIT_MEMORY_HIGH]     = { "memory_high_bytes", 0 },
	[LIMIT_SWAP_MAX]        = { "swap_max_bytes", 0 },
	[LIMIT_MEMORY_SWAP_MAX] = { "memory_and_swap_max_bytes", 0 },
	[LIMIT_CPU_MAX]         = { "cpu_max_cores", 3 },
	[LIMIT_PIDS_MAX]        = { "pids_max", 0 },
	[LIMIT_AS]              = { "rlimit_as_bytes", 0 },
	[LIMIT_DATA]            = { "rlimit_data_bytes", 0 },
	[LIMIT_STACK]           = { "rlimit_stack_bytes", 0 },
	[LIMIT_FSIZE]           = { "rlimit_fsize_bytes", 0 },
	[LIMIT_CORE]            = { "rlimit_core_bytes", 0 },
	[LIMIT_MEMLOCK]         = { "rlimit_memlock_bytes", 0 },
	[LIMIT_NOFILE]          = { "rlimit_nofile", 0 },
	[LIMIT_NPROC]           = { "rlimit_nproc", 0 },
	[LIMIT_CPU_TIME]        = { "rlimit_cpu_seconds", 0 },
};
/* clang-format on */

const struct limit_row *limit_get(enum limit_id id)
{
	return &rows[id];
}

bool limit_has(const struct limits *l, enum limit_id id)
{
	return l->have >> id & 1;
}

void limit_lower(struct limits *l, enum limit_id id, uint64_t value)
{
	if (limit_has(l, id) && l->value[id] <= value)
		return;
	l->value[id] = value;
	l->have |= 1U << id;
}

bool list_next(const char **list, unsigned *first, unsigned *last)
{
	char *end;

	if (**list < '0' || **list > '9')
		return false;
	*first = *last = (unsigned)strtoul(*list, &end, 10);
	if (*end == '-')
		*last = (unsigned)strtoul(end + 1, &end, 10);
	*list = end + (*end == ',');
	return *last >= *first;
}

unsigned list_count(const char *list)
{
	unsigned count = 0, first, last;

	while (list_next(&list, &first, &last))
		count += last - first + 1;
	return *list ? 0 : count;
}
