/* SPDX-License-Identifier: BSD-2-Clause */
/* A group of the machine, by its name. */
#ifndef CONFIG_GROUP_H
#define CONFIG_GROUP_H

#include "config/config.h"

/*
 * Finds the group that is called @text; empty: none. 0; -EINVAL: there is no such group, and @why
 * says what is allowed; or a negative errno of the look-up, in @why, too.
 */
int config_group_find(const char *text, struct config_group *group, char *why, size_t size);

#endif
