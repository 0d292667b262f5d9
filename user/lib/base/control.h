/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What launcher and roles send each other: packets over a socketpair. Most are whole by themselves;
 * a text of any length is sent in parts (base/message.h).
 */
#ifndef BASE_CONTROL_H
#define BASE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum control_type {
	CONTROL_READY = 1,   /* role: may begin; @value is 1: CONTROL_REAPED is wanted */
	CONTROL_FAILED,      /* role: @text is the reason */
	CONTROL_START,       /* launcher: the command has been executed at @when_ns (MONOTONIC) */
	CONTROL_ENDED,       /* launcher: it has ended, with @value as wait(2) gives it */
	CONTROL_STOP,        /* launcher: close the run now, the command goes on */
	CONTROL_REQUEST,     /* launcher: what to follow and to report; in parts, as all below */
	CONTROL_DESCRIPTION, /* launcher: the run, for its meta line; before CONTROL_START */
	CONTROL_SUMMARY,     /* collector: its last line, which no recorder has taken */
	CONTROL_READER,      /* agent: a client wants runs of the history, with its socket */
	CONTROL_CLIENT,      /* owner of a private agent: the socket of a client of it */
	CONTROL_KEPT,        /* historian: runs so far (@when_ns), lost (@value), and why (@text) */
	CONTROL_GREET,       /* historian: it needs the meta lines of all jobs again */
	CONTROL_LIMIT,       /* collector: a limit is exceeded, of which @text says all, in JSON */
	CONTROL_LIVING,      /* and live processes of a run that is to end, by a drain that began at
				@when_ns (BOOTTIME): "PID:SERIAL "...; @value: enum control_living */
	CONTROL_REAPED,      /* launcher: what it has waited for, as reaped_print() has it; so has
				CONTROL_ENDED then */
	CONTROL_LIVE,        /* recorder: the status line is @text; launcher: it is in row @value */
	CONTROL_PING,        /* client of the agent, before its request: CONTROL_READY answers it */
	CONTROL_KILL,        /* launcher: the run that is to end gets SIGKILL from now on; only to
				a collector whose CONTROL_LIVING has a number of ended processes */
};

/* With all but the first @text is how many processes have ended since the run was to end. */
enum control_living {
	LIVING_SOME,
	LIVING_ALL,  /* those before were all, or as many as the round had room for */
	LIVING_OVER, /* the run is over */
};

struct control {
	uint32_t type;
	int32_t value;
	uint64_t when_ns;
	char text[1024];
};

/* 0, or a negative errno. Never waits: -EAGAIN when the other side has not read for long. */
int control_send(int fd, enum control_type type, int value, uint64_t when_ns, const char *text);
/* Whether the other side has read most of what was sent: what is best effort waits for that, so
 * that there is room for what is not. */
bool control_has_room(int fd);
/*
 * 1: @message is there; 0: the other side is gone; else a negative errno (-EAGAIN included).
 * Descriptors that come with it are closed.
 */
int control_receive(int fd, struct control *message);

#endif
