/* SPDX-License-Identifier: BSD-2-Clause */
/* Filters of system calls: each process of bpfmon gives up those that it no longer needs. */
#ifndef BASE_SECCOMP_H
#define BASE_SECCOMP_H

/* Roles of processes; seccomp.def lists their calls. */
enum seccomp_role {
	SECCOMP_LAUNCHER = 1,
	SECCOMP_COLLECTOR = 2,
	SECCOMP_RECORDER = 4,
	SECCOMP_KEEPER = 8,     /* removes a folder at the end */
	SECCOMP_EXPORTER = 16,  /* bpfmon-exporter */
	SECCOMP_AGENT = 32,     /* the collector of a node */
	SECCOMP_HISTORIAN = 64, /* starts recorders: has their calls, too */
	SECCOMP_WEB = 128,      /* executes bpfmon: has the calls of a recorder and a server, too */
	SECCOMP_PORTER = 256,   /* receives descriptors for the agent */
	SECCOMP_PUSH = 512,     /* bpfmon-push: has the calls of the exporter, too */
};

/*
 * Installs the filter of @roles (one or several) for the calling thread and those that it starts.
 * Other calls then fail with ENOSYS, as on a kernel without them. Needs no_new_privs or
 * CAP_SYS_ADMIN. Returns 0, or a negative errno if no filter was installed: -ENOSYS on other
 * architectures, and in builds with sanitizers, which need further calls.
 */
int seccomp_install(unsigned roles);

#endif
