// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/effect.h"

#include "base/log.h"
#include "run/metric.h"

#include <assert.h>
#include <string.h>

void asked_add(struct asked_options *asked, const char *name, const char *source)
{
	assert(asked->nr < MAX_ASKED);
	asked->list[asked->nr++] = (struct asked_option){ name, source };
}

/*
 * Returns the reason why no metric that @source selects is available, or NULL if one is, or none is
 * wanted.
 */
static const char *source_why_missing(const char *source, const json_t *capabilities)
{
	const char *why = NULL;

	for (int i = 0; i < NR_METRICS; i++) {
		const struct metric *m = metric_get((enum metric_id)i);
		const char *option = metric_source_get(m->source)->option;
		const json_t *said = json_object_get(capabilities, m->key);
		const char *reason = json_string_value(json_object_get(said, "reason"));

		if (!option || strcmp(option, source) != 0 || !said)
			continue;
		if (json_is_true(json_object_get(said, "available")))
			return NULL;
		if (!why)
			why = reason ? reason : "its metrics are not available";
	}
	return why;
}

void asked_check(const struct asked_options *asked, const json_t *meta)
{
	const json_t *capabilities = json_object_get(meta, "capabilities");

	for (size_t i = 0; i < asked->nr; i++) {
		const char *why = source_why_missing(asked->list[i].source, capabilities);

		if (why)
			log_warn("%s has no effect: %s", asked->list[i].name, why);
	}
}
