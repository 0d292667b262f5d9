/* SPDX-License-Identifier: BSD-2-Clause */
/* Text of unknown origin as text of an XML document. */
#ifndef REPORT_XML_H
#define REPORT_XML_H

#include <stddef.h>
#include <stdio.h>

/*
 * Writes up to @max characters of @text, an ellipsis for those that are left. What XML does not
 * allow, and what could hide, reorder or break a line, is shown as its number; returns how many
 * characters wide it is. For content and for attributes in double quotes.
 */
size_t xml_write(FILE *f, const char *text, size_t max);

#endif
