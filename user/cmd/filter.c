// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/filter.h"

#include "base/clock.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SPAN_SECONDS (100ULL * 365 * 24 * 3600)
#define BEFORE_ALL 1 /* ns since 1970, for what is earlier: 0 would say that nothing was given */

struct run_filter options_filter(const struct options *o)
{
	struct run_filter f = o->filter;

	f.name = o->name;
	f.job = o->job;
	f.tags = o->tags;
	f.nr_tags = o->nr_tags;
	return f;
}

bool options_has_filter(const struct options *o)
{
	const struct run_filter f = options_filter(o);

	return f.name || f.job || f.nr_tags || f.host || f.user || f.command || f.since_ns ||
	       f.state != ANY_STATE;
}

int parse_filter_tag(struct options *o, const char *text)
{
	if (!strcspn(text, "=") || o->nr_tags == MAX_TAGS)
		return -EINVAL;
	o->tags[o->nr_tags++] = text;
	return 0;
}

int parse_filter_command(struct options *o, const char *text)
{
	o->filter.command = text;
	return *text ? 0 : -EINVAL;
}

int parse_filter_host(struct options *o, const char *text)
{
	o->filter.host = text;
	return *text ? 0 : -EINVAL;
}

int parse_filter_user(struct options *o, const char *text)
{
	o->filter.user = text;
	return *text ? 0 : -EINVAL;
}

/* The place of @text in @words, or -EINVAL. */
static int word(const char *const *words, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(words[i], text))
			return (int)i;
	return -EINVAL;
}

int parse_filter_state(struct options *o, const char *text)
{
	static const char *const words[] = { "any", "running", "finished", "unfinished", "failed" };
	int at = word(words, sizeof(words) / sizeof(*words), text);

	if (at < 0)
		return at;
	o->filter.state = (enum state_filter)at;
	return 0;
}

static bool parse_span(const char *text, uint64_t *seconds)
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

/* mktime() would make the 31st of February one of March. A year has four digits. */
static bool is_date(const struct tm *tm)
{
	struct tm day = { .tm_year = tm->tm_year, .tm_mon = tm->tm_mon, .tm_mday = tm->tm_mday };

	timegm(&day);
	return day.tm_mday == tm->tm_mday && tm->tm_year >= 1000 - 1900;
}

static bool parse_date(const char *text, uint64_t *epoch_ns)
{
	static const char *const formats[] = { "%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S",
					       "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S" };

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct tm tm = { .tm_isdst = -1 };
		const char *end = strptime(text, formats[i], &tm);
		time_t at;

		if (!end || *end)
			continue;
		if (!is_date(&tm))
			return false;
		at = mktime(&tm);
		if (at > INT64_MAX / (int64_t)NSEC_PER_SEC)
			return false;
		*epoch_ns = at > 0 ? (uint64_t)at * NSEC_PER_SEC : BEFORE_ALL;
		return true;
	}
	return false;
}

static int parse_moment(const char *text, uint64_t *epoch_ns)
{
	uint64_t seconds, now = clock_ns(CLOCK_REALTIME);

	if (parse_span(text, &seconds))
		*epoch_ns =
			seconds < now / NSEC_PER_SEC ? now - seconds * NSEC_PER_SEC : BEFORE_ALL;
	else if (!parse_date(text, epoch_ns))
		return -EINVAL;
	return 0;
}

int parse_filter_since(struct options *o, const char *text)
{
	return parse_moment(text, &o->filter.since_ns);
}

int parse_older_than(struct options *o, const char *text)
{
	return parse_moment(text, &o->prune.before_ns);
}

/* A whole number that ends at *@end. */
static bool parse_number(const char *text, unsigned long max, unsigned long *v, char **end)
{
	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*v = strtoul(text, end, 10);
	return !errno && *v <= max;
}

int parse_keep(struct options *o, const char *text)
{
	unsigned long v;
	char *end;

	if (!parse_number(text, 1000000000, &v, &end) || *end)
		return -EINVAL;
	o->prune.keep = v;
	o->prune.has_keep = true;
	return 0;
}

int parse_max_size(struct options *o, const char *text)
{
	static const char letters[] = "KMGT";
	unsigned long v;
	const char *unit;
	char *end;

	if (!parse_number(text, 1UL << 22, &v, &end) || !v)
		return -EINVAL;
	unit = *end ? strchr(letters, *end) : NULL;
	if (!unit || (end[1] && strcmp(end + 1, "iB") != 0))
		return -EINVAL;
	o->prune.max_bytes = (uint64_t)v << (10 * (unit - letters + 1));
	return 0;
}

int parse_by_phase(struct options *o, const char *text)
{
	o->by_phase = !strcmp(text, "phase");
	return o->by_phase ? 0 : -EINVAL;
}

int parse_order(struct options *o, const char *text)
{
	static const char *const words[] = { "start", "wall", "cpu", "memory", "name" };
	int at = word(words, sizeof(words) / sizeof(*words), text);

	if (at < 0)
		return at;
	o->order = (enum run_order)at;
	return 0;
}

int parse_limit(struct options *o, const char *text)
{
	unsigned long v;
	char *end;

	if (!parse_number(text, 1000000000, &v, &end) || *end)
		return -EINVAL;
	o->limit = (unsigned)v;
	o->has_limit = true;
	return 0;
}
