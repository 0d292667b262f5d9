// SPDX-License-Identifier: BSD-2-Clause
#include "waits/waits.h"

#include "base/memory.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Not those of all GPUs, as /dev/nvidiactl, nor those of displays, as /dev/dri/card0. */
static bool file_is_of_gpu(const char *path)
{
	static const char *const beginnings[] = { "/dev/nvidia", "/dev/dri/renderD" };

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++) {
		const size_t n = strlen(beginnings[i]);

		if (!strncmp(path, beginnings[i], n) && path[n] &&
		    !path[n + strspn(path + n, "0123456789")])
			return true;
	}
	return false;
}

static void gpu_files_add(struct gpu_files *g, const char *path)
{
	for (size_t i = 0; i < g->nr; i++)
		if (!strcmp(g->name[i], path))
			return;
	if (g->nr < GPU_FILES)
		snprintf(g->name[g->nr++], GPU_FILE_BYTES, "%s", path);
}

void gpu_files_read(struct gpu_files *g, const char *path)
{
	char file[GPU_FILE_BYTES];
	const struct dirent *entry;
	ssize_t length;
	DIR *folder;

	g->nr = 0;
	folder = memory_opendir(path);
	while (folder && (entry = readdir(folder))) {
		length = readlinkat(dirfd(folder), entry->d_name, file, sizeof(file));
		if (length <= 0 || (size_t)length == sizeof(file)) /* longer than any of them */
			continue;
		file[length] = '\0';
		if (file_is_of_gpu(file))
			gpu_files_add(g, file);
	}
	if (folder)
		closedir(folder);
}

void gpu_files_text(const struct gpu_files *g, char out[GPU_FILES_TEXT])
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < g->nr; i++)
		used += (size_t)snprintf(out + used, GPU_FILES_TEXT - used, "%s%s",
					 !i              ? "holds "
					 : i + 1 < g->nr ? ", "
							 : " and ",
					 g->name[i]);
	if (used)
		snprintf(out + used, GPU_FILES_TEXT - used, " open");
}
