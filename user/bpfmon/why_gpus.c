// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/why_gpus.h"

#include "base/memory.h"
#include "text/summary_lines.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST_GPU_NOTES 4

/* Returns what gpus_now_text() writes; the caller frees it. NULL without memory. */
static char *gpus_now_make(const struct sample *last)
{
	char *text = NULL;
	size_t length;
	FILE *f = memory_open_memstream(&text, &length);

	if (!f)
		return NULL;
	gpus_now_text(f, last);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

/* Stores the GPUs that a process has open which does not run. Returns false if there are none. */
static bool wait_holds_gpus(const struct wait *wait, struct gpu_files *g)
{
	char path[64];

	if (wait->kind <= WAIT_HIDDEN || wait->kind == WAIT_RUNS)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/fd", wait->pid);
	gpu_files_read(g, path);
	return g->nr;
}

void why_gpus_print(const struct waits *w, const struct sample *last)
{
	char text[GPU_FILES_TEXT], *now = gpus_now_make(last);
	struct gpu_files g;
	unsigned nr = 0;

	if (now && *now)
		printf("GPUs: %s\n", now);
	free(now);
	for (size_t i = 0; i < waits_given(w) && nr < MOST_GPU_NOTES; i++) {
		const struct wait *wait = waits_get(w, i);

		if (!wait_holds_gpus(wait, &g))
			continue;
		gpu_files_text(&g, text);
		printf("GPUs: %d %s %s\n", wait->pid, *wait->comm ? wait->comm : "-", text);
		nr++;
	}
}

void why_gpu_files_json(struct jsonw *j, const struct wait *wait)
{
	struct gpu_files g;

	if (!wait_holds_gpus(wait, &g))
		return;
	jsonw_array(j, "gpu_files");
	for (size_t i = 0; i < g.nr; i++)
		jsonw_string(j, NULL, g.name[i]);
	jsonw_array_end(j);
}

void why_gpus_json(struct jsonw *j, const struct sample *last)
{
	static const enum metric_id all[] = { M_gpus_held, M_gpus_used, M_gpus_idle };
	char *text = gpus_now_make(last);

	if (text && *text) {
		jsonw_object(j, "gpus");
		jsonw_string(j, "text", text);
		for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
			if (sample_has(last, all[i]))
				jsonw_decimal(j, metric_get(all[i])->key, last->value[all[i]],
					      metric_unit_decimals(metric_get(all[i])->unit));
		jsonw_object_end(j);
	}
	free(text);
}
