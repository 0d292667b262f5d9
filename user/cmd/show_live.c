// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/show_live.h"

#include "base/clock.h"
#include "base/text.h"
#include "model/stall_state.h"
#include "source/live_look.h"
#include "view/format.h"
#include "view/heaviest_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 10

/* The processes with the most memory, and the number of all. */
struct live_heaviest {
	struct process_sample rows[SHOWN]; /* the heaviest first */
	size_t nr_rows;
	uint64_t nr;
};

/* A process with as much as another is behind it. */
static bool process_is_heavier(const struct process_sample *a, const struct process_sample *b)
{
	if (a->value[M_rss] != b->value[M_rss])
		return a->value[M_rss] > b->value[M_rss];
	return a->value[M_cpu] > b->value[M_cpu];
}

static int heaviest_take(void *context, const struct process_sample *p)
{
	struct live_heaviest *k = context;
	size_t at = k->nr_rows;

	while (at > 0 && process_is_heavier(p, &k->rows[at - 1]))
		at--;
	k->nr++;
	if (at == SHOWN)
		return 0;
	if (k->nr_rows < SHOWN)
		k->nr_rows++;
	memmove(&k->rows[at + 1], &k->rows[at], (k->nr_rows - 1 - at) * sizeof(*k->rows));
	k->rows[at] = *p;
	k->rows[at].exe = NULL; /* of the line */
	return 0;
}

static void heaviest_print(const struct live_heaviest *k)
{
	char n[FORMAT_BYTES], at[FORMAT_BYTES];

	printf("\n  alive       %s process%s", format_count(n, k->nr), k->nr == 1 ? "" : "es");
	if (k->nr_rows)
		printf(" at %s", format_seconds(at, k->rows[0].elapsed_ns));
	if (k->nr > k->nr_rows)
		printf("; the %zu with the most memory:", k->nr_rows);
	putchar('\n');
	heaviest_text(stdout, "alive", k->rows, k->nr_rows);
}

static int stall_take_line(void *context, struct line *l)
{
	stall_state_take(context, l->tree);
	return 0;
}

int run_show_stall(struct source *s)
{
	struct stall_state last = { 0 };
	int err = source_each(s, PART(LINE_EVENT), stall_take_line, &last);
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);
	char for_s[FORMAT_BYTES];

	if (err || !last.is_stalled)
		return err;
	text_disarm(last.reason);
	printf("\n  stalled     nothing was done for %s%s%s\n",
	       format_seconds(for_s,
			      now_ns > last.since_epoch_ns ? now_ns - last.since_epoch_ns : 0),
	       *last.reason ? ": " : "", last.reason);
	return 0;
}

int run_show_live(const json_t *meta)
{
	const char *socket = json_string_value(json_object_get(meta, "live_socket"));
	struct live_heaviest *k = calloc(1, sizeof(*k)); /* large for a stack */
	char why[256];
	int err = k ? live_look(socket, heaviest_take, k, why, sizeof(why)) : -ENOMEM;

	if (!err)
		heaviest_print(k);
	else if (err != -ENOMEM)
		printf("\n  alive       not known: %s\n", why);
	free(k);
	return err == -ENOMEM ? err : 0;
}
