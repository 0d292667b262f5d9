// SPDX-License-Identifier: BSD-2-Clause
#include "record/sink.h"

#include <string.h>

static const struct sink_ops *const sinks[] = { &text_sink, &jsonl_sink, &csv_sink };

const struct sink_ops *sink_at(size_t i)
{
	return i < sizeof(sinks) / sizeof(*sinks) ? sinks[i] : NULL;
}

const struct sink_ops *sink_find(const char *name, size_t length)
{
	const struct sink_ops *ops;

	for (size_t i = 0; (ops = sink_at(i)); i++)
		if (strlen(ops->name) == length && !memcmp(ops->name, name, length))
			return ops;
	return NULL;
}

const struct sink_ops *sink_for_path(const char *path)
{
	const char *dot = strrchr(path, '.');
	const struct sink_ops *ops;

	for (size_t i = 0; dot && (ops = sink_at(i)); i++)
		if (!strcmp(dot, ops->extension))
			return ops;
	return NULL;
}
