/* SPDX-License-Identifier: BSD-2-Clause */
/* Collector and recorder as the launcher sees them: two children with a socket each. */
#ifndef ROLES_ROLES_H
#define ROLES_ROLES_H

#include "base/cgroup.h"
#include "base/message.h"
#include "base/reaped.h"
#include "base/user.h"
#include "bpfmon/roles/last_summary.h"
#include "bpfmon/roles/launcher.h"
#include "bpfmon/roles/status_line.h"

#include <signal.h>

/* The command's process: made early, executed only when it is followed. */

struct spawn {
	const int *streams; /* what are its descriptors 0 to 2; NULL: those of its parent */
	pid_t pid;
	int go_fd;     /* writing a byte lets it exec; closing it ends the child */
	int status_fd; /* the result of the exec comes out of it */
	bool has_gone; /* the byte was taken */
	bool is_ready; /* what failed was the exec itself, nothing before */
};

/*
 * Forks the child. It enters the cgroup @in and becomes @as where those are not NULL, takes @mask
 * as its signal mask and @children as what it does on SIGCHLD, and s->streams, which are none of 0
 * to 2 themselves unless each is in its place. What is inherited beside that is the caller's own.
 */
int spawn_fork(struct spawn *s, char *const *argv, const sigset_t *mask,
	       const struct sigaction *children, const struct cgroup *in, const struct user *as);
/* Waits until the process has nothing more to do before its exec: what it uses from then on counts.
 * Where programs have to be loaded, that is long before they are. */
void spawn_wait_until_prepared(const struct spawn *s);
/* Lets the child exec. */
void spawn_go(struct spawn *s);
/*
 * Waits until it has. 0: the command runs, or was killed on the way; else a negative errno, and in
 * *@step what failed ("become user ...", "execute").
 */
int spawn_result(struct spawn *s, const char **step);
/* Ends a child that is not to exec. */
void spawn_cancel(struct spawn *s);
/* Waits for the end of a child that was cancelled, or could not exec. */
void spawn_wait(struct spawn *s);

struct role {
	const char *name;
	pid_t pid;      /* not above 0: has ended, or there is none */
	bool is_remote; /* it is the agent, no child */
	int control_fd;
};

struct roles {
	bool wants_reaped;       /* the collector: it has no BPF */
	struct own_children own; /* where it is wanted */
	struct role collector, recorder;
	int stream_fd; /* of the two, the collector's end, until it is sent; -1 */
	struct last_summary summary;
	struct status_line line;
	struct {
		uint64_t nr_heard, looked_ns, quiet_ns;
		bool is_asked; /* whether it is there, and has not answered yet */
		bool hangs;
	} agent; /* where it is the collector */
};

#define AGENT_LOOK_MS 100 /* between calls of roles_watch_agent() */

/*
 * Forks both, but for a collector that the agent is in place of, which run as @o has it and then
 * exit; the collector waits for its request. They close
 * @signal_fd and the pipes of
 * @command, which are the launcher's. A negative errno: roles_stop() ends those that there are.
 */
int roles_fork(struct roles *roles, struct launch_options *o, const struct spawn *command,
	       int signal_fd, const sigset_t *mask);
/* Sends it a message. If that fails, warns and ends the role, which would wait for ever. */
void role_send(const struct role *role, enum control_type type, int value, uint64_t when_ns);
/* The same with a text. */
void role_send_text(const struct role *role, enum control_type type, int value, uint64_t when_ns,
		    const char *text);
/* Asks an agent that is the collector, and silent, whether it is there. If it does not answer, says
 * so, and sets agent.hangs: then the recorder will not get to the end of its stream. */
void roles_watch_agent(struct roles *roles);
/* Records that the child @pid has been waited for, if it is a role; warns if it was killed. */
void roles_note_end(struct roles *roles, pid_t pid, int status);

/* The time before the command runs, which any request to end cuts short. */

/*
 * Makes stdout and stderr of this process, and of the roles after it, ones that never block where
 * that is possible: nothing ends a process that blocks in write(2), with its signals blocked. Those
 * of the command, forked before, stay.
 */
void streams_unblock(void);

/*
 * Waits until both roles may begin. 0; else a negative errno: after one line to the user, or, with
 * a signal in *@sig that is not 0, -EINTR and no line. Without BPF orphans become children of this
 * process, and it finds those that are its own, without @command.
 */
int roles_wait_until_ready(struct roles *roles, pid_t command, int signal_fd, int *sig);
/*
 * The same until the command's process has executed, or could not: spawn_result() then does not
 * block. When that takes longer than a second, as on a file system that does not answer, a
 * request is passed on to the process, and the second kills it.
 */
void command_wait_for_exec(const struct spawn *command, int signal_fd);

/*
 * Keeps the right to signal what the command becomes, and roles that hang, which have other users;
 * of the system calls, those to wait and to signal.
 */
void rights_of_launcher(void);
#define ROLES_GRACE_MS 1000          /* after the last request */
#define ROLES_UNNEEDED_GRACE_MS 3000 /* where there is no run: programs may be being loaded */

/* One line to the user: which role is waited for, and how to end that. */
void roles_say_awaited(const struct roles *roles);
/*
 * Lets go of both, and waits for their ends; what has not ended after @grace_ms is killed, the
 * recorder first, so that the collector may still send the summary, which is shown here. Each that
 * is killed is one warning. Takes no more than a few seconds longer, whatever the roles and the
 * kernel do.
 */
void roles_stop(struct roles *roles, int grace_ms);

#endif
