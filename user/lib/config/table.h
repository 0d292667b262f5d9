/* SPDX-License-Identifier: BSD-2-Clause */
/* The keys of the configuration, the types of their values, and the parser of a value. */
#ifndef CONFIG_TABLE_H
#define CONFIG_TABLE_H

#include "config/config.h"

#include <stddef.h>
#include <stdint.h>

enum config_type {
	CONFIG_YES_NO,    /* bool */
	CONFIG_NUMBER,    /* uint64_t */
	CONFIG_BYTES,     /* uint64_t */
	CONFIG_TIME,      /* uint64_t: ns */
	CONFIG_PERCENT,   /* uint64_t: millionths */
	CONFIG_HIERARCHY, /* char[CONFIG_TEXT_BYTES] */
	CONFIG_HOSTS,     /* char[CONFIG_TEXT_BYTES]: names of hosts, with blanks between */
	CONFIG_FILE,      /* char[CONFIG_TEXT_BYTES]: an absolute path */
	CONFIG_SECRET,    /* the same, of a file that others cannot read */
	CONFIG_GROUP,     /* struct config_group */
	CONFIG_ADDRESS,   /* struct config_address */
	NR_CONFIG_TYPES,
};

struct config_row {
	const char *section, *key;
	enum config_type type;
	size_t offset;        /* in struct agent_config */
	uint64_t min, max;    /* of numbers, bytes, times and percents */
	const char *standard; /* the default, as it would stand in the file; empty: none */
	const char *packaged; /* what the sample file sets; NULL: the default, as a comment */
	const char *help;     /* one line */
};

/* In the order of the sample file; the keys of a section follow each other. */
extern const struct config_row config_rows[];
extern const size_t nr_config_rows;

struct config_section {
	const char *name, *help;
};

/* All sections but [rule NAME]. */
extern const struct config_section config_sections[];
extern const size_t nr_config_sections;

/*
 * Set the value of @row in the struct agent_config at @config to @text. Returns 0; -EINVAL if @text
 * is no such value, and @why says what is allowed, without a full stop; or another negative errno
 * if a file or the groups could not be read, with the reason in @why.
 */
int config_value_set(const struct config_row *row, void *config, const char *text, char *why,
		     size_t size);

/*
 * Reads ADDRESS:PORT or [ADDRESS]:PORT; names are not looked up, but for localhost, which is
 * 127.0.0.1. Empty: none. 0; -EINVAL, and @why says what is allowed.
 */
int config_address_parse(const char *text, struct config_address *out, char *why, size_t size);

#endif
