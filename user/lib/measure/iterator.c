// SPDX-License-Identifier: BSD-2-Clause
#include "measure/iterator.h"

#include "base/cleanup.h"
#include "bpfmon/shared.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static struct bpf_link *iterator_over(const struct bpf_program *prog, union bpf_iter_link_info info)
{
	DECLARE_LIBBPF_OPTS(bpf_iter_attach_opts, options);
	struct bpf_link *link;

	options.link_info = &info;
	options.link_info_len = sizeof(info);
	link = bpf_program__attach_iter(prog, &options);
	return link || (errno != E2BIG && errno != EINVAL) ? link
							   : bpf_program__attach_iter(prog, NULL);
}

struct bpf_link *iterator_over_process(const struct bpf_program *prog, pid_t pid)
{
	return iterator_over(prog, (union bpf_iter_link_info){ .task.pid = (__u32)pid });
}

int iterator_run(const struct bpf_link *link)
{
	__cleanup(closep) int fd = bpf_iter_create(bpf_link__fd(link));
	char unused[64]; /* the programs write nothing */
	ssize_t n;

	if (fd < 0)
		return -errno;
	do
		n = read(fd, unused, sizeof(unused));
	while (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)));
	return n ? -errno : 0;
}

int walker_open(struct walker *w, const struct bpf_program *prog, const struct bpf_map *rows,
		struct pass *at)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes;
	void *mapped;

	w->at = at;
	w->row_bytes = bpf_map__value_size(rows);
	bytes = w->row_bytes * bpf_map__max_entries(rows);
	bytes = (bytes + page - 1) / page * page;
	mapped = mmap(NULL, bytes, PROT_READ, MAP_SHARED, bpf_map__fd(rows), 0);
	if (mapped == MAP_FAILED)
		return -errno;
	w->rows = mapped;
	w->rows_bytes = bytes;
	/* one task only: the program acts in the call after the last one */
	w->link = iterator_over(prog, (union bpf_iter_link_info){ .task.tid = (__u32)gettid() });
	return w->link ? 0 : -errno;
}

void walker_close(struct walker *w)
{
	bpf_link__destroy(w->link);
	if (w->rows)
		munmap((void *)w->rows, w->rows_bytes);
	*w = (struct walker){ 0 };
}

int walker_run(struct walker *w, void (*take)(void *context, const void *row), void *context)
{
	int err;

	do {
		w->at->met = w->at->rows = w->at->is_cut = 0;
		err = iterator_run(w->link);
		for (size_t i = 0; take && i < w->at->rows; i++)
			take(context, (const char *)w->rows + i * w->row_bytes);
	} while (!err && w->at->is_cut);
	return err;
}

int map_walk_next(struct map_walk *walk, void *keys, void *values, size_t most)
{
	void *from = walk->has_begun ? &walk->place : NULL;
	__u32 nr = (__u32)most;
	int err;

	if (walk->has_ended)
		return 0;
	err = bpf_map_lookup_batch(bpf_map__fd(walk->map), from, &walk->place, keys, values, &nr,
				   NULL);
	walk->has_begun = true;
	walk->has_ended = err == -ENOENT; /* the last batch */
	return err && err != -ENOENT ? err : (int)nr;
}
