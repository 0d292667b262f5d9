/* SPDX-License-Identifier: BSD-2-Clause */
/* The device files of GPUs that a process has open, from /proc with the rights of the caller. */
#ifndef WAITS_GPU_FILES_H
#define WAITS_GPU_FILES_H

#include <stddef.h>
#include <sys/types.h>

#define GPU_FILES 16 /* further ones are left out */
#define GPU_FILE_BYTES 32
#define GPU_FILES_TEXT (GPU_FILES * (GPU_FILE_BYTES + 2) + 16)

struct gpu_files {
	char name[GPU_FILES][GPU_FILE_BYTES]; /* each once */
	size_t nr;
};

/* Reads the links in the folder @path, as /proc/PID/fd. None if it cannot be read. */
void gpu_files_read(struct gpu_files *g, const char *path);
/* Writes "holds /dev/nvidia0 and /dev/nvidia1 open"; "" if there is none. */
void gpu_files_text(const struct gpu_files *g, char out[GPU_FILES_TEXT]);

#endif
