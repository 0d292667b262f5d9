/* SPDX-License-Identifier: BSD-2-Clause */
/* Mistyped values of options: keys of metrics, and formats. */
#ifndef BPFMON_VALUE_GUESS_H
#define BPFMON_VALUE_GUESS_H

#include "bpfmon/options.h"

/* What was meant by @text, which the row's parser has refused; NULL: it is not known. */
const char *value_guess(const struct option_row *row, const char *text);

#endif
