/* SPDX-License-Identifier: BSD-2-Clause */
/* The identity of the process that records a run, stored so that others can check whether it lives.
 */
#ifndef STORE_IDENTITY_H
#define STORE_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IDENTITY_BYTES 128

/* Writes the identity of this process: boot, PID namespace, PID and start time. */
void identity_self(char out[IDENTITY_BYTES]);
/* Returns whether the recorder of an unfinished run lives. For one on another machine, the time of
 * its last write (epoch) decides. @text NULL: it is not being recorded. */
bool identity_goes_on(const char *text, uint64_t seen_ns, uint64_t interval_ns);

#endif
