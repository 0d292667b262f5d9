/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Client side of spans and marks: a process sends its run one JSON message over a socket to begin
 * or end a span, and gets one answer.
 */
#ifndef BASE_SPAN_CALL_H
#define BASE_SPAN_CALL_H

#include "base/json.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>

/* environment variable of the command: "@NAME", abstract */
#define SPAN_VARIABLE "BPFMON_SPAN_SOCKET"
#define SPAN_SOCKET_FORMAT "bpfmon-span-%016" PRIx64 /* name of a run's socket, without "@" */
#define SPAN_MESSAGE_BYTES 8192                      /* longest message */
/* the number of the span, or a line with the reason of the refusal */
#define SPAN_ANSWER_BYTES 256

/* end of an answer that asks the caller to stay and to report the end of the span, too */
#define SPAN_KEPT " kept"

struct span_call_words {
	const char *name;
	bool is_end;   /* false: begin */
	bool in_place; /* ends before its process does */
	bool has_status;
	int status; /* of the ended command, as returned by wait(2) */
	pid_t pid;  /* process of the span; 0: the sender */
};

/* Writes a message. @tags are @nr strings "key=value". */
void span_call_write(struct jsonw *j, const struct span_call_words *words, const char *const *tags,
		     size_t nr);
/* Returns true if the answer to a begin requires the caller to stay. */
bool span_answer_is_kept(const char *answer);
/* Returns true if @name is that of a run's socket, which no service can have. */
bool span_socket_is_of_run(const char *name);
/* Connects the socket @fd to @address, "@NAME". Returns 0 or a negative errno. */
int span_connect(int fd, const char *address);
/*
 * Sends a message to @address and waits for the answer, with a limit. Returns 0 if the span has
 * begun or ended, -EPERM if it was refused (@answer has the reason without a newline), or another
 * negative errno without an answer.
 */
int span_call(const char *address, const struct jsonw *j, char answer[SPAN_ANSWER_BYTES]);
/*
 * Sends @length bytes, a mark or metrics as for the socket of marks. Returns 0 if they have
 * arrived.
 */
int span_call_text(const char *address, const char *text, size_t length,
		   char answer[SPAN_ANSWER_BYTES]);

/* Marks: the protocol of both ends of the socket. */

/* environment variable of the command: path of the socket */
#define MARK_VARIABLE "BPFMON_MARK_SOCKET"
#define MARK_PREFIX "mark " /* prefix of a datagram that is a mark */
#define MARK_BYTES 1024     /* longest text of a mark, the rest of the datagram */

static inline bool mark_is_one(const char *datagram, size_t length)
{
	size_t n = strlen(MARK_PREFIX);

	return length >= n && !memcmp(datagram, MARK_PREFIX, n);
}

/* Returns the length of the text of a mark, without the newline that may end it. */
static inline size_t mark_text_length(const char *datagram, size_t length)
{
	size_t n = length - strlen(MARK_PREFIX);

	return n && datagram[length - 1] == '\n' ? n - 1 : n;
}

#endif
