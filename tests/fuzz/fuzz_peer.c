// SPDX-License-Identifier: BSD-2-Clause
/* Files of prmon and of GNU time, compared with themselves. */
#include "fuzz.h"

#include "study/diff.h"
#include "study/compare_document.h"
#include "study/side.h"
#include "study/compare_text.h"

static void side_add_peer(struct sides *all, const char *text, size_t size, int *err)
{
	struct side *s = sides_append(all, "peer");

	FUZZ_HOLDS(s);
	*err = peer_read(s, text, size);
	if (*err)
		sides_drop(all);
	else
		side_derive(s);
}

static void comparison_print(const struct comparison *c, const json_t *diff)
{
	struct jsonw j = { 0 };
	size_t length;
	char *text;
	FILE *f = open_memstream(&text, &length);

	FUZZ_HOLDS(f);
	comparison_text(f, c, diff, 80);
	fclose(f);
	fuzz_is_inert(text, length);
	free(text);
	comparison_document(&j, c, NULL, NULL, diff, NULL, 0);
	FUZZ_HOLDS(!j.failed);
	json_decref(fuzz_json(j.text, j.used));
	jsonw_done(&j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct sides all = { 0 };
	struct groups groups = { 0 };
	struct comparison c;
	json_t *diff;
	int err;

	side_add_peer(&all, text, size, &err);
	if (!err) {
		side_add_peer(&all, "{\"Max\":{\"rss\":1},\"Avg\":{}}", 26, &err);
		FUZZ_HOLDS(!err && !groups_each(&groups, &all) && !groups_compare(&c, &groups));
		diff = facts_diff(&groups);
		FUZZ_HOLDS(diff);
		comparison_print(&c, diff);
		json_decref(diff);
		comparison_done(&c);
		groups_done(&groups);
	}
	sides_done(&all);
	free(text);
	return 0;
}
