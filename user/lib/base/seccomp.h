/* SPDX-License-Identifier: BSD-2-Clause */
/* Filters of system calls: each process of bpfmon loses those that it does not need any more. */
#ifndef BASE_SECCOMP_H
#define BASE_SECCOMP_H

/* The roles of processes; seccomp.def lists the calls of each. */
enum seccomp_role {
	SECCOMP_LAUNCHER = 1,
	SECCOMP_COLLECTOR = 2,
	SECCOMP_RECORDER = 4,
	SECCOMP_KEEPER = 8,     /* removes a folder at the end */
	SECCOMP_EXPORTER = 16,  /* bpfmon-exporter */
	SECCOMP_AGENT = 32,     /* the collector of a whole node */
	SECCOMP_HISTORIAN = 64, /* starts recorders: with the calls of these */
	SECCOMP_WEB = 128,      /* executes bpfmon: with the calls of a recorder and a server */
	SECCOMP_PORTER = 256,   /* receives descriptors for the agent */
};

/*
 * Installs the filter of @roles, one or several, for the calling thread and those that it starts. A
 * call that is not in the list fails with ENOSYS, as on a kernel without it. Needs no_new_privs or
 * CAP_SYS_ADMIN. A negative errno: no filter was installed (-ENOSYS: not on this architecture, or
 * in a build with sanitizers, which need calls of their own).
 */
int seccomp_install(unsigned roles);

#endif
