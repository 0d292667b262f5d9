/* SPDX-License-Identifier: BSD-2-Clause */
/* Where stores are: one file a user and host, in the user's state directory (XDG). */
#ifndef STORE_PATH_H
#define STORE_PATH_H

#include "base/user.h"

#include <stdbool.h>
#include <stddef.h>

#define STORE_PATH_BYTES 4352

/*
 * Writes the folder of the stores of the user whose home is @home, where XDG_STATE_HOME says
 * nothing: sudo does not hand it on.
 */
void store_home_folder(char out[STORE_PATH_BYTES], const char *home);

/* The home directory that the user's stores are in, or root's where @as_root. */
const char *user_home(const struct user *caller, bool as_root);
/* The file of the user's own store, or root's where @as_root, in memory that stays. */
const char *user_store(const struct user *caller, const char *host, bool as_root);

#endif
