// SPDX-License-Identifier: BSD-2-Clause
#include "run/suffix.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *name;
	enum metric_unit of;
	double factor;
} suffixes[] = {
	{ "B", UNIT_BYTES, 1 },
	{ "KiB", UNIT_BYTES, 1024 },
	{ "MiB", UNIT_BYTES, 1048576 },
	{ "GiB", UNIT_BYTES, 1073741824 },
	{ "TiB", UNIT_BYTES, 1099511627776 },
	{ "K", UNIT_BYTES, 1024 }, /* as batch systems and systemd have them */
	{ "M", UNIT_BYTES, 1048576 },
	{ "G", UNIT_BYTES, 1073741824 },
	{ "T", UNIT_BYTES, 1099511627776 },
	{ "kB", UNIT_BYTES, 1e3 },
	{ "MB", UNIT_BYTES, 1e6 },
	{ "GB", UNIT_BYTES, 1e9 },
	{ "TB", UNIT_BYTES, 1e12 },
	{ "us", UNIT_NS, 1e-6 },
	{ "ms", UNIT_NS, 1e-3 },
	{ "s", UNIT_NS, 1 },
	{ "min", UNIT_NS, 60 },
	{ "h", UNIT_NS, 3600 },
	{ "d", UNIT_NS, 86400 },
};

int suffix_find(const char *suffix, enum metric_unit *of, double *factor)
{
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		if (strcmp(suffixes[i].name, suffix) != 0)
			continue;
		*of = suffixes[i].of;
		*factor = suffixes[i].factor;
		return 0;
	}
	return -ENOENT;
}
