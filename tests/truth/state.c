// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes to FILE, as JSON, what a process inherits and can see of it: for comparing a run with and
 * one without bpfmon. Nothing in it depends on the own pid.
 * Usage: state FILE
 */
#include "truth.h"
#include <dirent.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/prctl.h>

static FILE *out;

/* A JSON string; bytes above 7f as the code point of the same number. */
static void state_put_string(const char *s, size_t len)
{
	putc('"', out);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = s[i];

		if (c == '"' || c == '\\' || c < ' ' || c > '~')
			fprintf(out, "\\u%04x", c);
		else
			putc(c, out);
	}
	putc('"', out);
}

static size_t file_read(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		truth_fail("%s", path);
	while ((n = read(fd, buf + len, size - 1 - len)) > 0)
		len += n;
	close(fd);
	buf[len] = 0;
	return len;
}

static void state_put_file(const char *key, const char *path)
{
	char buf[65536];
	size_t len = file_read(path, buf, sizeof(buf));

	while (len && buf[len - 1] == '\n')
		len--;
	fprintf(out, "\"%s\":", key);
	state_put_string(buf, len);
	fputs(",\n", out);
}

static void state_put_link(const char *path)
{
	char buf[4096];
	ssize_t len = readlink(path, buf, sizeof(buf));

	if (len < 0)
		truth_fail("%s", path);
	state_put_string(buf, len);
}

/* These lines of /proc/self/status, as the kernel words them. */
static void state_put_status(void)
{
	static const char *const keys[] = {
		"Umask",       "Uid",
		"Gid",	       "Groups",
		"SigBlk",      "SigIgn",
		"SigCgt",      "CapInh",
		"CapPrm",      "CapEff",
		"CapBnd",      "CapAmb",
		"Seccomp",     "NoNewPrivs",
		"SigPnd",      "ShdPnd",

		"THP_enabled", "Cpus_allowed_list",
	};
	char buf[8192], *save = NULL;

	file_read("/proc/self/status", buf, sizeof(buf));
	for (char *l = strtok_r(buf, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		size_t klen = strcspn(l, ":");
		char *value = l + klen + strspn(l + klen, ": \t");

		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
			if (strlen(keys[i]) == klen && !strncmp(l, keys[i], klen)) {
				fprintf(out, "\"%s\":", keys[i]);
				state_put_string(value, strlen(value));
				fputs(",\n", out);
			}
	}
}

static void state_put_limits(void)
{
	struct rlimit r;

	fputs("\"rlimits\":[", out);
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		if (getrlimit(i, &r))
			truth_fail("getrlimit");
		fprintf(out, "%s[\"%llx\",\"%llx\"]", i ? "," : "", (unsigned long long)r.rlim_cur,
			(unsigned long long)r.rlim_max);
	}
	fputs("],\n", out);
}

static void state_put_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	const char *comma = "";
	char path[300];

	if (!dir)
		truth_fail("/proc/self/fd");
	fputs("\"fds\":[", out);
	for (struct dirent *d; (d = readdir(dir));) {
		int fd = atoi(d->d_name);

		if (d->d_name[0] == '.' || fd == dirfd(dir))
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%s", d->d_name);
		fprintf(out, "%s{\"fd\":%d,\"flags\":\"%o\",\"link\":", comma, fd,
			fcntl(fd, F_GETFL));
		state_put_link(path);
		putc('}', out);
		comma = ",";
	}
	closedir(dir);
	fputs("],\n", out);
}

static void state_put_ids(void)
{
	int tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC), value = 0;
	struct sched_param param = {0};

	fprintf(out, "\"has_tty\":%s,\n", tty < 0 ? "false" : "true");
	fprintf(out, "\"foreground\":%s,\n",
		tty < 0			      ? "null"
		: tcgetpgrp(tty) == getpgrp() ? "true"
					      : "false");
	if (tty >= 0)
		close(tty);
	fprintf(out, "\"sid\":%d,\n\"session_leader\":%s,\n", getsid(0),
		getsid(0) == getpid() ? "true" : "false");
	fprintf(out, "\"isatty\":[%d,%d,%d],\n", isatty(0), isatty(1), isatty(2));
	errno = 0;
	fprintf(out, "\"nice\":%d,\n", getpriority(PRIO_PROCESS, 0));
	sched_getparam(0, &param);
	fprintf(out, "\"sched_policy\":%d,\n\"sched_priority\":%d,\n", sched_getscheduler(0),
		param.sched_priority);
	fprintf(out, "\"ioprio\":%ld,\n", syscall(SYS_ioprio_get, 1, 0));
	fprintf(out, "\"personality\":%d,\n\"dumpable\":%d,\n", personality(0xffffffff),
		prctl(PR_GET_DUMPABLE));
	prctl(PR_GET_PDEATHSIG, &value);
	fprintf(out, "\"pdeathsig\":%d,\n\"securebits\":%d,\n", value, prctl(PR_GET_SECUREBITS));
	prctl(PR_GET_CHILD_SUBREAPER, &value);
	fprintf(out, "\"subreaper\":%d,\n\"timerslack\":%d,\n", value, prctl(PR_GET_TIMERSLACK));
}

int main(int argc, char **argv)
{
	char *buf = NULL;
	size_t len;

	if (argc != 2)
		truth_usage("state FILE");
	out = open_memstream(&buf, &len);
	if (!out)
		truth_fail("open_memstream");
	fputs("{", out);
	state_put_fds();
	state_put_ids();
	state_put_status();
	state_put_limits();
	state_put_file("cgroup", "/proc/self/cgroup");
	state_put_file("oom_score_adj", "/proc/self/oom_score_adj");
	fputs("\"cwd\":", out);
	state_put_link("/proc/self/cwd");
	fputs(",\n\"root\":", out);
	state_put_link("/proc/self/root");
	fputs(",\n\"environment\":[", out);
	for (char **e = environ; *e; e++) {
		fputs(e == environ ? "" : ",\n", out);
		state_put_string(*e, strlen(*e));
	}
	fputs("]}\n", out);
	if (fclose(out))
		truth_fail("fclose");
	file_write_once(argv[1], buf, len);
	return 0;
}
