// SPDX-License-Identifier: BSD-2-Clause
/* Reads the revision of a working folder from git's files. git itself is never executed. */
#include "run/meta.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_LEVELS 256
#define MAX_REFERENCES 5 /* limit of a chain of references, as in git */
#define MAX_PACKED_BYTES (64L << 20)
#define REF "ref: "
#define HEADS "refs/heads/"
#define HEX "0123456789abcdef"

/* Opens a regular file below @folder. Opening other types could block or have side effects. */
static int git_open_file(int folder, const char *name)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	__cleanup(closep) int fd = (int)syscall(SYS_openat2, folder, name, &how, sizeof(how));
	char path[32];
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return -ENOENT;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* Reads the first line of a small file, without its newline. */
static int git_read_line(int folder, const char *name, char *line, size_t size)
{
	__cleanup(closep) int fd = git_open_file(folder, name);
	ssize_t n = fd < 0 ? -1 : read(fd, line, size - 1);

	line[n > 0 ? n : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return n > 0 ? 0 : -ENOENT;
}

static bool git_is_revision(const char *text, size_t n)
{
	return (n == 40 || n == 64) && strspn(text, HEX) >= n;
}

/* Checks git-check-ref-format(1): such a name cannot lead out of .git or control a terminal. */
static bool git_is_ref(const char *name)
{
	size_t n = strlen(name);

	if (strncmp(name, "refs/", 5) != 0 || name[n - 1] == '/' || name[n - 1] == '.')
		return false;
	for (const char *c = name; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 127 || strchr("~^:?*[\\", *c))
			return false;
	return !strstr(name, "/.") && !strstr(name, "..") && !strstr(name, "//") &&
	       !strstr(name, "@{") && !strstr(name, ".lock/") &&
	       (n < 5 || strcmp(name + n - 5, ".lock") != 0);
}

/* Parses lines "REVISION NAME"; other lines are a header and the targets of tags. */
static int git_find_packed(int common, const char *ref, char *line, size_t size)
{
	int fd = git_open_file(common, "packed-refs");
	__cleanup(fclosep) FILE *f = fd < 0 ? NULL : memory_fdopen(fd, "r");
	char text[4096];

	while (f && fgets(text, sizeof(text), f) && ftell(f) < MAX_PACKED_BYTES) {
		size_t n = strcspn(text, " "), end = strcspn(text, "\n");

		if (!git_is_revision(text, n) || !text[end])
			continue;
		text[end] = '\0';
		if (strcmp(text + n + 1, ref) != 0)
			continue;
		snprintf(line, size, "%.*s", (int)n, text);
		return 0;
	}
	return -ENOENT;
}

/* Opens the folder with the references of all worktrees of a repository. */
static int git_open_common(int folder)
{
	char path[4096];

	if (git_read_line(folder, "commondir", path, sizeof(path)))
		return dup(folder);
	return openat(folder, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void git_set_branch(struct git *g, const char *ref)
{
	size_t prefix = strlen(HEADS);

	if (!strncmp(ref, HEADS, prefix) && strlen(ref + prefix) < sizeof(g->branch))
		memcpy(g->branch, ref + prefix, strlen(ref + prefix) + 1);
}

static bool git_may_read(int folder)
{
	struct stat st;

	return !fstat(folder, &st) && (geteuid() || !st.st_uid);
}

/* Follows references from HEAD to the revision. */
static int git_read_repository(int folder, struct git *g)
{
	__cleanup(closep) int common = -1;
	char line[4096], *ref = line + strlen(REF);

	if (!git_may_read(folder) || git_read_line(folder, "HEAD", line, sizeof(line)))
		return -ENOENT;
	common = git_open_common(folder);
	if (common < 0 || !git_may_read(common))
		return -ENOENT;
	for (int i = 0; i < MAX_REFERENCES && !strncmp(line, REF, strlen(REF)); i++) {
		char name[4096];

		if (!git_is_ref(ref))
			return -ENOENT;
		memcpy(name, ref, strlen(ref) + 1);
		if (!i)
			git_set_branch(g, name);
		if (git_read_line(folder, name, line, sizeof(line)) &&
		    git_read_line(common, name, line, sizeof(line)) &&
		    git_find_packed(common, name, line, sizeof(line)))
			break; /* a branch without a commit */
	}
	if (git_is_revision(line, strlen(line)))
		memcpy(g->revision, line, strlen(line) + 1);
	return g->revision[0] || g->branch[0] ? 0 : -ENOENT;
}

/* Opens the repository of a worktree or submodule, whose .git is a file with the path. */
static int git_open_linked(int folder)
{
	char line[4096];
	const size_t prefix = strlen("gitdir: ");

	if (git_read_line(folder, ".git", line, sizeof(line)) ||
	    strncmp(line, "gitdir: ", prefix) != 0)
		return -ENOENT;
	return openat(folder, line + prefix, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/*
 * Returns 0, -ENOENT if there is no repository here and the search goes on in the parent, or
 * another negative errno if the repository cannot be read.
 */
static int git_read_folder(int folder, struct git *g)
{
	__cleanup(closep) int repository = -1;
	struct stat st;

	if (fstatat(folder, ".git", &st, AT_SYMLINK_NOFOLLOW))
		return -ENOENT;
	if (S_ISDIR(st.st_mode)) {
		repository = openat(folder, ".git", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		return repository < 0 ? -errno : git_read_repository(repository, g);
	}
	if (!S_ISREG(st.st_mode) || (!geteuid() && st.st_uid))
		return -EPERM;
	repository = git_open_linked(folder);
	return repository < 0 || git_read_repository(repository, g) ? -EPERM : 0;
}

int git_read(int fd, struct git *g)
{
	__cleanup(closep) int folder = openat(fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat first, st;

	if (folder < 0 || fstat(folder, &first))
		return -ENOENT;
	for (int i = 0; i < MAX_LEVELS; i++) {
		struct stat above;
		int up, err = git_read_folder(folder, g);

		if (err != -ENOENT)
			return err ? -ENOENT : 0;
		up = openat(folder, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (up < 0)
			return -ENOENT;
		if (fstat(folder, &st) || fstat(up, &above)) {
			close(up);
			return -ENOENT;
		}
		close(folder);
		folder = up;
		/* git stops at the root of the file system too; the parent of / is / */
		if (above.st_dev != first.st_dev ||
		    (above.st_ino == st.st_ino && above.st_dev == st.st_dev))
			return -ENOENT;
	}
	return -ENOENT;
}

bool git_is_valid(const struct git *g)
{
	char ref[sizeof(HEADS) + sizeof(g->branch)];
	size_t n = strnlen(g->revision, sizeof(g->revision));

	if (strnlen(g->branch, sizeof(g->branch)) == sizeof(g->branch) ||
	    (n && (n == sizeof(g->revision) || !git_is_revision(g->revision, n))))
		return false;
	snprintf(ref, sizeof(ref), HEADS "%s", g->branch);
	return (n || g->branch[0]) && (!g->branch[0] || git_is_ref(ref));
}
