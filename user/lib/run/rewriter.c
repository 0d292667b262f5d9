// SPDX-License-Identifier: BSD-2-Clause
#include "run/rewriter.h"

#include "base/jansson_memory.h"
#include "base/memory.h"
#include "base/text.h"
#include "run/reader.h"
#include "run/tree.h"
#include "run/writer.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#define DOUBLE_IS_COARSE 1e6 /* s; above it a double does not hold all nanoseconds */

/* Writes the exact value of the metric @key, as read from the line's text. */
static bool exact_metric_write(struct jsonw *j, const struct line *l, const char *key)
{
	const struct metric_set *have = NULL;
	const uint64_t *value = NULL;
	enum metric_id id;

	if (l->kind == LINE_SAMPLE)
		have = &l->sample.have, value = l->sample.value;
	else if (l->kind == LINE_PROCESS)
		have = &l->process.have, value = l->process.value;
	else if (l->kind == LINE_PROCESS_SAMPLE)
		have = &l->process_sample.have, value = l->process_sample.value;
	else if (l->kind == LINE_SUMMARY)
		have = &l->summary.total.have, value = l->summary.total.value;
	else if (l->kind == LINE_SPAN)
		have = &l->span.used.total.have, value = l->span.used.total.value;
	if (!have || metric_find(key, strlen(key), &id) || !metric_has(have, id))
		return false;
	metric_write(j, id, value[id]);
	return true;
}

static bool exact_write(struct jsonw *j, const struct line *l, const char *key, const json_t *v)
{
	if (!json_is_real(v) || json_real_value(v) < DOUBLE_IS_COARSE)
		return false;
	if (l->kind == LINE_SAMPLE && !strcmp(key, "elapsed_seconds"))
		jsonw_decimal(j, key, l->sample.elapsed_ns, 9);
	else if (l->kind == LINE_PROCESS_SAMPLE && !strcmp(key, "elapsed_seconds"))
		jsonw_decimal(j, key, l->process_sample.elapsed_ns, 9);
	else if (l->kind == LINE_SUMMARY && !strcmp(key, "wall_seconds"))
		jsonw_decimal(j, key, l->summary.wall_ns, 9);
	else if (l->kind == LINE_SPAN && !strcmp(key, "wall_seconds"))
		jsonw_decimal(j, key, l->span.used.wall_ns, 9);
	else
		return exact_metric_write(j, l, key);
	return true;
}

/* Returns the time of a sample since the start of the run, or NULL for another line. */
static const uint64_t *sample_elapsed(const struct line *l)
{
	if (!json_is_number(json_object_get(l->tree, "elapsed_seconds")))
		return NULL;
	return l->kind == LINE_SAMPLE           ? &l->sample.elapsed_ns
	       : l->kind == LINE_PROCESS_SAMPLE ? &l->process_sample.elapsed_ns
						: NULL;
}

/* Writes the time of a sample as start plus elapsed time, as where a line has no tree. */
static void tree_rewrite(struct jsonw *j, const struct line *l)
{
	const uint64_t *elapsed_ns = sample_elapsed(l);
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)l->tree, key, v) {
		if (elapsed_ns && !strcmp(key, "time"))
			continue;
		if (!exact_write(j, l, key, v))
			tree_write(j, key, v);
		if (elapsed_ns && !strcmp(key, "kind"))
			epoch_write(j, "time", l->start_epoch_ns + *elapsed_ns);
	}
}

void rewrite_line(struct jsonw *j, const struct line *l)
{
	if (!l->tree && l->kind == LINE_SAMPLE)
		write_sample_since(j, l->start_epoch_ns, &l->sample);
	if (!l->tree && l->kind == LINE_PROCESS)
		write_process(j, &l->process);
	if (!l->tree && l->kind == LINE_PROCESS_SAMPLE)
		write_process_sample(j, l->start_epoch_ns, &l->process_sample);
	if (!l->tree && l->kind == LINE_SPAN)
		write_span(j, &l->span);
	if (!l->tree)
		return;
	jsonw_object(j, NULL);
	tree_rewrite(j, l);
	line_end(j);
}

/* The members that can change. */
enum changeable { OF_NAME, OF_NOTE, OF_TAGS, OF_EDITED, NR_CHANGEABLE };

static const char *const keys[NR_CHANGEABLE] = { "name", "note", "tags", "edited_time" };

/* State of a line that is copied member by member. */
struct meta_copy {
	struct jsonw *j;
	const json_t *meta;
	const char *at, *end;
	bool is_written[NR_CHANGEABLE];
	bool needs_comma;
};

/* @none replaces an empty text; NULL: the member is removed. */
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
	v = json_string(text); /* also NULL for text that is not UTF-8 */
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

/* Sets a time later than the previous edit, even if the clock was set back since. */
static int meta_set_edited(json_t *meta, uint64_t epoch_ns)
{
	uint64_t before_us = member_read_epoch(meta, keys[OF_EDITED]) / 1000, us = epoch_ns / 1000;
	json_t *v = json_real((double)(us > before_us ? us : before_us + 1) / 1e6);

	return json_object_set_new(meta, keys[OF_EDITED], v) ? -ENOMEM : 0;
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
	if (!err && c->edited_epoch_ns)
		err = meta_set_edited(meta, c->edited_epoch_ns);
	return err;
}

static bool tags_are_texts(json_t *tags)
{
	const char *key;
	json_t *v;

	json_object_foreach(tags, key, v)
		if (!json_is_string(v))
			return false;
	return json_object_size(tags) <= MAX_TAGS;
}

/* Checks the type. A missing key (NULL) is valid. */
static bool changeable_is_valid(enum changeable id, json_t *v)
{
	if (!v || (id == OF_NAME && json_is_null(v)))
		return true;
	if (id == OF_TAGS)
		return json_is_object(v) && tags_are_texts(v);
	return id == OF_EDITED ? json_is_number(v) : json_is_string(v);
}

static int meta_replace_edits(json_t *meta, const json_t *from)
{
	for (int id = 0; id < NR_CHANGEABLE; id++) {
		json_t *v = json_object_get(from, keys[id]);

		if (!changeable_is_valid((enum changeable)id, v))
			return -EBADMSG;
		if (!v)
			json_object_del(meta, keys[id]);
		else if (json_object_set(meta, keys[id], v))
			return -ENOMEM;
	}
	return 0;
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

/* Returns the position of the comma or brace after the value. */
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

/* Writes a changeable member unless it is missing or was written before. */
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
		if (text_is(key, n, keys[id])) {
			meta_put_changeable(m, (enum changeable)id);
			return;
		}
	meta_put_comma(m);
	jsonw_raw(m->j, begin, (size_t)(m->at - begin));
}

/* Copies all members of the text, which jansson has accepted as an object. */
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

/* Applies @c, or if it is NULL takes the members of @from. */
static int meta_write(struct jsonw *j, const char *text, size_t length,
		      const struct meta_changes *c, const json_t *from, json_t **meta)
{
	size_t failures = memory_failures_of_thread();
	json_t *o = jansson_loadb(text, length, JSON_ALLOW_NUL, NULL);
	struct meta_copy m = { .j = j, .meta = o, .at = text, .end = text + length };
	int err = -EBADMSG;

	*meta = o;
	if (json_is_object(o))
		err = c ? meta_change(o, c) : meta_replace_edits(o, from);
	if (!err)
		meta_copy_members(&m);
	if (memory_failures_of_thread() > failures || j->failed)
		return -ENOMEM;
	return err;
}

int meta_edit(struct jsonw *j, const char *text, size_t length, const struct meta_changes *c,
	      json_t **meta)
{
	return meta_write(j, text, length, c, NULL, meta);
}

int meta_copy_edits(struct jsonw *j, const char *text, size_t length, const json_t *from,
		    json_t **meta)
{
	return meta_write(j, text, length, NULL, from, meta);
}
