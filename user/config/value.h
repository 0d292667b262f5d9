/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of the configuration, by the type of their row. */
#ifndef CONFIG_VALUE_H
#define CONFIG_VALUE_H

#include "config/table.h"

/*
 * Sets the value of @row, in the struct agent_config at @config, to what @text says. 0; -EINVAL: it
 * is no such value, and @why says what is allowed, without a full stop; or what reading of a file
 * or of the groups failed with, in @why, too.
 */
int config_value_set(const struct config_row *row, void *config, const char *text, char *why,
		     size_t size);

#endif
