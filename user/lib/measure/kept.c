// SPDX-License-Identifier: BSD-2-Clause
#include "measure/kept.h"

#include "base/memory.h"
#include "bpfmon.skel.h"
#include "measure/tracker.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DIGEST_BYTES 17 /* with the NUL */

static uint64_t digest_add(uint64_t digest, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) /* FNV-1a */
		digest = (digest ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3ULL;
	return digest;
}

/*
 * Computes a digest of the programs with the layout of all maps, which their BTF has, and of the
 * settings.
 */
static void books_digest(const struct bpfmon *skel, char text[DIGEST_BYTES])
{
	const struct bpf_object_skeleton *s = skel->skeleton;
	uint64_t digest = digest_add(0xcbf29ce484222325ULL, s->data, s->data_sz);

	digest = digest_add(digest, skel->rodata, sizeof(*skel->rodata));
	snprintf(text, DIGEST_BYTES, "%016llx", (unsigned long long)digest);
}

static int link_fd(const struct bpf_link *link)
{
	return link ? bpf_link__fd(link) : -1;
}

typedef void (*fd_fn)(void *context, const char *name, int fd);

static void maps_each(const struct tracker *t, fd_fn each, void *context)
{
	const struct bpf_object_skeleton *s = t->skel->skeleton;

	for (int i = 0; i < s->map_cnt; i++)
		if (bpf_map__fd(*s->maps[i].map) >= 0)
			each(context, s->maps[i].name, bpf_map__fd(*s->maps[i].map));
}

static void programs_each(const struct tracker *t, fd_fn each, void *context)
{
	const struct bpf_object_skeleton *s = t->skel->skeleton;

	for (int i = 0; i < s->prog_cnt; i++)
		if (bpf_program__fd(*s->progs[i].prog) >= 0)
			each(context, s->progs[i].name, bpf_program__fd(*s->progs[i].prog));
}

/* Links of hooks; those of iterators are made anew. */
static void links_each(const struct tracker *t, fd_fn each, void *context)
{
	const struct bpf_object_skeleton *s = t->skel->skeleton;

	for (int i = 0; i < s->prog_cnt; i++)
		if (s->progs[i].link && link_fd(*s->progs[i].link) >= 0)
			each(context, NULL, link_fd(*s->progs[i].link));
	for (size_t i = 0; i < NR_OPTIONALS; i++)
		if (optional_row(i)->attachment != ATTACHED_AS_ITERATOR &&
		    link_fd(t->optional.links[i]) >= 0)
			each(context, NULL, link_fd(t->optional.links[i]));
	for (size_t i = 0; i < t->nr_kept_links; i++)
		each(context, NULL, t->kept_links[i]);
}

struct fd_list {
	int *fds;
	size_t nr;
};

static void kept_fd_add(void *context, const char *name, int fd)
{
	struct fd_list *l = context;

	(void)name;
	if (l->nr < KEPT_BOOKS_FDS)
		l->fds[l->nr] = fd;
	l->nr++;
}

size_t kept_fds(const struct tracker *t, int *fds)
{
	struct fd_list l = { .fds = fds };

	if (!t->skel)
		return 0;
	maps_each(t, kept_fd_add, &l);
	programs_each(t, kept_fd_add, &l);
	links_each(t, kept_fd_add, &l);
	return l.nr <= KEPT_BOOKS_FDS ? l.nr : 0;
}

static void kept_name_put(void *context, const char *name, int fd)
{
	(void)fd;
	jsonw_string(context, NULL, name);
}

void kept_write(const struct tracker *t, struct jsonw *j)
{
	char digest[DIGEST_BYTES];

	books_digest(t->skel, digest);
	jsonw_object(j, "books");
	jsonw_string(j, "digest", digest);
	jsonw_uint(j, "max_tasks", bpf_map__max_entries(t->skel->maps.tasks));
	jsonw_uint(j, "optionals", t->optional.there);
	jsonw_array(j, "maps");
	maps_each(t, kept_name_put, j);
	jsonw_array_end(j);
	jsonw_array(j, "programs");
	programs_each(t, kept_name_put, j);
	jsonw_array_end(j);
	kept_write_account(j, "removed", &t->removed);
	jsonw_object_end(j);
}

bool kept_fits(const struct kept *k, const struct bpfmon *skel)
{
	const char *written = json_string_value(json_object_get(k->books, "digest"));
	char digest[DIGEST_BYTES];

	books_digest(skel, digest);
	return written && !strcmp(written, digest);
}

static uint64_t books_number(const json_t *o, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(o, key));
}

void kept_settings(const struct kept *k, unsigned *max_tasks, unsigned *optionals)
{
	*max_tasks = (unsigned)books_number(k->books, "max_tasks");
	*optionals = (unsigned)books_number(k->books, "optionals");
}

/* Returns the place of @name in the array @key, or the length of the array. */
static size_t kept_name_find(const struct kept *k, const char *key, const char *name)
{
	const json_t *names = json_object_get(k->books, key);
	size_t i = 0;

	while (i < json_array_size(names) &&
	       strcmp(json_string_value(json_array_get(names, i)), name) != 0)
		i++;
	return i;
}

int kept_use_maps(const struct kept *k, struct bpfmon *skel)
{
	const struct bpf_object_skeleton *s = skel->skeleton;
	size_t nr = json_array_size(json_object_get(k->books, "maps"));

	for (int i = 0; i < s->map_cnt; i++) {
		size_t at = kept_name_find(k, "maps", s->maps[i].name);
		int err;

		if (at >= nr || at >= k->nr)
			continue;
		err = bpf_map__reuse_fd(*s->maps[i].map, k->fds[at]);
		if (err)
			return err;
	}
	return 0;
}

int kept_program(const struct kept *k, const char *name)
{
	size_t at = kept_name_find(k, "programs", name);

	if (at >= json_array_size(json_object_get(k->books, "programs")))
		return -1;
	at += json_array_size(json_object_get(k->books, "maps"));
	return at < k->nr ? k->fds[at] : -1;
}

int kept_finish(const struct kept *k, struct tracker *t)
{
	size_t first = json_array_size(json_object_get(k->books, "maps")) +
		       json_array_size(json_object_get(k->books, "programs"));

	kept_read_account(json_object_get(k->books, "removed"), &t->removed);
	if (first >= k->nr)
		return -EBADMSG;
	t->kept_links = memory_calloc(k->nr - first, sizeof(*t->kept_links));
	if (!t->kept_links)
		return -ENOMEM;
	for (size_t i = first; i < k->nr; i++) {
		int fd = fcntl(k->fds[i], F_DUPFD_CLOEXEC, 0);

		if (fd < 0)
			return -errno;
		t->kept_links[t->nr_kept_links++] = fd;
	}
	return 0;
}

void kept_write_account(struct jsonw *j, const char *key, const struct account *a)
{
	const __u64 *fields = (const __u64 *)a;

	jsonw_array(j, key);
	for (size_t i = 0; i < sizeof(*a) / sizeof(*fields); i++)
		jsonw_uint(j, NULL, fields[i]);
	jsonw_array_end(j);
}

void kept_read_account(const json_t *array, struct account *a)
{
	__u64 *fields = (__u64 *)a;

	for (size_t i = 0; i < sizeof(*a) / sizeof(*fields); i++)
		fields[i] = (__u64)json_integer_value(json_array_get(array, i));
	a->closed = 0;
}
