/* SPDX-License-Identifier: BSD-2-Clause */
/* Where stores are: one file a user and host, in the user's state directory (XDG). */
#ifndef STORE_PATH_H
#define STORE_PATH_H

#include <stdbool.h>
#include <stddef.h>

#define STORE_PATH_BYTES 4352

/*
 * Writes the folder of the stores of the user whose home is @home, where XDG_STATE_HOME says
 * nothing: sudo does not hand it on.
 */
void store_home_folder(char out[STORE_PATH_BYTES], const char *home);
/* Writes the path of the one of @host: in XDG_STATE_HOME, unless @at_home, or in that folder. */
void store_path(char out[STORE_PATH_BYTES], const char *home, const char *host, bool at_home);

#endif
