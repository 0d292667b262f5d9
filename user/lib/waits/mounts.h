/* SPDX-License-Identifier: BSD-2-Clause */
/* Mounts of file systems that other processes or machines serve, from /proc/PID/mountinfo. */
#ifndef WAITS_MOUNTS_H
#define WAITS_MOUNTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum mount_server {
	SERVER_NONE,
	SERVER_FUSE, /* a process */
	SERVER_NFS,  /* another machine, as of those below */
	SERVER_SMB,
	SERVER_OTHER,
};

struct mount_view {
	uint64_t id, device; /* @device: as FUSE writes it, the minor number in 20 bits */
	char type[32];       /* "fuse.sshfs", "nfs4" */
	char source[512];    /* "nas:/home"; of FUSE it is any text */
	char point[4096];
};

/* Returns the kind of server of file systems of this type. */
enum mount_server mount_server_of(const char *type);
/* Finds the mount with this number. Returns false if there is none. */
bool mount_find_id(FILE *mountinfo, uint64_t id, struct mount_view *m);
/* Finds the mount of @path, which is absolute; symbolic links are not followed. */
bool mount_find_path(FILE *mountinfo, const char *path, struct mount_view *m);
/* Finds the mount with such a server, if all of these are of one file system. */
bool mount_find_only(FILE *mountinfo, enum mount_server server, struct mount_view *m);

#endif
