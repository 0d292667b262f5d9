// SPDX-License-Identifier: BSD-2-Clause
#include "store/tables.h"

#define ROWS_AT_ONCE 5000

/* In the order of the schemas that added them. */
static const struct run_table tables[] = {
	{ "run_text", NULL, 0 },
	{ "tag", NULL, 0 },
	{ "sample", "elapsed_ns", 0 },
	{ "block", "elapsed_ns", 0 },
	{ "process", "seq", 0 },
	{ "process_sample", "elapsed_ns", 0 },
	{ "event", "seq", 0 },
	{ "span", "seq", SPANS_SINCE },
	{ "instance", "elapsed_ns", INSTANCES_SINCE },
	{ "signature", NULL, SIGNATURES_SINCE },
};

const struct run_table *run_table_at(size_t i, int64_t version)
{
	return i < sizeof(tables) / sizeof(*tables) && tables[i].since <= version ? &tables[i]
										  : NULL;
}

int portion_next(struct database *d, const char *schema, const struct run_table *t, int64_t run,
		 struct portion *p)
{
	int err = database_number(d, &p->upto, &p->is_last,
				  "SELECT %s FROM %s.%s WHERE run=%lld AND %s>%lld ORDER BY %s"
				  " LIMIT 1 OFFSET %d",
				  t->key, schema, t->name, (long long)run, t->key,
				  (long long)p->after, t->key, ROWS_AT_ONCE - 1);

	/* a key that is no number may come after all numbers, for ever */
	if (!err && !p->is_last && p->upto <= p->after)
		err = database_error(d, SQLITE_CORRUPT);
	return err;
}
