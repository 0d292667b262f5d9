/* SPDX-License-Identifier: BSD-2-Clause */
/* The number of terminal columns that a character takes. */
#ifndef BASE_WIDTH_H
#define BASE_WIDTH_H

#include <stddef.h>
#include <stdint.h>

/* 2 for East Asian characters and most emoji, 0 for those drawn over the one before, else 1. */
size_t character_width(uint32_t character);

#endif
