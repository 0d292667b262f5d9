/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of list. */
#ifndef BPFMON_CMD_LIST_H
#define BPFMON_CMD_LIST_H

/* Of a row: names of columns with commas between, for a struct run_columns. -EINVAL. */
int list_columns_parse(void *columns, const char *text);

#endif
