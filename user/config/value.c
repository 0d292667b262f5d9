// SPDX-License-Identifier: BSD-2-Clause
#include "config/value.h"

#include "base/clock.h"
#include "config/address.h"
#include "config/config.h"
#include "config/group.h"
#include "config/secret.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct unit {
	const char *name;
	uint64_t factor;
};

/* The first is that of a number without one; the largest that divides a limit writes it. */
static const struct unit numbers[] = { { "", 1 }, { NULL, 0 } };
static const struct unit sizes[] = { { "", 1 },
				     { "K", 1ULL << 10 },
				     { "M", 1ULL << 20 },
				     { "G", 1ULL << 30 },
				     { "T", 1ULL << 40 },
				     { "KiB", 1ULL << 10 },
				     { "MiB", 1ULL << 20 },
				     { "GiB", 1ULL << 30 },
				     { "TiB", 1ULL << 40 },
				     { NULL, 0 } };
static const struct unit times[] = { { "", NSEC_PER_SEC },
				     { "ms", NSEC_PER_MSEC },
				     { "s", NSEC_PER_SEC },
				     { "min", 60 * NSEC_PER_SEC },
				     { "h", 3600 * NSEC_PER_SEC },
				     { "d", 86400 * NSEC_PER_SEC },
				     { NULL, 0 } };

static const struct unit *unit_find(const struct unit *units, const char *name)
{
	for (; units->name; units++)
		if (!strcmp(units->name, name))
			return units;
	return NULL;
}

/* As the file may have it: 50ms, 1G. */
static void limit_print(char *out, size_t room, const struct unit *units, uint64_t v)
{
	const struct unit *best = units;

	for (const struct unit *u = units; v && u->name; u++)
		if (v % u->factor == 0 && (v % best->factor || u->factor > best->factor))
			best = u;
	snprintf(out, room, "%llu%s", (unsigned long long)(v / best->factor), best->name);
}

/* Digits, a point only where there are units, and one of @units. */
static bool quantity_parse(const struct unit *units, const char *text, double *v)
{
	const struct unit *unit;
	size_t digits = strspn(text, "0123456789");
	char *end;

	if (!digits || digits > 18)
		return false;
	if (units == numbers || text[digits] != '.') {
		*v = (double)strtoull(text, &end, 10);
	} else {
		/* no exponent: "1.5e3" has a unit that is none */
		size_t fraction = strspn(text + digits + 1, "0123456789");

		if (!fraction)
			return false;
		*v = strtod(text, NULL);
		end = (char *)text + digits + 1 + fraction;
	}
	while (isblank((unsigned char)*end))
		end++;
	unit = unit_find(units, end);
	if (unit)
		*v *= (double)unit->factor;
	return unit;
}

static int quantity_set(const struct config_row *row, const struct unit *units, const char *example,
			const char *text, uint64_t *value, char *why, size_t size)
{
	char min[32], max[32];
	double v;

	if (quantity_parse(units, text, &v) && v >= (double)row->min && v <= (double)row->max) {
		*value = (uint64_t)llround(v);
		return 0;
	}
	limit_print(min, sizeof(min), units, row->min);
	limit_print(max, sizeof(max), units, row->max);
	snprintf(why, size, "%s, from %s to %s", example, min, max);
	return -EINVAL;
}

static int yes_no_set(const char *text, bool *value, char *why, size_t size)
{
	if (strcmp(text, "yes") != 0 && strcmp(text, "no") != 0) {
		snprintf(why, size, "yes or no");
		return -EINVAL;
	}
	*value = !strcmp(text, "yes");
	return 0;
}

static int hierarchy_set(const char *text, char *value, char *why, size_t size)
{
	if (!*text || text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_=.-")]) {
		snprintf(why, size, "auto, unified, or a controller of version 1");
		return -EINVAL;
	}
	snprintf(value, CONFIG_TEXT_BYTES, "%s", text);
	return 0;
}

static int hosts_set(const char *text, char *value, char *why, size_t size)
{
	for (const char *p = text; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr(" .-_", *p)) {
			snprintf(why, size, "names of hosts without ports, with blanks between");
			return -EINVAL;
		}
	snprintf(value, CONFIG_TEXT_BYTES, "%s", text);
	return 0;
}

static int file_set(const struct config_row *row, const char *text, char *value, char *why,
		    size_t size)
{
	bool is_optional = !*row->standard;
	int fd;

	if (*text ? *text != '/' || text[strlen(text) - 1] == '/' : !is_optional) {
		snprintf(why, size, "an absolute path%s", is_optional ? ", or nothing" : "");
		return -EINVAL;
	}
	if (*text && row->type == CONFIG_SECRET) {
		fd = secret_open(text, why, size);
		if (fd < 0)
			return fd;
		close(fd);
	}
	snprintf(value, CONFIG_TEXT_BYTES, "%s", text);
	return 0;
}

int config_value_set(const struct config_row *row, void *config, const char *text, char *why,
		     size_t size)
{
	void *value = (char *)config + row->offset;

	switch (row->type) {
	case CONFIG_YES_NO:
		return yes_no_set(text, value, why, size);
	case CONFIG_NUMBER:
		return quantity_set(row, numbers, "a whole number", text, value, why, size);
	case CONFIG_BYTES:
		return quantity_set(row, sizes, "bytes, as 512K, 64M or 1G", text, value, why,
				    size);
	case CONFIG_TIME:
		return quantity_set(row, times, "a time, as 50ms, 1.5s, 5min, 2h or 1d", text,
				    value, why, size);
	case CONFIG_HIERARCHY:
		return hierarchy_set(text, value, why, size);
	case CONFIG_HOSTS:
		return hosts_set(text, value, why, size);
	case CONFIG_FILE:
	case CONFIG_SECRET:
		return file_set(row, text, value, why, size);
	case CONFIG_GROUP:
		return config_group_find(text, value, why, size);
	case CONFIG_ADDRESS:
		return config_address_parse(text, value, why, size);
	default:
		return -EINVAL;
	}
}
