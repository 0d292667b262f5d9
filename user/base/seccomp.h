/* SPDX-License-Identifier: BSD-2-Clause */
/* System calls that a process of ours does not need are refused to it from some moment on. */
#ifndef BASE_SECCOMP_H
#define BASE_SECCOMP_H

/* What a process has left to do; seccomp.def lists the calls of each. */
enum seccomp_role {
	SECCOMP_LAUNCHER = 1,
	SECCOMP_COLLECTOR = 2,
	SECCOMP_RECORDER = 4,
	SECCOMP_KEEPER = 8, /* removes a folder at the end */
};

/*
 * Installs the filter of @role for the calling thread and those that it starts. A call that is not
 * in the list fails with ENOSYS, as on a kernel that does not know it. Needs no_new_privs or
 * CAP_SYS_ADMIN. A negative errno: there is no filter (-ENOSYS: not on this architecture, or in a
 * build with sanitizers, whose run-time needs calls of its own).
 */
int seccomp_install(enum seccomp_role role);

#endif
