/* SPDX-License-Identifier: BSD-2-Clause */
/* The process that records a run, as kept with it: so that others can find out whether it goes on.
 */
#ifndef STORE_IDENTITY_H
#define STORE_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IDENTITY_BYTES 128

/* This process, by boot, PID namespace, PID and start time. */
void identity_self(char out[IDENTITY_BYTES]);
/* Whether a run that has not ended goes on; where its recorder cannot be asked, when it wrote last
 * (epoch) tells. @text: NULL: it is not being recorded. */
bool identity_goes_on(const char *text, uint64_t seen_ns, uint64_t interval_ns);

#endif
