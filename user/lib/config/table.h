/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys of the configuration, types of their values, and the parser of a value. */
#ifndef CONFIG_TABLE_H
#define CONFIG_TABLE_H

#include "config/config.h"

#include <stddef.h>
#include <stdint.h>

enum config_type {
	CONFIG_YES_NO,         /* bool */
	CONFIG_NUMBER,         /* uint64_t */
	CONFIG_BYTES,          /* uint64_t */
	CONFIG_TIME,           /* uint64_t: ns */
	CONFIG_PERCENT,        /* uint64_t: millionths */
	CONFIG_HIERARCHY,      /* char[CONFIG_TEXT_BYTES] */
	CONFIG_HOSTS,          /* char[CONFIG_TEXT_BYTES]: host names, separated by blanks */
	CONFIG_FILE,           /* char[CONFIG_TEXT_BYTES]: an absolute path */
	CONFIG_SECRET,         /* char[CONFIG_TEXT_BYTES]: path of a file that others cannot read */
	CONFIG_GROUP,          /* struct config_group */
	CONFIG_GROUP_MAY_LACK, /* the same; without an ID if there is no such group */
	CONFIG_ADDRESS,        /* struct config_address */
	CONFIG_DIALECT,        /* char[CONFIG_WORD_BYTES]: kind of database */
	CONFIG_METRICS,        /* char[CONFIG_WORD_BYTES]: how many metrics */
	CONFIG_URL,            /* char[CONFIG_TEXT_BYTES]: http, https, unix or udp */
	CONFIG_TAGS,           /* char[CONFIG_TEXT_BYTES]: KEY=VALUE, separated by blanks */
	NR_CONFIG_TYPES,
};

struct config_row {
	const char *section, *key;
	enum config_type type;
	size_t offset;        /* in struct agent_config */
	uint64_t min, max;    /* of numbers, bytes, times and percentages */
	const char *standard; /* default, as written in the file; empty: none */
	const char *packaged; /* value in the sample file; NULL: the default, as a comment */
	const char *help;     /* one line */
};

/* In the order of the sample file; keys of a section are adjacent. */
extern const struct config_row config_rows[];
extern const size_t nr_config_rows;

struct config_section {
	const char *name, *help;
};

/* All sections except [rule NAME]. */
extern const struct config_section config_sections[];
extern const size_t nr_config_sections;

/*
 * Sets the value of @row in the struct agent_config at @config from @text. Returns 0, -EINVAL with
 * @why saying what is allowed, without a full stop, or another negative errno with the reason in
 * @why if a file or the groups could not be read.
 */
int config_value_set(const struct config_row *row, void *config, const char *text, char *why,
		     size_t size);

/*
 * Parses ADDRESS:PORT or [ADDRESS]:PORT; empty: no endpoint. No names except localhost, 127.0.0.1.
 * Returns 0, or -EINVAL with @why saying what is allowed.
 */
int config_address_parse(const char *text, struct config_address *out, char *why, size_t size);

/*
 * push_values.c: values that only the section [push] has. Each is set in @value if @text is valid.
 * Returns 0, or -EINVAL with what is allowed in @why.
 */
/* One of the words that @choice has, as in a sentence: "one, two or three". */
int push_choice_set(const char *choice, const char *text, char *value, char *why, size_t size);
/* A URL, or nothing. */
int push_url_set(const char *text, char *value, char *why, size_t size);
/* KEY=VALUE, separated by spaces. */
int push_tags_set(const char *text, char *value, char *why, size_t size);

#endif
