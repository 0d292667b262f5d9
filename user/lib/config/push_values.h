/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values that only the section [push] has. Each is set in @value if @text is valid. Returns 0, or
 * -EINVAL with what is allowed in @why.
 */
#ifndef CONFIG_PUSH_VALUES_H
#define CONFIG_PUSH_VALUES_H

#include <stddef.h>

/* One of the words that @choice has, as in a sentence: "one, two or three". */
int push_choice_set(const char *choice, const char *text, char *value, char *why, size_t size);
/* A URL, or nothing. */
int push_url_set(const char *text, char *value, char *why, size_t size);
/* KEY=VALUE, separated by spaces. */
int push_tags_set(const char *text, char *value, char *why, size_t size);

#endif
