/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of export. */
#ifndef BPFMON_CMD_EXPORT_H
#define BPFMON_CMD_EXPORT_H

/* Of a row: the name of a format, for a pointer to a const struct export_format. -EINVAL. */
int export_format_parse(void *as, const char *text);

#endif
