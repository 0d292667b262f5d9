/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the store of the node is, and whose it is: the historian has the rights of that user. */
#ifndef HISTORY_PLACE_H
#define HISTORY_PLACE_H

#include <stddef.h>
#include <sys/types.h>

struct place {
	uid_t uid;
	gid_t gid;
};

/*
 * Finds the owner of the folder of @store. A folder that is missing is made, and one that is root's
 * and empty is used: these are given to the user "bpfmon", or where there is none to
 * PRIVILEGE_FILES_UID. 0; or a negative errno, and @why is a sentence without a full stop.
 */
int place_prepare(const char *store, struct place *p, char *why, size_t size);
/* For good, with all capabilities. 0 or a negative errno. */
int place_become_owner(const struct place *p);

#endif
