// SPDX-License-Identifier: BSD-2-Clause
#include "push/point.h"

#include <string.h>

void tags_put_list(struct buffer *t, const char *tags, put_tag_fn put)
{
	for (size_t n; tags += strspn(tags, " "), (n = strcspn(tags, " ")); tags += n) {
		const char *value = memchr(tags, '=', n);
		char key[INFLUX_KEY_BYTES];

		if (!value || (size_t)(value - tags) >= sizeof(key))
			continue;
		memcpy(key, tags, (size_t)(value - tags));
		key[value - tags] = '\0';
		put(t, key, value + 1, (size_t)(tags + n - value - 1));
	}
}

void labels_put_owner(struct buffer *t, const struct job_labels *l, put_tag_fn put)
{
	put(t, "user", l->user, strlen(l->user));
	put(t, "kind", l->kind, strlen(l->kind));
	put(t, "namespace", l->namespace, strlen(l->namespace));
	put(t, "account", l->account, strlen(l->account));
	put(t, "partition", l->partition, strlen(l->partition));
	if (l->is_nested)
		put(t, "nested", "yes", strlen("yes"));
}

void labels_put_all(struct buffer *t, const struct job_labels *l, put_tag_fn put)
{
	put(t, "job", l->job, strlen(l->job));
	put(t, "name", l->name, strlen(l->name));
	put(t, "pod", l->pod, strlen(l->pod));
	put(t, "container", l->container, strlen(l->container));
	labels_put_owner(t, l, put);
	if (!t->used)
		put(t, "kind", "unknown", strlen("unknown")); /* the text is a key, too */
}

void point_begin(struct point *at)
{
	at->begin = at->t->used;
	at->has_value = false;
	at->p->notation->begin(at);
}

void point_put_value(struct point *at, const struct family *f, uint64_t value)
{
	if (!metric_unit_decimals(f->unit) && value > INT64_MAX)
		return;
	at->p->notation->put(at, f, value);
	at->has_value = true;
}

void point_end(struct point *at)
{
	if (at->has_value)
		at->p->notation->end(at);
	else
		at->t->used = at->begin; /* a line without a field would be refused */
}

void point_put_ended(struct point *at, const struct ended_values *values)
{
	for (int i = 0; i < NR_ENDED_METRICS; i++) {
		const struct family f = ended_family(i);

		if (values->has[i])
			point_put_value(at, &f, values->value[i]);
	}
}
