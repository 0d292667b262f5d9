// SPDX-License-Identifier: BSD-2-Clause
#include "run/key.h"

#include "base/text.h"

#include <errno.h>
#include <string.h>

struct run_key run_key(size_t i)
{
	const struct metric *m;

	if (i < NR_SUMMARY_COMPARED) {
		const struct member *f = summary_field_compared((unsigned)i + 1);

		return (struct run_key){ f->key, f->unit, false };
	}
	m = metric_get((enum metric_id)(i - NR_SUMMARY_COMPARED));
	if (m->kind != KIND_COUNTER)
		return (struct run_key){ 0 };
	return (struct run_key){ m->key, m->unit, m->source == SOURCE_WAIT };
}

static const struct {
	const char *word, *key;
} words[] = {
	{ "wall", "wall_seconds" },   { "cpu", "cpu_seconds" },
	{ "cores", "cores_mean" },    { "memory", "memory_needed_bytes" },
	{ "peak", "rss_peak_bytes" }, { "read", "read_bytes" },
	{ "written", "write_bytes" }, { "processes", "processes_total" },
};
#define NR_WORDS (sizeof(words) / sizeof(*words))

const char *run_key_word(size_t i, const char **key)
{
	if (i >= NR_WORDS)
		return NULL;
	*key = words[i].key;
	return words[i].word;
}

int run_key_find(const char *name, size_t length, size_t *i)
{
	for (size_t w = 0; w < NR_WORDS; w++) {
		if (!text_is(name, length, words[w].word))
			continue;
		name = words[w].key;
		length = strlen(name);
		break;
	}
	for (size_t k = 0; k < NR_KEYS; k++) {
		const char *key = run_key(k).name;

		if (!key || !text_is(name, length, key))
			continue;
		*i = k;
		return 0;
	}
	return -ENOENT;
}

void run_keys_offer(struct nearest *n)
{
	for (size_t w = 0; w < NR_WORDS; w++)
		nearest_offer(n, words[w].word);
	for (size_t k = 0; k < NR_KEYS; k++)
		if (run_key(k).name)
			nearest_offer(n, run_key(k).name);
}

const char *run_key_nearest(const char *name, size_t length)
{
	struct nearest n;

	nearest_begin(&n, name, length);
	run_keys_offer(&n);
	return n.distance ? n.word : NULL;
}
