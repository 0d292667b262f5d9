/* SPDX-License-Identifier: BSD-2-Clause */
/* How many columns of a terminal characters take. */
#ifndef BASE_WIDTH_H
#define BASE_WIDTH_H

#include <stddef.h>
#include <stdint.h>

/* 2 for East Asian ones and most emoji, 0 for what is drawn over the one before it, else 1. */
size_t width_of(uint32_t character);

#endif
