// SPDX-License-Identifier: BSD-2-Clause
#include "measure/kernel_btf.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

/* Maps the file (from Linux 6.16 on), or reads it. */
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

/* Bytes that follow the struct btf_type; -1: a kind that is not known. */
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

const struct btf_type *kernel_btf_type(const struct kernel_btf *k, uint32_t id)
{
	return id && id < k->nr_types ? (const void *)(k->types + k->offsets[id]) : NULL;
}

const char *kernel_btf_name(const struct kernel_btf *k, uint32_t offset)
{
	return offset < k->strings_size ? k->strings + offset : "";
}

void kernel_btf_find(const struct kernel_btf *k, struct kernel_type *wanted, size_t nr)
{
	bool begins[UCHAR_MAX + 1] = { false }; /* a wanted name, with that byte: few others do */
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
