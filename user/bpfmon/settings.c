// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/settings.h"

#include "bpfmon/common_options.h"

#include "base/text.h"
#include "config/ini.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct settings_reading {
	struct ini in;
	struct settings *s;
	const struct subcommand *sub; /* of the section; NULL: before any */
};

bool settings_are_for(const struct subcommand *sub)
{
	for (const struct option_group *g = sub->groups; g && g->rows; g++)
		if (g->has_variables)
			return true;
	return false;
}

bool setting_is_possible(const struct option_group *group, const struct option_row *row)
{
	return group->rows != common_rows && row->guard != GUARD_TEST;
}

const char *settings_section(const struct subcommand *sub)
{
	return sub->name ? sub->name : "run";
}

/* 1: yes; 0: no; -EINVAL: neither. */
static int yes_or_no(const char *value)
{
	static const char *const words[] = { "no", "yes", "false", "true", "off", "on", "0", "1" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(words[i], value))
			return i % 2;
	return -EINVAL;
}

bool setting_is_no(const struct option_row *row, const char *value)
{
	if (!row->argument)
		return !yes_or_no(value);
	return row->argument_is_optional && !strcmp(value, "no");
}

const char *setting_argument(const struct option_row *row, const char *value)
{
	if (!row->argument || (row->argument_is_optional && !strcmp(value, "yes")))
		return NULL;
	return value;
}

const char *setting_refusal(const struct settings *s, const struct setting *x)
{
	if (s->is_project && x->guard > PROJECT_MAY)
		return "ignored: a project's file may not set it";
	if (s->is_project && x->guard > PROJECT_MAY_AS_ROOT && !getuid())
		return "ignored as root: a project's file only names and tags a run then";
	if (x->guard >= GUARD_ENVIRONMENT && user_is_under_sudo())
		return "ignored under sudo: it is the caller's";
	return NULL;
}

/* The option @key of @sub; @anywhere: else only one that may stand before any section. */
static const struct option_row *setting_row(const struct subcommand *sub, const char *key,
					    bool anywhere, const struct option_group **group)
{
	const struct option_row *row;

	if (!settings_are_for(sub))
		return NULL;
	for (size_t i = 0; (row = option_at(sub, i, group)); i++)
		if (!strcmp(row->name, key) && setting_is_possible(*group, row) &&
		    (anywhere || (*group)->has_variables))
			return row;
	return NULL;
}

/* As the option would be parsed, into a struct that is thrown away. */
static int setting_check(struct ini *in, const struct subcommand *sub,
			 const struct option_group *group, const struct option_row *row,
			 const char *value)
{
	const struct settings_reading *r = in->context;
	void *scratch;
	int err = 0;

	if (r->s->is_project && row->guard > PROJECT_MAY)
		return 0; /* it is not applied */
	if (!row->argument && yes_or_no(value) < 0)
		return ini_refuse(in, -EINVAL, "%s = %s is wrong; allowed are yes and no",
				  row->name, value);
	if (setting_is_no(row, value))
		return 0;
	scratch = calloc(1, sub->options_bytes);
	if (!scratch)
		return ini_refuse(in, -ENOMEM, "out of memory");
	err = row->parse((char *)scratch + group->offset + row->offset,
			 setting_argument(row, value));
	free(scratch);
	if (err)
		return ini_refuse(in, -EINVAL, "%s = %s is wrong: %s", row->name, value, row->help);
	return 0;
}

static int settings_refuse_key(struct ini *in, const char *key)
{
	const struct settings_reading *r = in->context;
	const struct option_group *group;

	if (r->sub)
		return ini_refuse(in, -EINVAL, "[%s] has no option %s; bpfmon %s --help lists them",
				  settings_section(r->sub), key, r->sub->name ? r->sub->name : "");
	for (const struct subcommand *const *sub = subcommands; *sub; sub++)
		if (setting_row(*sub, key, true, &group))
			return ini_refuse(in, -EINVAL,
					  "%s is an option of bpfmon %s; write it below [%s]", key,
					  settings_section(*sub), settings_section(*sub));
	return ini_refuse(in, -EINVAL, "there is no option %s; bpfmon --help lists them", key);
}

static int settings_add(struct ini *in, const char *key, const char *value, enum option_guard guard)
{
	struct settings_reading *r = in->context;
	struct setting *grown, new = {
		.section = strdup(r->sub ? settings_section(r->sub) : ""),
		.key = strdup(key),
		.value = strdup(value),
		.line = in->line,
		.guard = guard,
	};

	grown = reallocarray(r->s->list, r->s->nr + 1, sizeof(*grown));
	if (grown)
		r->s->list = grown;
	if (grown && new.section &&new.key &&new.value) {
		grown[r->s->nr++] = new;
		return 0;
	}
	free(new.section);
	free(new.key);
	free(new.value);
	return ini_refuse(in, -ENOMEM, "out of memory");
}

/* Before any section each subcommand that has the option decides whether the value is right. */
static int settings_key(struct ini *in, const char *key, const char *value)
{
	const struct settings_reading *r = in->context;
	const struct option_group *group;
	const struct option_row *row;
	enum option_guard guard = PROJECT_MAY_AS_ROOT;
	bool is_known = false;

	for (const struct subcommand *const *sub = subcommands; *sub; sub++) {
		if (r->sub && *sub != r->sub)
			continue;
		row = setting_row(*sub, key, r->sub, &group);
		if (row && setting_check(in, *sub, group, row, value))
			return in->err;
		is_known |= row != NULL;
		if (row && row->guard > guard)
			guard = row->guard;
	}
	return is_known ? settings_add(in, key, value, guard) : settings_refuse_key(in, key);
}

static int settings_section_begin(struct ini *in, const char *name)
{
	struct settings_reading *r = in->context;

	for (const struct subcommand *const *sub = subcommands; *sub; sub++)
		if (settings_are_for(*sub) && !strcmp(settings_section(*sub), name)) {
			r->sub = *sub;
			return 0;
		}
	return ini_refuse(in, -EINVAL,
			  "there is no section [%s]; sections are subcommands, as in [list], and "
			  "[run]",
			  name);
}

int settings_parse(struct settings *s, const char *text, size_t length, char *why, size_t size)
{
	struct settings_reading r = { .s = s };
	FILE *f;
	int err;

	*why = '\0';
	if (!length)
		return 0;
	f = fmemopen((char *)text, length, "r");
	r.in = (struct ini){
		.f = f,
		.name = s->path,
		.context = &r,
		.section = settings_section_begin,
		.key = settings_key,
		.why = why,
		.size = size,
	};
	err = f ? ini_read(&r.in) : -ENOMEM;
	if (f)
		fclose(f);
	else
		snprintf(why, size, "%s: out of memory", s->path);
	if (err) {
		settings_done(s);
		text_disarm(why);
	}
	return err;
}

void settings_done(struct settings *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		free(s->list[i].section);
		free(s->list[i].key);
		free(s->list[i].value);
	}
	free(s->list);
	s->list = NULL;
	s->nr = 0;
}
