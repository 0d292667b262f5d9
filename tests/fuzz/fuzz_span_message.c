// SPDX-License-Identifier: BSD-2-Clause
/* What a process of unknown origin says of a span: what is read is in its limits, and written again
 * it is the same. */
#include "fuzz.h"

#include "base/span_call.h"
#include "run/span.h"

static void check_again(const struct span_message *m)
{
	const struct span_label *label = &m->label;
	struct span_message again;
	struct jsonw j = { 0 };
	char why[64];

	span_call_write(&j,
			&(struct span_call_words){ .name = label->name,
						   .is_end = m->is_end,
						   .in_place = m->in_place,
						   .has_status = m->has_status,
						   .status = m->status,
						   .pid = m->pid },
			label->tags, label->nr_tags);
	FUZZ_HOLDS(!j.failed && !j.lossy);
	FUZZ_HOLDS(!span_message_read(&again, j.text, j.used, why, sizeof(why)));
	FUZZ_HOLDS(again.is_end == m->is_end && again.pid == m->pid);
	FUZZ_HOLDS(again.has_status == m->has_status && again.status == m->status);
	FUZZ_HOLDS(!strcmp(again.label.name, label->name));
	FUZZ_HOLDS(again.label.nr_tags == label->nr_tags);
	for (size_t i = 0; i < label->nr_tags; i++)
		FUZZ_HOLDS(!strcmp(again.label.tags[i], label->tags[i]));
	span_message_done(&again);
	jsonw_done(&j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span_message m;
	char why[64];

	if (span_message_read(&m, (const char *)data, size, why, sizeof(why))) {
		FUZZ_HOLDS(*why && !strchr(why, '\n') && !m.text);
		return 0;
	}
	FUZZ_HOLDS(*m.label.name && strlen(m.label.name) < SPAN_NAME_BYTES);
	FUZZ_HOLDS(m.label.nr_tags <= MAX_SPAN_TAGS && m.pid >= 0);
	check_again(&m);
	span_message_done(&m);
	return 0;
}
