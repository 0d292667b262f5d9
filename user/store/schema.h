/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables, but for the columns of metrics, which column.h adds. */
#ifndef STORE_SCHEMA_H
#define STORE_SCHEMA_H

#define SCHEMA_APPLICATION 0x6270666d /* PRAGMA application_id: "bpfm" */

/* The statements that bring a file from @version to the next; 0: an empty one. */
const char *schema_step(int version);

#endif
