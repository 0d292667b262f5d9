/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows that most subcommands have, and the words that may follow options. */
#ifndef BPFMON_COMMON_OPTIONS_H
#define BPFMON_COMMON_OPTIONS_H

#include "bpfmon/subcommand.h"
#include "store/stores.h"

extern const struct option_row common_rows[]; /* of struct common_options */
extern const struct option_row colour_rows[]; /* the same, of those that show something */
extern const struct option_row store_rows[];  /* of struct store_options */
extern const struct option_row node_rows[];   /* the same, of those that only read */
extern const struct option_row force_rows[];  /* of a bool */
extern const struct option_row silent_rows[]; /* of a bool */

/* 0 without words, or with --help or --version. -EINVAL after one line to the user. */
int words_check_none(const struct common_options *o);
/* 0 with one word, the name of a run, or none, or with --help or --version. -EINVAL after one line.
 */
int words_check_run(const struct common_options *o);

#endif
