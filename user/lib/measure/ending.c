// SPDX-License-Identifier: BSD-2-Clause
/* Has the kernel end what is in some accounts, and keeps it from making processes. */
#include "measure/tracker.h"

#include "bpfmon.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

/* Without BPF there is no such program, nor where the kernel refuses it. */
static bool tracker_can_end(const struct tracker *t)
{
	return t->skel && t->optional.there & OPTIONAL_BIT(OPTIONAL_ENDS);
}

int tracker_end(struct tracker *t, uint64_t tree, uint32_t uid)
{
	struct bpf_link **link = &t->optional.links[OPTIONAL_ENDS];

	if (!tracker_can_end(t))
		return -EOPNOTSUPP;
	if (bpf_map_update_elem(bpf_map__fd(t->skel->maps.ending), &tree, &uid, BPF_ANY))
		return -errno;
	if (!*link)
		*link = bpf_program__attach(t->skel->progs.ends__call);
	return *link ? 0 : -errno;
}

void tracker_end_over(struct tracker *t, uint64_t tree)
{
	struct bpf_link **link = &t->optional.links[OPTIONAL_ENDS];
	uint64_t other;
	int fd;

	if (!tracker_can_end(t) || !*link)
		return;
	fd = bpf_map__fd(t->skel->maps.ending);
	bpf_map_delete_elem(fd, &tree);
	if (!bpf_map_get_next_key(fd, NULL, &other))
		return;
	bpf_link__destroy(*link);
	*link = NULL;
}
