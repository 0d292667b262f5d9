// SPDX-License-Identifier: BSD-2-Clause
/* Moments as options name them: spans before now, and dates. */
#include "bpfmon/option_values.h"

#include "base/clock.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#define MAX_SPAN_SECONDS (100ULL * 365 * 24 * 3600)
#define BEFORE_ALL 1 /* ns since 1970, for what is earlier: 0 would mean that nothing was given */

static bool seconds_parse(const char *text, uint64_t *seconds)
{
	static const struct {
		char letter;
		unsigned seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 604800 } };
	char *end;
	unsigned long v;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	v = strtoul(text, &end, 10);
	if (errno || !*end || end[1])
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (units[i].letter != *end || v > MAX_SPAN_SECONDS / units[i].seconds)
			continue;
		*seconds = v * units[i].seconds;
		return true;
	}
	return false;
}

/* mktime() would turn the 31st of February into a day of March. A year has four digits. */
static bool date_exists(const struct tm *tm)
{
	struct tm day = { .tm_year = tm->tm_year, .tm_mon = tm->tm_mon, .tm_mday = tm->tm_mday };

	timegm(&day);
	return day.tm_mday == tm->tm_mday && tm->tm_year >= 1000 - 1900;
}

static bool date_parse(const char *text, uint64_t *epoch_ns)
{
	static const char *const formats[] = { "%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S",
					       "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S" };

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct tm tm = { .tm_isdst = -1 };
		const char *end = strptime(text, formats[i], &tm);
		time_t at;

		if (!end || *end)
			continue;
		if (!date_exists(&tm))
			return false;
		at = mktime(&tm);
		if (at > INT64_MAX / (int64_t)NSEC_PER_SEC)
			return false;
		*epoch_ns = at > 0 ? (uint64_t)at * NSEC_PER_SEC : BEFORE_ALL;
		return true;
	}
	return false;
}

int moment_parse(void *value, const char *text)
{
	uint64_t seconds, epoch_ns, now = clock_ns(CLOCK_REALTIME);

	if (seconds_parse(text, &seconds))
		epoch_ns = seconds < now / NSEC_PER_SEC ? now - seconds * NSEC_PER_SEC : BEFORE_ALL;
	else if (!date_parse(text, &epoch_ns))
		return -EINVAL;
	*(uint64_t *)value = epoch_ns;
	return 0;
}
