/* SPDX-License-Identifier: BSD-2-Clause */
/* Gives up what is not needed any more. */
#ifndef BASE_PRIVILEGE_H
#define BASE_PRIVILEGE_H

#include <stdint.h>

/* Drops every capability but those in @keep (1 << CAP_...), for good: also over an exec. */
int privilege_keep(uint64_t keep);
/* Sets the effective ones to the permitted ones within @mask, which can be undone. */
int privilege_use(uint64_t mask);

#endif
