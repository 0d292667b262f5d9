/* SPDX-License-Identifier: BSD-2-Clause */
/* What launcher and roles tell each other: one packet a message, over a socketpair. */
#ifndef BASE_CONTROL_H
#define BASE_CONTROL_H

#include <stdint.h>
#include <sys/types.h>

enum control_type {
	CONTROL_READY = 1, /* role: may begin */
	CONTROL_FAILED,    /* role: @text says why */
	CONTROL_START,     /* launcher: the command has been executed at @when_ns (MONOTONIC) */
	CONTROL_ENDED,     /* launcher: it has ended, with @value as wait(2) gives it */
	CONTROL_STOP,      /* launcher: close the run now, the command goes on */
};

struct control {
	uint32_t type;
	int32_t value;
	uint64_t when_ns;
	char text[1024];
};

/* A negative errno, or 0. Never waits: -EAGAIN when the other side has long taken nothing. */
int control_send(int fd, enum control_type type, int value, uint64_t when_ns, const char *text);
/* 1: @message is there; 0: the other side is gone; else a negative errno (-EAGAIN included). */
int control_receive(int fd, struct control *message);

#endif
