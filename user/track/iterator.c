// SPDX-License-Identifier: BSD-2-Clause
#include "track/iterator.h"

#include "base/cleanup.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>
#include <unistd.h>

int iterator_run(const struct bpf_link *link, size_t size,
		 void (*take)(void *context, const void *item), void *context)
{
	__cleanup(closep) int fd = bpf_iter_create(bpf_link__fd(link));
	uint64_t room[16UL * ITERATOR_ITEM_BYTES / sizeof(uint64_t)];
	/* a read ends where this buffer is full: it has room for whole items only */
	size_t whole = size ? sizeof(room) - sizeof(room) % size : sizeof(room);
	ssize_t n;

	if (fd < 0)
		return -errno;
	for (;;) {
		n = read(fd, room, whole);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n <= 0)
			return n ? -errno : 0;
		for (size_t at = 0; take && at < (size_t)n; at += size)
			take(context, (const char *)room + at);
	}
}

struct bpf_link *iterator_over_map(const struct bpf_program *prog, const struct bpf_map *map)
{
	DECLARE_LIBBPF_OPTS(bpf_iter_attach_opts, options);
	union bpf_iter_link_info info = { .map.map_fd = (__u32)bpf_map__fd(map) };

	options.link_info = &info;
	options.link_info_len = sizeof(info);
	return bpf_program__attach_iter(prog, &options);
}

struct bpf_link *iterator_over_process(const struct bpf_program *prog, pid_t pid)
{
	DECLARE_LIBBPF_OPTS(bpf_iter_attach_opts, options);
	union bpf_iter_link_info info = { .task.pid = (__u32)pid };
	struct bpf_link *link;

	options.link_info = &info;
	options.link_info_len = sizeof(info);
	link = bpf_program__attach_iter(prog, &options);
	return link || (errno != E2BIG && errno != EINVAL) ? link
							   : bpf_program__attach_iter(prog, NULL);
}
