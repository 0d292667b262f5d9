// SPDX-License-Identifier: BSD-2-Clause
/*
 * A repository of git, as files: parts of the input, separated by a byte of 0x1e, become HEAD,
 * commondir, packed-refs, the reference main, and .git where that is a file.
 */
#include "fuzz.h"

#include "run/meta.h"

#include <fcntl.h>
#include <sys/stat.h>

#define SEPARATOR 0x1e

static int make_folder(int in, const char *name)
{
	int fd;

	mkdirat(in, name, 0755);
	fd = openat(in, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FUZZ_HOLDS(fd >= 0);
	return fd;
}

static void write_file(int in, const char *name, const uint8_t *data, size_t size)
{
	int fd = openat(in, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	FUZZ_HOLDS(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
}

/* A folder in the fuzzer's working folder, made once; its files are written for each input. */
static int root_fd(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = make_folder(AT_FDCWD, "repository");
	return fd;
}

static void write_parts(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "repo.git/HEAD", "repo.git/commondir",
					     "repo.git/packed-refs", "repo.git/refs/heads/main",
					     ".git" };
	const uint8_t *end = data + size, *stop;

	close(make_folder(root_fd(), "repo.git"));
	close(make_folder(root_fd(), "repo.git/refs"));
	close(make_folder(root_fd(), "repo.git/refs/heads"));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		stop = data < end ? memchr(data, SEPARATOR, (size_t)(end - data)) : NULL;
		if (!stop)
			stop = end;
		unlinkat(root_fd(), names[i], 0);
		if (stop > data)
			write_file(root_fd(), names[i], data, (size_t)(stop - data));
		data = stop < end ? stop + 1 : end;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct git g = { 0 };
	char text[16 + sizeof(g.branch)];

	write_parts(data, size);
	if (git_read(root_fd(), &g))
		return 0;
	FUZZ_HOLDS(git_is_valid(&g));
	snprintf(text, sizeof(text), "%s", g.branch);
	FUZZ_HOLDS(!strchr(text, '\n') && !strchr(text, 27));
	return 0;
}
