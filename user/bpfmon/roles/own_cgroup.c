// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/own_cgroup.h"

#include "base/log.h"
#include "base/user.h"
#include "base/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 5000 /* with the keeper, which waits for processes that are just ending */

#define KEEPER_KILLS 'k' /* any other byte: remove the cgroup and end */

static void cgroup_report_left(const struct cgroup *cg, int err, const char *when)
{
	if (err == -EBUSY)
		log_warn("%sthe cgroup '%s' still contains processes; remove it with rmdir when "
			 "they have ended",
			 when, cg->path);
	else if (err)
		log_warn("%scannot remove the cgroup '%s': %s", when, cg->path, strerror(-err));
}

/* Version 2 only. Also kills processes that fork faster than they are found. */
static void cgroup_kill(const struct cgroup *cg)
{
	char path[sizeof(cg->path) + 16];
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.kill", cg->path);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, "1", 1) < 0)
		log_warn("cannot end the command's cgroup at once: %s", strerror(errno));
	close(fd);
}

static void cgroup_keeper_run(const struct cgroup *cg, int fd)
{
	ssize_t n;
	char byte;
	int err;

	keeper_detach();
	keeper_close_others(STDERR_FILENO + 1, fd, -1);
	if (privilege_leave_root(1ULL << CAP_DAC_OVERRIDE))
		_exit(1);
	seccomp_install(SECCOMP_KEEPER);
	for (;;) {
		n = recv(fd, &byte, 1, 0);
		if (n == 1 && byte == KEEPER_KILLS)
			cgroup_kill(cg);
		else if (n >= 0 || errno != EINTR)
			break;
	}
	err = cgroup_remove(cg);
	if (n == 1) /* requested: answer with the result */
		_exit(send(fd, &err, sizeof(err), MSG_NOSIGNAL) != sizeof(err));
	cgroup_report_left(cg, err, "the launcher has exited, and ");
	_exit(0);
}

static int cgroup_keeper_start(struct own_cgroup *own)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return -errno;
	own->keeper = fork();
	if (!own->keeper) {
		close(fds[0]);
		cgroup_keeper_run(&own->cg, fds[1]);
	}
	close(fds[1]);
	own->keeper_fd = fds[0];
	if (own->keeper > 0)
		return 0;
	close(fds[0]);
	return -EAGAIN;
}

int own_cgroup_make(struct own_cgroup *own)
{
	char why[5000] = "";
	int err = cgroup_make("/proc/self", &own->cg, why, sizeof(why));

	if (!err) {
		err = cgroup_keeper_start(own);
		if (!err) {
			log_info("created cgroup '%s' for the command", own->cg.path);
			return 0;
		}
		cgroup_remove(&own->cg);
		snprintf(why, sizeof(why), "cannot start the process that removes the cgroup: %s",
			 strerror(-err));
	}
	log_error("--own-cgroup: %s", why);
	own->cg.path[0] = '\0';
	return err;
}

void own_cgroup_kill(int keeper_fd)
{
	const char kills = KEEPER_KILLS;

	send(keeper_fd, &kills, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void own_cgroup_remove(struct own_cgroup *own)
{
	struct pollfd p = { .fd = own->keeper_fd, .events = POLLIN };
	int err = -ETIMEDOUT, said;

	if (send(own->keeper_fd, "", 1, MSG_NOSIGNAL) != 1)
		err = -ESRCH;
	else if (poll(&p, 1, PATIENCE_MS) == 1 &&
		 recv(own->keeper_fd, &said, sizeof(said), 0) == sizeof(said))
		err = said;
	cgroup_report_left(&own->cg, err, "");
	close(own->keeper_fd);
	if (err != -ETIMEDOUT)
		waitpid(own->keeper, NULL, 0);
}

void keeper_detach(void)
{
	for (int sig = 1; sig < SIGRTMIN; sig++)
		signal(sig, SIG_IGN);
	setsid();
	umask(077);
}

static void descriptors_close(int first, int last)
{
	if (first <= last)
		syscall(SYS_close_range, (unsigned)first, (unsigned)last, 0);
}

void keeper_close_others(int from, int one, int other)
{
	int low = one < other ? one : other, high = one < other ? other : one;

	if (low < from)
		low = from - 1;
	if (high < from)
		high = from - 1;
	descriptors_close(from, low - 1);
	descriptors_close(low + 1, high - 1);
	syscall(SYS_close_range, (unsigned)high + 1, ~0U, 0);
}
