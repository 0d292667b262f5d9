// SPDX-License-Identifier: BSD-2-Clause
#include "wire/meta_editor.h"

#include "base/memory.h"
#include "wire/tree.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* The members that can change, and whether each has been written. */
enum changeable { OF_NAME, OF_NOTE, OF_TAGS, NR_CHANGEABLE };

static const char *const keys[NR_CHANGEABLE] = { "name", "note", "tags" };

/* A line that is copied member by member. */
struct meta_copy {
	struct jsonw *j;
	const json_t *meta;
	const char *at, *end;
	bool is_written[NR_CHANGEABLE];
	bool needs_comma;
};

/* @none: what stands for no text; NULL: nothing. */
static int meta_set_text(json_t *meta, const char *key, const char *text, json_t *none)
{
	json_t *v;

	if (!text)
		return 0;
	if (!*text) {
		if (none)
			return json_object_set_new(meta, key, none) ? -ENOMEM : 0;
		json_object_del(meta, key);
		return 0;
	}
	v = json_string(text); /* NULL for what is not UTF-8, too */
	return v && !json_object_set_new(meta, key, v) ? 0 : -EILSEQ;
}

static int meta_set_tag(json_t *tags, const char *text)
{
	size_t n = strcspn(text, "=");
	char key[1024];

	if (!n || text[n] != '=' || n >= sizeof(key))
		return -EINVAL;
	memcpy(key, text, n);
	key[n] = '\0';
	return meta_set_text(tags, key, text + n + 1, NULL);
}

static int meta_change(json_t *meta, const struct meta_changes *c)
{
	json_t *tags = json_object_get(meta, "tags");
	int err = meta_set_text(meta, "name", c->name, c->name && !*c->name ? json_null() : NULL);

	if (!err)
		err = meta_set_text(meta, "note", c->note, NULL);
	if (!err && c->nr_tags && !json_is_object(tags)) {
		tags = json_object();
		err = json_object_set_new(meta, "tags", tags) ? -ENOMEM : 0;
	}
	for (size_t i = 0; !err && i < c->nr_tags; i++)
		err = meta_set_tag(tags, c->tags[i]);
	if (!err && c->nr_tags && json_object_size(tags) > MAX_TAGS)
		err = -E2BIG;
	return err;
}

static const char *meta_skip_blanks(const char *at, const char *end)
{
	while (at < end && isspace((unsigned char)*at))
		at++;
	return at;
}

static const char *meta_skip_string(const char *at, const char *end)
{
	for (at++; at < end && *at != '"'; at++)
		if (*at == '\\')
			at++;
	return at < end ? at + 1 : end;
}

/* Behind the value, at the comma or brace after it. */
static const char *meta_skip_value(const char *at, const char *end)
{
	for (int depth = 0; at < end; at++) {
		if (*at == '"') {
			at = meta_skip_string(at, end) - 1;
			continue;
		}
		if (!depth && (*at == ',' || *at == '}'))
			break;
		depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
	}
	return at;
}

static void meta_put_comma(struct meta_copy *m)
{
	if (m->needs_comma)
		jsonw_raw(m->j, ",", 1);
	m->needs_comma = true;
}

/* A member that can change, unless it is not there, or was written before. */
static void meta_put_changeable(struct meta_copy *m, enum changeable id)
{
	const json_t *v = json_object_get(m->meta, keys[id]);
	struct jsonw member = { 0 };

	if (!v || m->is_written[id])
		return;
	m->is_written[id] = true;
	jsonw_object(&member, NULL);
	tree_write(&member, keys[id], v);
	meta_put_comma(m);
	if (member.failed)
		m->j->failed = true;
	else
		jsonw_raw(m->j, member.text + 1, member.used - 1);
	jsonw_done(&member);
}

static void meta_put_member(struct meta_copy *m, const char *begin, const char *key, size_t n)
{
	for (int id = 0; id < NR_CHANGEABLE; id++)
		if (strlen(keys[id]) == n && !memcmp(keys[id], key, n)) {
			meta_put_changeable(m, (enum changeable)id);
			return;
		}
	meta_put_comma(m);
	jsonw_raw(m->j, begin, (size_t)(m->at - begin));
}

/* The text is an object, as jansson has found. */
static void meta_copy_members(struct meta_copy *m)
{
	m->at = meta_skip_blanks(m->at, m->end) + 1;
	jsonw_raw(m->j, "{", 1);
	while ((m->at = meta_skip_blanks(m->at, m->end)) < m->end && *m->at == '"') {
		const char *begin = m->at, *after = meta_skip_string(begin, m->end);

		m->at = meta_skip_value(after, m->end);
		meta_put_member(m, begin, begin + 1, (size_t)(after - begin) - 2);
		m->at += m->at < m->end && *m->at == ',';
	}
	for (int id = 0; id < NR_CHANGEABLE; id++)
		meta_put_changeable(m, (enum changeable)id);
	jsonw_raw(m->j, m->at, (size_t)(m->end - m->at));
}

int meta_edit(struct jsonw *j, const char *text, size_t length, const struct meta_changes *c,
	      json_t **meta)
{
	size_t failures = memory_failures_of_thread();
	json_t *o = json_loadb(text, length, JSON_ALLOW_NUL, NULL);
	struct meta_copy m = { .j = j, .meta = o, .at = text, .end = text + length };
	int err = json_is_object(o) ? meta_change(o, c) : -EBADMSG;

	*meta = o;
	if (!err)
		meta_copy_members(&m);
	if (memory_failures_of_thread() > failures || j->failed)
		return -ENOMEM;
	return err;
}
