/* SPDX-License-Identifier: BSD-2-Clause */
/* Untrusted text as text of an XML document. */
#ifndef BASE_XML_H
#define BASE_XML_H

#include <stddef.h>
#include <stdio.h>

/*
 * Writes up to @max characters of @text, and an ellipsis for the rest. Characters that XML forbids,
 * that are invisible, reorder text or break the line are written as their number. For content and
 * for attributes in double quotes. Returns the width in characters.
 */
size_t xml_write(FILE *f, const char *text, size_t max);

#endif
