// SPDX-License-Identifier: BSD-2-Clause
#include "measure/optional.h"

#include "base/cgroup.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "bpfmon/shared.h"
#include "bpfmon.skel.h"
#include "measure/program_type.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE NR_OPTIONALS
#define TRACEPOINT(name, more) name, "needs the tracepoint " name more
#define OTHER(needs) NULL, needs
#define FUNCTIONS_OF_SOCKETS "needs fexit programs on socket functions, and a kernel before 6.3"

static const struct optional_row rows[NR_OPTIONALS] = {
#define OPTIONAL(id, ...) [OPTIONAL_##id] = { __VA_ARGS__ },
#include "measure/optional.def"
};

const struct optional_row *optional_row(size_t i)
{
	return i < NR_OPTIONALS ? &rows[i] : NULL;
}

static unsigned optional_group_bits(enum optional_group group)
{
	unsigned bits = 0;

	for (size_t i = 0; i < NR_OPTIONALS; i++)
		if (rows[i].group == group)
			bits |= OPTIONAL_BIT(i);
	return bits;
}

bool optionals_have_group(const struct optionals *x, enum optional_group group)
{
	const unsigned all = optional_group_bits(group);

	return (x->there & all) == all;
}

unsigned optional_find(const char *name, size_t length)
{
	for (size_t i = 0; i < NR_OPTIONALS; i++)
		if (text_is(name, length, rows[i].name))
			return OPTIONAL_BIT(i);
	return 0;
}

static void optional_explain(struct optionals *x, size_t i, const char *why)
{
	snprintf(x->missing[i], sizeof(x->missing[i]), "%s; %s", why, rows[i].without);
}

void optionals_explain(struct optionals *x, unsigned wanted,
		       const char why[NR_OPTIONALS][REFUSAL_BYTES])
{
	for (size_t i = 0; i < NR_OPTIONALS; i++)
		if (wanted & ~x->there & OPTIONAL_BIT(i))
			optional_explain(x, i, *why[i] ? why[i] : rows[i].needs);
}

void optionals_refuse(struct optionals *x, bool exact_peak)
{
	static const char why[] = "needs BPF";

	optional_explain(x, OPTIONAL_OOM, why);
	if (exact_peak)
		optional_explain(x, OPTIONAL_EXACT_PEAK, why);
}

/* Runs the program once; it is not attached. */
static int offsets_find(const struct bpfmon *skel)
{
	DECLARE_LIBBPF_OPTS(bpf_test_run_opts, run);
	int err = bpf_prog_test_run_opts(bpf_program__fd(skel->progs.memory__offsets), &run);

	return err || skel->bss->cpu_offset_known ? err : -ENOTSUP;
}

static int cgroup_attach(struct bpf_link **link, const struct bpf_program *p, int cgroup_fd)
{
	if (cgroup_fd < 0)
		return -ENOENT;
	*link = bpf_program__attach_cgroup(p, cgroup_fd);
	return *link ? 0 : -errno;
}

/* Opens the topmost visible v2 cgroup. Returns -1 if none is mounted. */
static int cgroup_root_open(void)
{
	__cleanup(fclosep) FILE *f = cgroup_mounts_open("/proc/self");
	__cleanup(freep) struct cgroup_mount *m = memory_malloc(sizeof(*m));

	while (m && cgroup_mount_next(f, m))
		if (m->is_v2)
			return open(m->point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return -1;
}

struct cgroup_fds {
	int wire, root; /* -1: none */
};

static int optional_attach(struct optionals *x, size_t i, struct bpfmon *skel,
			   const struct cgroup_fds *fds)
{
	struct bpf_program *p = bpf_object__find_program_by_name(skel->obj, rows[i].name);

	switch (rows[i].attachment) {
	case ATTACHED_BY_ONE_RUN:
		return offsets_find(skel);
	case ATTACHED_LATER:
		return 0;
	case ATTACHED_TO_WIRE_CGROUP:
		return cgroup_attach(&x->links[i], p, fds->wire);
	case ATTACHED_TO_ROOT_CGROUP:
		return cgroup_attach(&x->links[i], p, fds->root);
	case ATTACHED_AS_WALKER:
		return walker_open(&x->sockets, p, skel->maps.socket_rows, &skel->bss->socket_pass);
	case ATTACHED_AS_ITERATOR:
		x->links[i] = bpf_program__attach_iter(p, NULL);
		break;
	case ATTACHED_TO_HOOK:
		x->links[i] = bpf_program__attach(p);
	}
	return x->links[i] ? 0 : -errno;
}

static void optionals_attach_each(struct optionals *x, struct bpfmon *skel, unsigned refused,
				  const struct cgroup_fds *fds)
{
	char why[100];
	int err;

	for (size_t i = 0; i < NR_OPTIONALS; i++) {
		const bool is_of_root = rows[i].attachment == ATTACHED_TO_ROOT_CGROUP;

		if (!(x->there & OPTIONAL_BIT(i)))
			continue;
		err = refused & OPTIONAL_BIT(i) ? -EPERM : optional_attach(x, i, skel, fds);
		if (!err)
			continue;
		x->there &= ~OPTIONAL_BIT(i);
		snprintf(why, sizeof(why), "the kernel refused to attach the program: %s",
			 is_of_root && fds->root < 0
				 ? "cgroup v2 is not mounted"
				 : strerror(err == -ENOTSUPP ? EOPNOTSUPP : -err));
		optional_explain(x, i, why);
	}
}

/* Detaches the programs of an all-or-none group if some are missing. */
static void optionals_drop_part(struct optionals *x, enum optional_group group)
{
	const unsigned all = optional_group_bits(group);

	if (optionals_have_group(x, group))
		return;
	for (size_t i = 0; i < NR_OPTIONALS; i++) {
		if (!(x->there & all & OPTIONAL_BIT(i)))
			continue;
		bpf_link__destroy(x->links[i]);
		x->links[i] = NULL;
		optional_explain(x, i, "the kernel lacks another function of the group");
	}
	x->there &= ~all;
}

static bool optionals_need_root(const struct optionals *x)
{
	for (size_t i = 0; i < NR_OPTIONALS; i++)
		if (x->there & OPTIONAL_BIT(i) && rows[i].attachment == ATTACHED_TO_ROOT_CGROUP)
			return true;
	return false;
}

void optionals_attach(struct optionals *x, struct bpfmon *skel, unsigned refused,
		      const char *wire_cgroup)
{
	__cleanup(closep) int wire =
		wire_cgroup ? open(wire_cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	__cleanup(closep) int root = optionals_need_root(x) ? cgroup_root_open() : -1;

	optionals_attach_each(x, skel, refused, &(struct cgroup_fds){ wire, root });
	optionals_drop_part(x, GROUP_OF_INET_SENDS);
	optionals_drop_part(x, GROUP_OF_INET_RECEIVES);
	skel->bss->knows_old_image = x->there & OPTIONAL_BIT(OPTIONAL_OLD_IMAGES);
	skel->bss->knows_release = x->there & OPTIONAL_BIT(OPTIONAL_RELEASES);
}

void optionals_attach_iterators(struct optionals *x, struct bpfmon *skel)
{
	for (size_t i = 0; i < NR_OPTIONALS; i++)
		if (x->there & OPTIONAL_BIT(i) &&
		    (rows[i].attachment == ATTACHED_AS_ITERATOR ||
		     rows[i].attachment == ATTACHED_AS_WALKER) &&
		    optional_attach(x, i, skel, NULL))
			x->there &= ~OPTIONAL_BIT(i);
}

void optionals_detach(struct optionals *x)
{
	for (size_t i = 0; i < NR_OPTIONALS; i++) {
		bpf_link__destroy(x->links[i]);
		x->links[i] = NULL;
	}
	walker_close(&x->sockets);
}
