// SPDX-License-Identifier: BSD-2-Clause
#include "base/span_call.h"

#include "base/cleanup.h"
#include "base/fd.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define PATIENCE_SECONDS 10 /* for a stopped collector or an overloaded machine */

bool span_answer_is_kept(const char *answer)
{
	return strstr(answer, SPAN_KEPT);
}

void span_call_write(struct jsonw *j, const struct span_call_words *words, const char *const *tags,
		     size_t nr)
{
	jsonw_object(j, NULL);
	jsonw_string(j, "span", words->is_end ? "end" : "begin");
	jsonw_string(j, "name", words->name);
	if (words->in_place)
		jsonw_bool(j, "in_place", true);
	if (words->pid)
		jsonw_int(j, "pid", words->pid);
	if (words->has_status)
		jsonw_int(j, "status", words->status);
	if (nr)
		jsonw_pairs(j, "tags", tags, nr);
	jsonw_object_end(j);
}

bool span_socket_is_of_run(const char *name)
{
	char same[40];
	uint64_t number;

	if (sscanf(name, "bpfmon-span-%16" SCNx64, &number) != 1)
		return false;
	snprintf(same, sizeof(same), SPAN_SOCKET_FORMAT, number);
	return !strcmp(name, same);
}

int span_connect(int fd, const char *address)
{
	static const struct timeval patience = { .tv_sec = PATIENCE_SECONDS };
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t n = strlen(address);

	if (*address != '@' || n < 2 || n > sizeof(to.sun_path))
		return -EINVAL;
	memcpy(to.sun_path + 1, address + 1, n - 1);
	socket_refuse_rights(fd); /* the name may belong to another process by now */
	/* the backlog may be full */
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&to,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)))
		return -errno;
	return 0;
}

int span_call_text(const char *address, const char *text, size_t length,
		   char answer[SPAN_ANSWER_BYTES])
{
	__cleanup(closep) int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	ssize_t n;
	int err;

	if (fd < 0)
		return -errno;
	err = span_connect(fd, address);
	if (err)
		return err;
	if (send(fd, text, length, MSG_NOSIGNAL) < 0)
		return -errno;
	n = recv(fd, answer, SPAN_ANSWER_BYTES - 1, 0);
	if (n <= 0)
		return n ? -errno : -ECONNRESET;
	answer[n] = '\0';
	return isdigit((unsigned char)*answer) ? 0 : -EPERM;
}

int span_call(const char *address, const struct jsonw *j, char answer[SPAN_ANSWER_BYTES])
{
	return j->failed ? -ENOMEM : span_call_text(address, j->text, j->used, answer);
}
