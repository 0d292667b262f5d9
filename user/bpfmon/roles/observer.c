// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/observer.h"

#include <string.h>

#define MOST_EXTENSION 8 /* letters; names by chance have more */

/* All there are. Those with a target hook are opened in this order, after those of --output. */
/* clang-format off */
static const struct observer_ops *const observers[] = {
	&text_observer,
	&jsonl_observer,
	&csv_observer,
	&terminal_observer,
	&live_observer,	 /* ends before the terminal shows the summary */
	&lines_observer,
	&store_observer, /* ends before the terminal shows where the run is kept */
};
/* clang-format on */

const struct observer_ops *observer_at(size_t i)
{
	return i < sizeof(observers) / sizeof(*observers) ? observers[i] : NULL;
}

const struct observer_ops *observer_find(const char *name, size_t length)
{
	const struct observer_ops *ops;

	for (size_t i = 0; (ops = observer_at(i)); i++)
		if (!ops->target && strlen(ops->name) == length && !memcmp(ops->name, name, length))
			return ops;
	return NULL;
}

const struct observer_ops *observer_for_path(const char *path)
{
	const char *dot = strrchr(path, '.');
	const struct observer_ops *ops;

	for (size_t i = 0; dot && (ops = observer_at(i)); i++)
		if (ops->extension && !strcmp(dot, ops->extension))
			return ops;
	return NULL;
}

const char *path_extension(const char *path)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	size_t n;

	if (!dot || dot == name || !dot[1] || !strchr(letters, dot[1]))
		return NULL;
	n = strspn(dot + 1, letters);
	n += strspn(dot + 1 + n, "0123456789");
	return n <= MOST_EXTENSION && !dot[1 + n] ? dot : NULL;
}
