/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collector and recorder from the launcher's view: two children with a control socket each. The
 * launcher never hangs: before the command runs it polls the control sockets and the signals that
 * request the end, afterwards only signals. The third request closes the control sockets, and a
 * role that has not ended ROLES_GRACE_MS later is killed.
 */
#ifndef ROLES_ROLES_H
#define ROLES_ROLES_H

#include "base/cgroup.h"
#include "base/message.h"
#include "base/reaped.h"
#include "base/user.h"
#include "bpfmon/roles/launcher.h"
#include "bpfmon/roles/limit_end.h"

#include <signal.h>
#include <poll.h>

/*
 * The summary that no recorder has shown: received from the collector and written to stderr
 * piecewise, so that neither delays the handling of signals in the launcher.
 */

struct last_summary {
	struct message message;
	int fd;                   /* to the collector, not owned; -1: closed */
	struct limit_end *limits; /* receives the collector's other messages; not owned */
	bool is_quiet;            /* receive, but do not show */
	char *text;               /* owned; being written */
	size_t length, done;
	uint64_t until_ns; /* time at which the rest is given up */
	uint64_t nr_received;
};

void last_summary_init(struct last_summary *l, int fd, bool is_quiet);
/* Waits up to @wait_ms (-1: without limit) for @signal_fd, @other_fd (-1: none) or the summary. */
void last_summary_wait(const struct last_summary *l, int signal_fd, int other_fd, int wait_ms);
/* Receives and writes what is possible without blocking. */
void last_summary_advance(struct last_summary *l);
/* Returns true if nothing is left to be written. */
bool last_summary_is_shown(const struct last_summary *l);
void last_summary_done(struct last_summary *l);

/*
 * The status line of --live. The recorder formats its text and the launcher draws it, because the
 * launcher belongs to the terminal's session, receives its signals and outlives the roles.
 */

struct status_line {
	int fd; /* to the recorder, not owned; -1: closed */
	bool is_inverse, is_drawn;
	struct control last; /* the last text; empty: none to show */
};

/*
 * Returns true if stderr is a terminal that can show it; else reports the reason with --verbose.
 * Call it before forking the recorder; the caller sets fd afterwards.
 */
bool status_line_open(struct status_line *s);
/*
 * Draws the last received text over the one before, unless another job of the shell is in the
 * foreground.
 */
void status_line_advance(struct status_line *s);
/* Clears the line before other output of bpfmon or the shell, until the next text. */
void status_line_release(struct status_line *s);

/* The command's process: forked early, executed when it is tracked. */

struct spawn {
	const int *streams; /* its descriptors 0 to 2; NULL: inherited */
	pid_t pid;
	int go_fd;     /* writing a byte lets it exec; closing it ends the child */
	int status_fd; /* brings the result of the exec */
	bool has_gone; /* the byte was sent */
	bool is_ready; /* the exec itself failed, nothing before it */
};

/*
 * Forks the child. It enters cgroup @in and becomes user @as unless these are NULL, sets its signal
 * mask to @mask, its action on SIGCHLD to @children, and its descriptors 0 to 2 to s->streams, none
 * of which is itself 0 to 2 unless it is in its place. All else is inherited.
 */
int spawn_fork(struct spawn *s, char *const *argv, const sigset_t *mask,
	       const struct sigaction *children, const struct cgroup *in, const struct user *as);
/*
 * Waits until the process is ready to exec: its usage counts from then on. Not needed where
 * programs are loaded, which takes far longer.
 */
void spawn_wait_until_prepared(const struct spawn *s);
/* Lets the child exec. */
void spawn_go(struct spawn *s);
/*
 * Waits for the result of the exec. Returns 0 if the command runs or was killed on the way; else a
 * negative errno, and in *@step what failed ("become user ...", "execute").
 */
int spawn_result(struct spawn *s, const char **step);
/* Ends a child that is not to exec. */
void spawn_cancel(struct spawn *s);
/* Reaps a child that was cancelled or could not exec. */
void spawn_wait(struct spawn *s);

struct role {
	const char *name;
	pid_t pid;      /* 0 or negative: has ended, or does not exist */
	bool is_remote; /* the agent, no child */
	int control_fd;
};

struct roles {
	bool wants_reaped;  /* the collector has no BPF and needs the usage of reaped children */
	bool is_unmeasured; /* the collector cannot measure, and the command is to run even so */
	struct own_children own; /* if wants_reaped */
	struct role collector, recorder;
	int stream_fd; /* collector's end of the stream, until it is sent; -1 */
	struct last_summary summary;
	struct status_line line;
	struct {
		uint64_t nr_heard, looked_ns, quiet_ns;
		bool is_pinged; /* CONTROL_PING was sent and not answered yet */
		bool hangs;
	} agent; /* if the agent is the collector */
};

#define AGENT_LOOK_MS 100 /* between calls of roles_watch_agent() */

/*
 * Forks both roles (only the recorder if the agent is the collector), which run as @o specifies and
 * exit; the collector waits for its request. They close @signal_fd and the pipes of @command, which
 * belong to the launcher. Returns 0 or a negative errno; then roles_stop() ends those that exist.
 */
int roles_fork(struct roles *roles, struct launch_options *o, const struct spawn *command,
	       int signal_fd, const sigset_t *mask);
/*
 * Sends a message to a role. On failure, warns and shuts down its socket, because the role would
 * wait for ever.
 */
void role_send(const struct role *role, enum control_type type, int value, uint64_t when_ns);
/* Same with a text. */
void role_send_text(const struct role *role, enum control_type type, int value, uint64_t when_ns,
		    const char *text);
/*
 * Pings an agent that is the collector and silent. If it does not answer, reports that and sets
 * agent.hangs: the recorder will not reach the end of its stream.
 */
void roles_watch_agent(struct roles *roles);
/* Notes that the child @pid was reaped, if it is a role; warns if it was killed. */
void roles_note_end(struct roles *roles, pid_t pid, int status);

/*
 * Makes stdout and stderr of this process, and of roles forked later, non-blocking where possible:
 * nothing ends a process that blocks in write(2) with its signals blocked. The command, forked
 * before, keeps its own.
 */
void streams_unblock(void);

/*
 * Waits until both roles are ready. Returns 0, or a negative errno after a message to the user
 * (is_unmeasured: a warning, and the roles are to be stopped); or
 * -EINTR without a message, with the signal in *@sig, if one requests the end. Without BPF, makes
 * this process the subreaper of orphans, and reads its own children except @command.
 */
int roles_wait_until_ready(struct roles *roles, pid_t command, int signal_fd, int *sig);
/*
 * Waits until the command has executed or failed to: spawn_result() does not block then. If that
 * takes more than a second, as on a file system that does not answer, forwards the first request to
 * end to the process and kills it on the second.
 */
void command_wait_for_exec(const struct spawn *command, int signal_fd);

/*
 * Keeps only the capability to signal the command and roles that hang, which have other users, and
 * the system calls to wait and to signal.
 */
void launcher_drop_rights(void);
#define ROLES_GRACE_MS 1000          /* after the last request */
#define ROLES_UNNEEDED_GRACE_MS 3000 /* if there is no run: programs may still be loading */

/* Prints which role bpfmon waits for, and how to end that. */
void roles_report_awaited(const struct roles *roles);
/*
 * Closes the control sockets and reaps both roles. Kills what has not ended after @grace_ms, with a
 * warning each: the recorder first, so that the collector may still send the summary, which is
 * shown here. Takes no more than a few seconds longer, whatever the roles and the kernel do.
 */
void roles_stop(struct roles *roles, int grace_ms);

#endif
