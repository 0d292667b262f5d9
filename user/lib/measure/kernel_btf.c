// SPDX-License-Identifier: BSD-2-Clause
#include "measure/kernel_btf.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

/* mmap works from Linux 6.16 on. */
static int bytes_get(struct kernel_btf *k)
{
	__cleanup(closep) int fd = open(KERNEL_BTF, O_RDONLY | O_CLOEXEC);
	struct stat st;
	size_t got = 0;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	k->size = (size_t)st.st_size;
	k->bytes = mmap(NULL, k->size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	k->is_mapped = k->bytes != MAP_FAILED;
	if (k->is_mapped)
		return 0;
	k->bytes = memory_malloc(k->size);
	if (!k->bytes)
		return -ENOMEM;
	while (got < k->size && (n = read(fd, (char *)k->bytes + got, k->size - got)) > 0)
		got += (size_t)n;
	return got == k->size ? 0 : -EIO;
}

/* Returns the size of the data after struct btf_type, or -1 for an unknown kind. */
static long info_bytes(const struct btf_type *t)
{
	const long n = btf_vlen(t);

	switch (btf_kind(t)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return n * (long)sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return n * (long)sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return n * (long)sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return n * (long)sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return n * (long)sizeof(struct btf_var_secinfo);
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	default:
		return -1;
	}
}

static int types_number(struct kernel_btf *k, size_t types_size)
{
	size_t room = types_size / sizeof(struct btf_type) + 1;
	size_t at = 0;

	k->offsets = memory_malloc(room * sizeof(*k->offsets));
	if (!k->offsets)
		return -ENOMEM;
	for (k->nr_types = 1; at + sizeof(struct btf_type) <= types_size; k->nr_types++) {
		long more = info_bytes((const void *)(k->types + at));

		if (more < 0)
			return -EPROTO;
		k->offsets[k->nr_types] = (uint32_t)at;
		at += sizeof(struct btf_type) + (size_t)more;
	}
	return at == types_size ? 0 : -EBADMSG;
}

int kernel_btf_open(struct kernel_btf *k)
{
	const struct btf_header *h;
	int err;

	*k = (struct kernel_btf){ 0 };
	err = bytes_get(k);
	h = k->bytes;
	if (!err && (k->size < sizeof(*h) || h->magic != BTF_MAGIC || h->hdr_len < sizeof(*h) ||
		     (uint64_t)h->hdr_len + h->type_off + h->type_len > k->size ||
		     (uint64_t)h->hdr_len + h->str_off + h->str_len > k->size || !h->str_len))
		err = -EBADMSG;
	if (!err) {
		k->types = (const char *)k->bytes + h->hdr_len + h->type_off;
		k->strings = (const char *)k->bytes + h->hdr_len + h->str_off;
		k->strings_size = h->str_len;
		err = k->strings[k->strings_size - 1] ? -EBADMSG : types_number(k, h->type_len);
	}
	if (err)
		kernel_btf_close(k);
	return err;
}

void kernel_btf_close(struct kernel_btf *k)
{
	if (k->is_mapped)
		munmap(k->bytes, k->size);
	else if (k->bytes != MAP_FAILED)
		free(k->bytes);
	free(k->offsets);
	*k = (struct kernel_btf){ 0 };
}

/* Returns NULL for void and for unknown ids. */
static const struct btf_type *kernel_btf_type(const struct kernel_btf *k, uint32_t id)
{
	return id && id < k->nr_types ? (const void *)(k->types + k->offsets[id]) : NULL;
}

static const char *kernel_btf_name(const struct kernel_btf *k, uint32_t offset)
{
	return offset < k->strings_size ? k->strings + offset : "";
}

void kernel_btf_find(const struct kernel_btf *k, struct kernel_type *wanted, size_t nr)
{
	/* first bytes of wanted names: excludes most others */
	bool begins[UCHAR_MAX + 1] = { false };
	uint32_t kinds = 0;

	for (size_t i = 0; i < nr; i++) {
		wanted[i].id = 0;
		kinds |= 1U << wanted[i].kind;
		begins[(unsigned char)*wanted[i].name] = true;
	}
	for (uint32_t id = 1; id < k->nr_types; id++) {
		const struct btf_type *t = kernel_btf_type(k, id);
		const char *name;

		if (!(kinds & 1U << btf_kind(t)))
			continue;
		name = kernel_btf_name(k, t->name_off);
		if (!begins[(unsigned char)*name])
			continue;
		for (size_t i = 0; i < nr; i++)
			if (wanted[i].kind == btf_kind(t) && !wanted[i].id &&
			    !strcmp(wanted[i].name, name))
				wanted[i].id = id;
	}
}

int64_t kernel_btf_enumerator(const struct kernel_btf *k, const char *name)
{
	for (uint32_t id = 1; id < k->nr_types; id++) {
		const struct btf_type *t = kernel_btf_type(k, id);
		const struct btf_enum *e = btf_enum(t);

		if (btf_kind(t) != BTF_KIND_ENUM)
			continue;
		for (uint16_t i = 0; i < btf_vlen(t); i++)
			if (!strcmp(kernel_btf_name(k, e[i].name_off), name))
				return e[i].val;
	}
	return -ENOENT;
}

#define SLOTS 4096 /* a power of two, far above the number of names */
#define DEEPEST 32 /* nested structs, arrays and modifiers */

/* Names to look for, without a "___flavor" suffix. */
struct names {
	const char *name[SLOTS]; /* not owned */
	size_t length[SLOTS];
	size_t nr;
};

struct copying {
	const struct kernel_btf *from;
	struct btf *to;
	uint32_t *copied; /* new id by old id; 0: not copied */
	int pointer;      /* id of void * */
};

static size_t essential_length(const char *name)
{
	const char *flavor = strstr(name, "___");

	return flavor && flavor != name ? (size_t)(flavor - name) : strlen(name);
}

static uint32_t name_hash(const char *name, size_t length)
{
	uint32_t hash = 2166136261U;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619U;
	return hash;
}

/* Returns the slot of the name, or the free one for it. */
static size_t name_slot(const struct names *n, const char *name, size_t length)
{
	size_t at = name_hash(name, length) & (SLOTS - 1);

	while (n->name[at] && (n->length[at] != length || memcmp(n->name[at], name, length) != 0))
		at = (at + 1) & (SLOTS - 1);
	return at;
}

/* Returns true for the kinds that programs name. */
static bool type_is_wanted(const struct btf_type *t)
{
	return btf_is_composite(t) || btf_is_any_enum(t);
}

static int names_collect(struct names *n, const struct btf *local)
{
	for (__u32 id = 1; id < btf__type_cnt(local); id++) {
		const struct btf_type *t = btf__type_by_id(local, id);
		const char *name = btf__name_by_offset(local, t->name_off);
		size_t length, at;

		if (!type_is_wanted(t) || !name || !*name)
			continue;
		length = essential_length(name);
		at = name_slot(n, name, length);
		if (n->name[at])
			continue;
		if (n->nr++ == SLOTS / 2)
			return -E2BIG;
		n->name[at] = name;
		n->length[at] = length;
	}
	return 0;
}

static int type_copy(struct copying *c, uint32_t id, int depth);

/* Copies the type behind typedefs and qualifiers. Returns its new id. */
static int type_copy_plain(struct copying *c, uint32_t id, int depth)
{
	const struct btf_type *t = kernel_btf_type(c->from, id);

	for (int i = 0; t && i < DEEPEST; i++) {
		if (!btf_is_mod(t) && !btf_is_typedef(t))
			return type_copy(c, id, depth);
		id = t->type;
		t = kernel_btf_type(c->from, id);
	}
	return t ? -ELOOP : 0;
}

static int composite_add(struct copying *c, const struct btf_type *t, const int *ids)
{
	const struct btf_member *m = btf_members(t);
	const char *name = kernel_btf_name(c->from, t->name_off);
	int id, err = 0;

	id = btf_is_struct(t) ? btf__add_struct(c->to, name, t->size)
			      : btf__add_union(c->to, name, t->size);
	for (__u16 i = 0; id > 0 && !err && i < btf_vlen(t); i++)
		err = btf__add_field(c->to, kernel_btf_name(c->from, m[i].name_off), ids[i],
				     btf_member_bit_offset(t, i), btf_member_bitfield_size(t, i));
	return err ? err : id;
}

static int composite_copy(struct copying *c, const struct btf_type *t, int depth)
{
	const __u16 nr = btf_vlen(t);
	int *ids = memory_calloc(nr + 1U, sizeof(*ids));
	int id = 0;

	if (!ids)
		return -ENOMEM;
	/* embedded types first: members are added to the last type */
	for (__u16 i = 0; id >= 0 && i < nr; i++)
		id = ids[i] = type_copy_plain(c, btf_members(t)[i].type, depth + 1);
	if (id >= 0)
		id = composite_add(c, t, ids);
	free(ids);
	return id;
}

static int enum_copy(struct copying *c, const struct btf_type *t)
{
	const char *name = kernel_btf_name(c->from, t->name_off);
	int id = btf__add_enum(c->to, name, t->size), err = 0;

	for (__u16 i = 0; id > 0 && !err && i < btf_vlen(t); i++)
		err = btf__add_enum_value(c->to, kernel_btf_name(c->from, btf_enum(t)[i].name_off),
					  btf_enum(t)[i].val);
	return err ? err : id;
}

static int array_copy(struct copying *c, const struct btf_type *t, int depth)
{
	const struct btf_array *a = btf_array(t);
	int index = type_copy_plain(c, a->index_type, depth + 1);
	int element = type_copy_plain(c, a->type, depth + 1);

	if (index < 0 || element < 0)
		return index < 0 ? index : element;
	return btf__add_array(c->to, index, element, a->nelems);
}

static int type_make(struct copying *c, const struct btf_type *t, int depth)
{
	const char *name = kernel_btf_name(c->from, t->name_off);

	switch (btf_kind(t)) {
	case BTF_KIND_INT:
		return btf__add_int(c->to, name, t->size, btf_int_encoding(t));
	case BTF_KIND_FLOAT:
		return btf__add_float(c->to, name, t->size);
	case BTF_KIND_PTR:
		return c->pointer;
	case BTF_KIND_ARRAY:
		return array_copy(c, t, depth);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return composite_copy(c, t, depth);
	case BTF_KIND_ENUM:
		return enum_copy(c, t);
	default: /* an enum64, or a kind that no program reads */
		return btf__add_int(c->to, "__u64", t->size == 8 ? 8 : 4, 0);
	}
}

/* Copies the type unless it was copied. Returns its new id, 0 for void. */
static int type_copy(struct copying *c, uint32_t id, int depth)
{
	const struct btf_type *t = kernel_btf_type(c->from, id);
	int copied;

	if (!t)
		return 0;
	if (depth > DEEPEST)
		return -ELOOP;
	if (c->copied[id])
		return (int)c->copied[id];
	copied = type_make(c, t, depth);
	if (copied > 0)
		c->copied[id] = (uint32_t)copied;
	return copied;
}

static int types_copy(struct copying *c, const struct names *wanted)
{
	for (uint32_t id = 1; id < c->from->nr_types; id++) {
		const struct btf_type *t = kernel_btf_type(c->from, id);
		const char *name;
		int copied;

		if (!type_is_wanted(t))
			continue;
		name = kernel_btf_name(c->from, t->name_off);
		if (!*name || !wanted->name[name_slot(wanted, name, strlen(name))])
			continue;
		copied = type_copy(c, id, 0);
		if (copied < 0)
			return copied;
	}
	return 0;
}

static int bytes_write(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t w = write(fd, bytes, n);

		if (w < 0)
			return -errno;
		bytes += w;
		n -= (size_t)w;
	}
	return 0;
}

static int copy_write(struct copying *c, int fd, const struct names *wanted)
{
	const void *bytes;
	__u32 size;
	int err;

	c->pointer = btf__add_ptr(c->to, 0);
	err = c->pointer < 0 ? c->pointer : types_copy(c, wanted);
	if (err)
		return err;
	bytes = btf__raw_data(c->to, &size);
	return bytes ? bytes_write(fd, bytes, size) : -ENOMEM;
}

int small_btf_write(int fd, const struct kernel_btf *kernel, const struct btf *local)
{
	struct names *wanted = memory_calloc(1, sizeof(*wanted));
	struct copying c = { .from = kernel, .to = btf__new_empty() };
	int err;

	c.copied = memory_calloc(kernel->nr_types, sizeof(*c.copied));
	err = wanted && c.to && c.copied ? names_collect(wanted, local) : -ENOMEM;
	if (!err)
		err = copy_write(&c, fd, wanted);
	btf__free(c.to);
	free(c.copied);
	free(wanted);
	return err;
}
