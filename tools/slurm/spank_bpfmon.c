// SPDX-License-Identifier: BSD-2-Clause
/*
 * SPANK plugin for bpfmon: srun and sbatch --bpfmon[=LEVEL] measure the tasks of a job, and the
 * prolog of each job leaves its labels for bpfmon agent, in a file that the epilog removes.
 *
 * Every hook returns 0, since Slurm drains a node for some failures. No hook starts a process,
 * talks to the agent, or waits for anything but a file in /run.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <slurm/spank.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

SPANK_PLUGIN(bpfmon, 1);

#define FILE_BYTES 4096
#define NR(list) (sizeof(list) / sizeof(*(list)))

static const char *folder = "/run/bpfmon/slurm", *program = "/usr/bin/bpfmon";

/* What "bpfmon -- TASK" records at each level, beside the usual. */
static const struct level {
	const char *name, *options[2];
} levels[] = {
	{ "off", { NULL } },
	{ "run", { NULL } },
	{ "net", { "--net" } },
	{ "io", { "--io-kinds" } },
	{ "all", { "--net", "--io-kinds" } },
};

static const struct level *site_level = &levels[0], *job_level;

static const struct level *level_find(const char *name)
{
	for (size_t i = 0; i < NR(levels); i++)
		if (!strcmp(levels[i].name, name))
			return &levels[i];
	return NULL;
}

static int level_set(int value, const char *text, int is_remote)
{
	const struct level *l = level_find(text && *text ? text : "run");

	(void)value;
	if (l)
		job_level = l;
	else if (!is_remote)
		slurm_error("bpfmon: no level '%s'; levels are off, run, net, io and all", text);
	return l || is_remote ? 0 : -1;
}

static struct spank_option option = {
	"bpfmon", "LEVEL", "Record each task with bpfmon: run (default), net, io, all, or off",
	2,        0,       level_set,
};

/* Words before a task: since Slurm 23.11. */
typedef spank_err_t (*prepend_fn)(spank_t spank, int argc, const char *argv[]);

static prepend_fn prepend_find(void)
{
	return (prepend_fn)dlsym(RTLD_DEFAULT, "spank_prepend_task_argv");
}

static void argument_read(const char *text)
{
	const char *value = strchr(text, '=');

	if (value && !strncmp(text, "folder=", strlen("folder=")))
		folder = value + 1;
	else if (value && !strncmp(text, "bpfmon=", strlen("bpfmon=")))
		program = value + 1;
	else if (value && !strncmp(text, "default=", strlen("default=")) && level_find(value + 1))
		site_level = level_find(value + 1);
	else
		slurm_error("bpfmon: ignoring '%s' in plugstack.conf", text);
}

/* Each hook gets them; slurm_spank_init() is not called for prolog and epilog. */
static void arguments_read(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		argument_read(argv[i]);
}

int slurm_spank_init(spank_t spank, int argc, char **argv)
{
	arguments_read(argc, argv);
	spank_option_register(spank, &option);
	return 0;
}

int slurm_spank_init_post_opt(spank_t spank, int argc, char **argv)
{
	(void)spank, (void)argc, (void)argv;
	if (!spank_remote(spank) && job_level && job_level != &levels[0] && !prepend_find())
		slurm_info("bpfmon: this version of Slurm is older than 23.11, which --bpfmon "
			   "needs; put 'bpfmon --' before the command");
	return 0;
}

/* As root, in the cgroup of the task, before it runs. */
int slurm_spank_task_init_privileged(spank_t spank, int argc, char **argv)
{
	const struct level *l = job_level ? job_level : site_level;
	const char *words[NR(l->options) + 3] = { program, "-q" };
	prepend_fn prepend = prepend_find();
	int nr = 2;

	(void)argc, (void)argv;
	if (l == &levels[0] || !prepend || access(program, X_OK))
		return 0;
	for (size_t i = 0; i < NR(l->options) && l->options[i]; i++)
		words[nr++] = l->options[i];
	words[nr++] = "--";
	prepend(spank, nr, words);
	return 0;
}

/* The environment of the prolog; nothing in it is chosen by the user. */
static const char *const labels[] = {
	"SLURM_JOB_ID",      "SLURM_JOB_SLUID",     "SLURM_JOB_UID",      "SLURM_JOB_USER",
	"SLURM_JOB_ACCOUNT", "SLURM_JOB_PARTITION", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID",
};
static const char *const keys[] = { "SLURM_JOB_ID", "SLURM_JOB_SLUID" }; /* of files */

static size_t labels_format(char text[FILE_BYTES])
{
	size_t used = 0;

	for (size_t i = 0; i < NR(labels); i++) {
		const char *value = getenv(labels[i]);
		size_t length = value ? strlen(value) : 0;

		if (!length || strchr(value, '\n') ||
		    used + strlen(labels[i]) + length + 3 > FILE_BYTES)
			continue;
		used += (size_t)snprintf(text + used, FILE_BYTES - used, "%s=%s\n", labels[i],
					 value);
	}
	return used;
}

/* Returns false if there is no such key. */
static bool label_path(char path[PATH_MAX], const char *key, const char *suffix)
{
	const char *name = getenv(key);

	return name && *name && !strchr(name, '/') &&
	       snprintf(path, PATH_MAX, "%s/%s%s", folder, name, suffix) < PATH_MAX;
}

static void label_write(const char *key, const char *text, size_t length)
{
	char path[PATH_MAX], new[PATH_MAX];
	int fd;

	if (!label_path(path, key, "") || !label_path(new, key, ".new"))
		return;
	unlink(new);
	fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return;
	if (write(fd, text, length) != (ssize_t)length || fchmod(fd, 0644) || rename(new, path))
		unlink(new);
	close(fd);
}

static void folder_make(void)
{
	char above[PATH_MAX];
	mode_t mask = umask(022);

	snprintf(above, sizeof(above), "%s", folder);
	if (strrchr(above, '/'))
		*strrchr(above, '/') = '\0';
	mkdir(above, 0755);
	mkdir(folder, 0755);
	umask(mask);
}

int slurm_spank_job_prolog(spank_t spank, int argc, char **argv)
{
	char text[FILE_BYTES];
	size_t length = labels_format(text);

	(void)spank;
	arguments_read(argc, argv);
	folder_make();
	for (size_t i = 0; i < NR(keys); i++)
		label_write(keys[i], text, length);
	return 0;
}

int slurm_spank_job_epilog(spank_t spank, int argc, char **argv)
{
	char path[PATH_MAX];

	(void)spank;
	arguments_read(argc, argv);
	for (size_t i = 0; i < NR(keys); i++)
		if (label_path(path, keys[i], ""))
			unlink(path);
	return 0;
}
