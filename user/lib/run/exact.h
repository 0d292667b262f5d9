/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decimals as they were written. jansson makes doubles of them, in which seconds are too coarse for
 * the nanosecond beyond 48 days: with 64 busy cores, after 18 hours.
 */
#ifndef RUN_EXACT_H
#define RUN_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Looks among the members of the outermost object of @text, which must be JSON, for the number
 * @key; its value times 10^@decimals goes to *@v. False: there is none, or it is not of the form
 * 12.345 with no more digits than that.
 */
bool exact_decimal(const char *text, size_t length, const char *key, unsigned decimals,
		   uint64_t *v);

#endif
