// SPDX-License-Identifier: BSD-2-Clause
/*
 * Answers of container engines. No client is executed: the parts of the input, separated by a byte
 * of 0x1e, are the name to be found and then the answers.
 */
#include "fuzz.h"

#include "bpfmon/roles/capture.h"
#include "bpfmon/roles/container.h"

#include <errno.h>

#define SEPARATOR 0x1e

static const uint8_t *rest, *end;

static size_t input_take(const uint8_t **part)
{
	const uint8_t *stop = rest < end ? memchr(rest, SEPARATOR, (size_t)(end - rest)) : NULL;
	size_t n;

	*part = rest;
	n = (size_t)((stop ? stop : end) - rest);
	rest = stop ? stop + 1 : end;
	return n;
}

/* Replaces container/capture.c. The first byte is the client's status. */
int capture_run(const char *const *argv, const struct user *as, uint64_t limit_ns,
		struct captured *c)
{
	const uint8_t *part;
	size_t n = input_take(&part);

	(void)as;
	FUZZ_HOLDS(argv[0] && argv[1] && limit_ns);
	*c = (struct captured){ 0 };
	if (!n)
		return -ENOENT;
	c->text = fuzz_text(part + 1, n - 1);
	c->status = *part & 1;
	if (c->status)
		snprintf(c->error_line, sizeof(c->error_line), "no such container");
	return *part & 2 ? -ETIMEDOUT : 0;
}

void capture_done(struct captured *c)
{
	free(c->text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct user self = { .name = "self", .uid = getuid(), .gid = getgid() };
	char why[512] = "", *name;
	struct container c;
	const uint8_t *part;
	size_t n;
	int err;

	rest = data;
	end = data + size;
	n = input_take(&part);
	name = fuzz_text(part, n);
	err = container_find(name, &self, &c, why, sizeof(why));
	FUZZ_HOLDS(err <= 0);
	if (!err)
		FUZZ_HOLDS(c.pid > 0 && c.engine && memchr(c.id, '\0', sizeof(c.id)));
	else
		FUZZ_HOLDS(*why);
	free(name);
	return 0;
}
