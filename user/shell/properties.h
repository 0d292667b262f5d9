/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads some members of a JSON object that may be cut off at its end: no more than a wrapper needs
 * that is to start fast. A member is the address of its key.
 */
#ifndef SHELL_PROPERTIES_H
#define SHELL_PROPERTIES_H

#include <stdbool.h>
#include <stddef.h>

/* The first member of the object at @at, or NULL: there is none. @at may be NULL. */
const char *properties_begin(const char *at);
/* The one after it, or NULL. */
const char *property_next(const char *member);
/* The member of the object at @at that is called @key, which is of plain ASCII; or NULL. */
const char *property_find(const char *at, const char *key);
/* Where its value is. @member may be NULL, then so is the value. */
const char *property_value(const char *member);
/* Copies its key. False: it does not fit. */
bool property_key(const char *member, char *out, size_t size);
/* Copies its value. False: it is no text, or does not fit. @member may be NULL. */
bool property_text(const char *member, char *out, size_t size);

#endif
