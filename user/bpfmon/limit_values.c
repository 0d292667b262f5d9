// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/limit_values.h"

#include "base/log.h"
#include "base/number.h"
#include "run/limit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int limit_text_add(struct limit_texts *t, const char *text, bool is_soft)
{
	if (t->nr == MAX_LIMITS || strlen(text) >= LIMIT_TEXT)
		return -E2BIG;
	t->text[t->nr] = text;
	t->is_soft[t->nr++] = is_soft;
	return 0;
}

int limit_hard_parse(void *texts, const char *text)
{
	return limit_text_add(texts, text, false);
}

int limit_soft_parse(void *texts, const char *text)
{
	return limit_text_add(texts, text, true);
}

static const char *limit_skip_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

/* The number in the unit of @l; what has no suffix is in bytes, seconds, or counts. */
static const char *limit_read_most(struct limit *l, const char *at)
{
	const size_t digits = strspn(at, "0123456789.");
	const double scale = l->is_wall ? 1e9 : pow(10, metric_unit_decimals(limit_unit(l)));
	enum metric_unit of = limit_unit(l);
	double value, factor = 1;
	char *end;

	if (!digits)
		return "has no number after <";
	value = strtod(at, &end);
	if (end != at + digits)
		return "has no number after <";
	end = (char *)limit_skip_blanks(end);
	if (*end && (suffix_find(end, &of, &factor) || of != limit_unit(l)))
		return "has another unit than its key: B KiB MiB GiB TiB or kB MB GB TB, or us ms "
		       "s min h d";
	if (!number_round(value * factor * scale, &l->most) || l->most > NUMBER_MAX)
		return "has too large a number";
	return NULL;
}

static const char *limit_read_key(struct limit *l, const char **at)
{
	int err;

	*at = limit_set_from_text(l, *at, &err);
	switch (err) {
	case 0:
		break;
	case -EINVAL:
		return l->of == LIMIT_OF_PROCESS
			       ? "is of what is not known of one process: rss, rss_anon_bytes, "
				 "swap, wall and what its records count, as cpu or write, are"
			       : "is of what is not known of a span: wall, memory but pss and uss, "
				 "and what is counted, as cpu or processes, are";
	default:
		return "begins with no key: rss, cpu, wall, processes, read, write, net, or one of "
		       "bpfmon metrics";
	}
	*at = limit_skip_blanks(*at);
	if (**at != '<')
		return "has no < after its key";
	*at = limit_skip_blanks(*at + 1);
	return NULL;
}

static const char *limit_check_metrics(const struct limit *l, const struct metric_set *has)
{
	for (unsigned i = 0; i < l->nr_parts; i++) {
		if (metric_has(has, l->parts[i]))
			continue;
		switch (metric_get(l->parts[i])->source) {
		case SOURCE_NET:
			return "is of what is not recorded: add --net";
		case SOURCE_PROCFS:
			return "is of what is not recorded: add --pss";
		default:
			return "is of what is not recorded: see --metrics";
		}
	}
	return NULL;
}

static const char *limit_resolve(struct limit *l, const char *text, const struct metric_set *has)
{
	const char *at = limit_skip_blanks(text), *wrong;

	snprintf(l->text, sizeof(l->text), "%s", text);
	wrong = limit_read_key(l, &at);
	if (!wrong)
		wrong = limit_read_most(l, at);
	return wrong ? wrong : limit_check_metrics(l, has);
}

int limits_resolve(struct limit *limits, const struct limit_texts *texts,
		   const struct metric_set *has)
{
	for (unsigned i = 0; i < texts->nr; i++) {
		const char *wrong;

		limits[i] = (struct limit){ .is_soft = texts->is_soft[i] };
		wrong = limit_resolve(&limits[i], texts->text[i], has);
		if (!wrong)
			continue;
		log_error("the limit '%s' %s; a limit is as in: rss<2GiB", texts->text[i], wrong);
		return -EINVAL;
	}
	return 0;
}
