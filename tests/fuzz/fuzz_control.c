// SPDX-License-Identifier: BSD-2-Clause
/* Messages between launcher and roles: packets of any content and size; one that is accepted as a
 * message can be sent again, and stays the same. */
#include "fuzz.h"

#include "base/message.h"

#include <errno.h>
#include <sys/socket.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct control m, again;
	size_t length;
	int fds[2], got;

	FUZZ_HOLDS(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds));
	FUZZ_HOLDS(!size || send(fds[0], data, size, 0) == (ssize_t)size);
	if (!size)
		shutdown(fds[0], SHUT_WR);
	memset(&m, 'x', sizeof(m));
	got = control_receive(fds[1], &m);
	FUZZ_HOLDS(size ? got == 1 || got == -EBADMSG : got == 0);
	FUZZ_HOLDS(got != 1 || size >= sizeof(m));
	if (got == 1) {
		length = strnlen(m.text, sizeof(m.text));
		FUZZ_HOLDS(length < sizeof(m.text));
		FUZZ_HOLDS(!control_send(fds[0], m.type, m.value, m.when_ns, m.text));
		FUZZ_HOLDS(control_receive(fds[1], &again) == 1);
		FUZZ_HOLDS(m.type == again.type && m.value == again.value);
		FUZZ_HOLDS(m.when_ns == again.when_ns && !strcmp(m.text, again.text));
	}
	close(fds[0]);
	close(fds[1]);
	return 0;
}
