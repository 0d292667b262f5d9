/* SPDX-License-Identifier: BSD-2-Clause */
/* Mounts of file systems served by other processes or machines, from /proc/PID/mountinfo. */
#ifndef WAITS_MOUNTS_H
#define WAITS_MOUNTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum mount_server {
	SERVER_NONE,
	SERVER_FUSE, /* by a process */
	SERVER_NFS,  /* by another machine, as those below */
	SERVER_SMB,
	SERVER_OTHER,
};

struct mount_view {
	uint64_t id, device; /* @device: as FUSE writes it, with the minor number in 20 bits */
	char type[32];       /* "fuse.sshfs", "nfs4" */
	char source[512];    /* "nas:/home"; any text for FUSE */
	char point[4096];
};

/* Returns what serves file systems of this type. */
enum mount_server mount_server_of(const char *type);
/* Finds the mount @id. Returns false if there is none. */
bool mount_find_id(FILE *mountinfo, uint64_t id, struct mount_view *m);
/* Finds the mount of the absolute @path; symbolic links are not followed. */
bool mount_find_path(FILE *mountinfo, const char *path, struct mount_view *m);
/* Finds the mount with such a server, if all such mounts are of one file system. */
bool mount_find_only(FILE *mountinfo, enum mount_server server, struct mount_view *m);

#endif
