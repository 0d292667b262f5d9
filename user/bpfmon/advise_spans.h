/* SPDX-License-Identifier: BSD-2-Clause */
/* `bpfmon advise --by span`. */
#ifndef BPFMON_ADVISE_SPANS_H
#define BPFMON_ADVISE_SPANS_H

#include "options/option_values.h"
#include "store/stores.h"
#include "study/span_advice.h"

struct spans_wanted {
	const char *name; /* pattern; NULL: all */
	struct node node; /* capacity 0: unknown */
	enum advice_for to;
	bool is_json;
};

/*
 * Prints the advice from the spans of the first @nr runs, the newest first. Returns 0, or a
 * negative errno after an error message.
 */
int advise_by_span(const struct spans_wanted *w, const struct stores *s,
		   const struct stored_runs *runs, size_t nr);

#endif
