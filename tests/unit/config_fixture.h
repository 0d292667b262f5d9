/* SPDX-License-Identifier: BSD-2-Clause */
/* What tests of the agent's configuration share: a text is read, or refused with a reason. */
#ifndef TESTS_UNIT_CONFIG_FIXTURE_H
#define TESTS_UNIT_CONFIG_FIXTURE_H

#include "config/config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct agent_config config;
static char why[CONFIG_WHY_BYTES];

static inline int bytes_parse(const char *text, size_t length)
{
	FILE *f = length ? fmemopen((void *)text, length, "r") : fopen("/dev/null", "r");
	int err;

	assert_non_null(f);
	config_done(&config);
	*why = '\0';
	err = config_read_stream(f, "a.conf", &config, why, sizeof(why));
	fclose(f);
	return err;
}

static inline void assert_read(const char *text)
{
	int err = bytes_parse(text, strlen(text));

	assert_string_equal(why, "");
	assert_int_equal(err, 0);
}

static inline void assert_refused(const char *text, const char *reason)
{
	assert_int_equal(bytes_parse(text, strlen(text)), -EINVAL);
	assert_string_equal(why, reason);
	assert_null(config.rules);
}

static inline int config_release(void **state)
{
	(void)state;
	config_done(&config);
	return 0;
}

#endif
