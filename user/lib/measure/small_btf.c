// SPDX-License-Identifier: BSD-2-Clause
#include "measure/small_btf.h"

#include "base/memory.h"
#include "measure/kernel_btf.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOTS 4096 /* a power of two, many more than there are names */
#define DEEPEST 32 /* structs within each other, arrays of them, and their modifiers */

/* The names that are looked for, without what stands behind "___". */
struct names {
	const char *name[SLOTS]; /* not owned */
	size_t length[SLOTS];
	size_t nr;
};

struct copying {
	const struct kernel_btf *from;
	struct btf *to;
	uint32_t *copied; /* new id of each type; 0: not there */
	int pointer;      /* the one to void */
};

static size_t essential_length(const char *name)
{
	const char *flavor = strstr(name, "___");

	return flavor && flavor != name ? (size_t)(flavor - name) : strlen(name);
}

static uint32_t name_hash(const char *name, size_t length)
{
	uint32_t hash = 2166136261U; /* FNV-1a */

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619U;
	return hash;
}

/* The slot of that name, or the free one for it. */
static size_t name_slot(const struct names *n, const char *name, size_t length)
{
	size_t at = name_hash(name, length) & (SLOTS - 1);

	while (n->name[at] && (n->length[at] != length || memcmp(n->name[at], name, length) != 0))
		at = (at + 1) & (SLOTS - 1);
	return at;
}

/* The kinds that programs name and that are copied for it. */
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

/* The new id of what @id stands for, behind typedefs and qualifiers. */
static int type_copy_plain(struct copying *c, uint32_t id, int depth)
{
	const struct btf_type *t = kernel_btf_type(c->from, id);

	for (int i = 0; t && i < DEEPEST; i++) {
		if (!btf_is_mod(t) && !btf_is_typedef(t))
			return type_copy(c, id, depth);
		id = t->type;
		t = kernel_btf_type(c->from, id);
	}
	return t ? -ELOOP : 0; /* void */
}

/* Adds @t, whose members' types have the new @ids. */
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
	/* what it embeds comes first: members are added to the last type */
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
	default: /* a value of 64 bits, or what no program reads */
		return btf__add_int(c->to, "__u64", t->size == 8 ? 8 : 4, 0);
	}
}

/* The new id of @id, which is copied unless it has been. 0: void. */
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
