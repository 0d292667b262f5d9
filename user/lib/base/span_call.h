/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client side of spans and marks: a process sends its run one JSON message over a socket to
 * begin or end a span, and gets one answer.
 */
#ifndef BASE_SPAN_CALL_H
#define BASE_SPAN_CALL_H

#include "base/json.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>

#define SPAN_VARIABLE "BPFMON_SPAN_SOCKET" /* in the command's environment: "@NAME", abstract */
#define SPAN_SOCKET_FORMAT "bpfmon-span-%016" PRIx64 /* the name of a run's socket, without "@" */
#define SPAN_MESSAGE_BYTES 8192                      /* the most that one has */
#define SPAN_ANSWER_BYTES 256 /* the span's number; or why there is none, in a line */

#define SPAN_KEPT " kept" /* ends an answer: the caller is to stay, and to say the end, too */

struct span_call_words {
	const char *name;
	bool is_end;   /* it ends; else it begins */
	bool in_place; /* it is to be ended before its process ends */
	bool has_status;
	int status; /* of the command that has ended, as wait(2) gives it */
	pid_t pid;  /* the process that it is of; 0: the one that sends it */
};

/* Writes a message. @tags are @nr texts "key=value". */
void span_call_write(struct jsonw *j, const struct span_call_words *words, const char *const *tags,
		     size_t nr);
/* What begins has been told to stay. */
bool span_is_kept(const char *answer);
/* Whether it is a name as runs choose them, and no service of the machine can have. */
bool span_socket_is_of_run(const char *name);
/* Connects the socket @fd to the one that @address names, "@NAME". 0 or a negative errno. */
int span_connect(int fd, const char *address);
/*
 * Sends it to the socket that @address names, and waits for the answer, but not for ever.
 * 0: the span has begun, or ended. -EPERM: it was refused, and @answer says why, without a newline;
 * or a negative errno: there is no answer.
 */
int span_call(const char *address, const struct jsonw *j, char answer[SPAN_ANSWER_BYTES]);
/* The same of @length bytes that are a mark or metrics, as the socket for marks takes them: 0 if
 * they have arrived. */
int span_call_text(const char *address, const char *text, size_t length,
		   char answer[SPAN_ANSWER_BYTES]);

/* The protocol of marks, shared by both ends of the socket. */

#define MARK_VARIABLE "BPFMON_MARK_SOCKET" /* in the command's environment: the socket's path */
#define MARK_PREFIX "mark "                /* a datagram that begins with this is a mark */
#define MARK_BYTES 1024                    /* the limit of the text, the rest of the datagram */

static inline bool mark_is_one(const char *datagram, size_t length)
{
	size_t n = strlen(MARK_PREFIX);

	return length >= n && !memcmp(datagram, MARK_PREFIX, n);
}

#endif
