/* SPDX-License-Identifier: BSD-2-Clause */
/* Mistyped values of options: keys of metrics, and formats. */
#ifndef CMD_VALUE_GUESS_H
#define CMD_VALUE_GUESS_H

#include "cmd/options.h"

/* What was meant by @text, which the row's parser has refused; NULL: it is not known. */
const char *value_guess(const struct option_row *row, const char *text);

#endif
