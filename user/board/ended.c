// SPDX-License-Identifier: BSD-2-Clause
#include "board/ended.h"

#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>

const struct ended_metric ended_metrics[NR_ENDED_METRICS] = {
	{ "start_time_seconds", "", UNIT_NS, "When the job started, since the epoch" },
	{ "memory_limit_bytes", "", UNIT_BYTES, "Memory limit of the job, if it had one" },
#define ENDED_METRIC(name, key, unit, help) { #name, #key, UNIT_##unit, help },
#include "board/ended_metrics.def"
};

void ended_complete(struct ended_values *e, uint64_t start_epoch_ns, uint64_t memory_max_bytes)
{
	e->value[ENDED_START] = start_epoch_ns;
	e->has[ENDED_START] = true;
	e->value[ENDED_LIMIT] = memory_max_bytes;
	e->has[ENDED_LIMIT] = memory_max_bytes;
}

void ended_init(struct ended_jobs *e, size_t most, uint64_t *dropped)
{
	*e = (struct ended_jobs){ .most = most, .dropped = dropped };
	name_index_init(&e->index);
}

static void ended_remove(struct ended_jobs *e, struct ended_job *j)
{
	name_index_remove(&e->index, &j->entry);
	*(j->older ? &j->older->newer : &e->oldest) = j->newer;
	*(j->newer ? &j->newer->older : &e->newest) = j->older;
	buffer_done(&j->labels);
	free(j);
}

void ended_done(struct ended_jobs *e)
{
	while (e->oldest)
		ended_remove(e, e->oldest);
}

/* Makes room for the labels @text. */
static void ended_make_room(struct ended_jobs *e, const struct buffer *text)
{
	struct name_entry *same = name_index_find(&e->index, text->text, text->used);

	if (same) {
		ended_remove(e, (struct ended_job *)same);
	} else if (e->index.nr >= e->most) {
		*e->dropped += !e->oldest->scrapes;
		ended_remove(e, e->oldest);
	}
}

int ended_add(struct ended_jobs *e, struct buffer *labels, const struct ended_values *values,
	      uint64_t now_ns)
{
	struct ended_job *j = labels->failed ? NULL : memory_calloc(1, sizeof(*j));

	if (j)
		ended_make_room(e, labels);
	if (!j || name_index_add(&e->index, &j->entry, labels->text, labels->used)) {
		free(j);
		buffer_done(labels);
		return -ENOMEM;
	}
	j->labels = *labels;
	j->values = *values;
	j->ended_ns = now_ns;
	j->older = e->newest;
	*(j->older ? &j->older->newer : &e->oldest) = j;
	e->newest = j;
	return 0;
}

void ended_expire(struct ended_jobs *e, uint64_t now_ns, uint64_t keep_ns, unsigned scrapes)
{
	while (e->oldest && now_ns - e->oldest->ended_ns > keep_ns && e->oldest->scrapes >= scrapes)
		ended_remove(e, e->oldest);
}

void ended_count_scrape(struct ended_jobs *e)
{
	for (struct ended_job *j = e->oldest; j; j = j->newer)
		j->scrapes++;
}
