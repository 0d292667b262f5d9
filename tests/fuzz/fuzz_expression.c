// SPDX-License-Identifier: BSD-2-Clause
/* Conditions of `bpfmon compare --fail-if`, evaluated for two runs. */
#include "fuzz.h"

#include "study/expression.h"
#include "study/side.h"

#include <errno.h>
#include <math.h>

/* Two sides with extreme values, some of them absent. */
static void sides_fill(struct sides *all)
{
	static const double extremes[] = { 0, 1, -1, 1e308, -1e308, 5e-324, NAN };
	const size_t nr = sizeof(extremes) / sizeof(*extremes);

	for (size_t k = 0; k < 2; k++) {
		struct side *s = sides_append(all, k ? "b" : "a");

		FUZZ_HOLDS(s);
		for (size_t i = 0; i < NR_KEYS; i++)
			s->value[i] = extremes[(i * (k + 1) + k) % nr];
	}
}

static void expression_check(const struct expression *e)
{
	struct sides all = { 0 };
	struct groups groups = { 0 };
	struct comparison c;
	size_t length;
	struct judgement j;
	char *text;
	FILE *f = open_memstream(&text, &length);

	sides_fill(&all);
	FUZZ_HOLDS(f && !groups_each(&groups, &all) && !groups_compare(&c, &groups));
	for (int significant = 0; significant < 2; significant++)
		if (!expression_judge(e, &c, 1, significant, &j))
			expression_write(f, e, &j, &c, 1);
	fclose(f);
	free(text);
	comparison_done(&c);
	groups_done(&groups);
	sides_done(&all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), why[256] = "";
	struct expression e;
	int err = expression_parse(&e, text, why, sizeof(why));

	FUZZ_HOLDS(!err || (err == -EINVAL && *why));
	if (!err) {
		FUZZ_HOLDS(e.key < NR_KEYS && run_key(e.key).name);
		FUZZ_HOLDS(isfinite(e.amount));
		expression_check(&e);
	}
	free(text);
	return 0;
}
