// SPDX-License-Identifier: BSD-2-Clause
#include "options/option_values.h"

#include "base/clock.h"
#include "base/memory.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_PID (1U << 22) /* the maximum on any Linux */

#define MAX_TIME_SECONDS (7 * 24 * 3600.0)
#define MAX_SIZE_NUMBER (1UL << 22) /* before its unit: 4 EiB */

#define A_TIME "a time, as in 1, 0.1 or 10ms"

static _Thread_local char expectation[300]; /* like errno: set with -EINVAL */

int value_refuse(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(expectation, sizeof(expectation), format, args);
	va_end(args);
	return -EINVAL;
}

const char *value_expectation(void)
{
	return expectation;
}

void value_expectation_clear(void)
{
	*expectation = '\0';
}

int flag_parse(void *value, const char *text)
{
	(void)text;
	*(bool *)value = true;
	return 0;
}

int text_parse(void *value, const char *text)
{
	if (!*text)
		return value_refuse("a text that is not empty");
	*(const char **)value = text;
	return 0;
}

/* Parses an integer that ends at *@end. */
static int digits_parse(const char *text, unsigned long max, unsigned long *number, char **end)
{
	unsigned long v;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	v = strtoul(text, end, 10);
	if (errno || v > max)
		return -EINVAL;
	*number = v;
	return 0;
}

int number_parse(const char *text, unsigned long min, unsigned long max, unsigned *number)
{
	unsigned long v;
	char *end;

	if (digits_parse(text, max, &v, &end) || *end || v < min)
		return value_refuse("a whole number from %lu to %lu", min, max);
	*number = (unsigned)v;
	return 0;
}

int process_parse(const char *text, pid_t *pid)
{
	unsigned number = 0;

	if (number_parse(text, 1, MAX_PID, &number))
		return value_refuse("a process ID");
	*pid = (pid_t)number;
	return 0;
}

int size_parse(void *value, const char *text)
{
	static const char letters[] = "KMGT";
	unsigned long v;
	const char *unit;
	char *end;

	value_refuse("a size with a unit (K, M, G, T), as in 500MiB or 2G");
	if (digits_parse(text, MAX_SIZE_NUMBER, &v, &end) || !v)
		return -EINVAL;
	unit = *end ? strchr(letters, *end) : NULL;
	if (!unit || (end[1] && strcmp(end + 1, "iB") != 0))
		return -EINVAL;
	*(uint64_t *)value = (uint64_t)v << (10 * (unit - letters + 1));
	return 0;
}

int decimal_parse(const char *text, double *number, char **end)
{
	if ((!isdigit((unsigned char)*text) && *text != '.') ||
	    (*text == '0' && (text[1] | 0x20) == 'x'))
		return -EINVAL;
	*number = strtod(text, end);
	return *end == text ? -EINVAL : 0;
}

int time_parse(const char *text, uint64_t *ns)
{
	char *end;
	double v;

	if (decimal_parse(text, &v, &end))
		return value_refuse(A_TIME);
	if (!strcmp(end, "ms"))
		v /= 1000;
	else if (*end && strcmp(end, "s") != 0)
		return value_refuse(A_TIME);
	if (!isfinite(v) || v > MAX_TIME_SECONDS)
		return value_refuse("a time of up to 7 days, in seconds");
	*ns = (uint64_t)llround(v * 1e9);
	return 0;
}

int duration_parse(void *value, const char *text)
{
	uint64_t ns = 0;

	if (time_parse(text, &ns))
		return -EINVAL;
	if (!ns)
		return value_refuse("a time greater than 0, as in 1, 0.1 or 10ms");
	*(uint64_t *)value = ns;
	return 0;
}

/* Describes the accepted values as "text, json or csv". Returns -EINVAL. */
static int words_refuse(const char *const *words, size_t nr)
{
	char list[sizeof(expectation)] = "";
	size_t used = 0;

	for (size_t i = 0; i < nr && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
					 !i           ? ""
					 : i + 1 < nr ? ", "
						      : " or ",
					 words[i]);
	return value_refuse("%s", list);
}

int word_find(const char *const *words, size_t nr, const char *text)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(words[i], text))
			return (int)i;
	return words_refuse(words, nr);
}

/* Points in time: time spans before now, and dates. */

#define MAX_SPAN_SECONDS (100ULL * 365 * 24 * 3600)
#define BEFORE_ALL 1 /* ns since 1970 for an earlier time: 0 would mean that none was given */

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

/* Returns false for dates that memory_mktime() would normalize, and years without four digits. */
static bool date_exists(const struct tm *tm)
{
	struct tm day = { .tm_year = tm->tm_year, .tm_mon = tm->tm_mon, .tm_mday = tm->tm_mday };

	memory_timegm(&day);
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
		at = memory_mktime(&tm);
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
		return value_refuse("an age, as in 7d, 12h or 30m, or a date, as in 2025-12-24");
	*(uint64_t *)value = epoch_ns;
	return 0;
}
