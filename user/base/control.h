/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages between the launcher and the roles: one packet each, over a socketpair. */
#ifndef BASE_CONTROL_H
#define BASE_CONTROL_H

#include <stdint.h>
#include <sys/types.h>

enum control_type {
	CONTROL_READY = 1, /* from a role: the command may begin */
	CONTROL_FAILED,    /* from a role: @text is the reason */
	CONTROL_START,     /* from the launcher: the command was executed at @when_ns (MONOTONIC) */
	CONTROL_ENDED,     /* from the launcher: it has ended, @value is its wait(2) status */
	CONTROL_STOP,      /* from the launcher: close the run now, the command goes on */
};

struct control {
	uint32_t type;
	int32_t value;
	uint64_t when_ns;
	char text[1024];
};

/* 0, or a negative errno. Never waits: -EAGAIN when the other side has not read for long. */
int control_send(int fd, enum control_type type, int value, uint64_t when_ns, const char *text);
/* 1: @message was received; 0: the other side is gone; or a negative errno, -EAGAIN included. */
int control_receive(int fd, struct control *message);

#endif
