/* SPDX-License-Identifier: BSD-2-Clause */
/* An address to listen at, as text. */
#ifndef CONFIG_ADDRESS_H
#define CONFIG_ADDRESS_H

#include "config/config.h"

/*
 * Reads ADDRESS:PORT or [ADDRESS]:PORT; names are not looked up, but for localhost, which is
 * 127.0.0.1. Empty: none. 0; -EINVAL, and @why says what is allowed.
 */
int config_address_parse(const char *text, struct config_address *out, char *why, size_t size);

#endif
