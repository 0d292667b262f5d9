/* SPDX-License-Identifier: BSD-2-Clause */
/* Identifies the process that records a run, so that others can check whether it lives. */
#ifndef STORE_IDENTITY_H
#define STORE_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IDENTITY_BYTES 128

/* Writes the identity of this process: boot, PID namespace, PID and start time. */
void identity_self(char out[IDENTITY_BYTES]);
/*
 * Returns whether the recorder with the identity @text (may be NULL) lives. On another machine or
 * in another PID namespace, the time @seen_ns of its last write (epoch) decides.
 */
bool identity_is_alive(const char *text, uint64_t seen_ns, uint64_t interval_ns);

#endif
