// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Bytes read and written by kind of file (--io-kinds): counted at the end of each call that the
 * kernel counts as rchar or wchar, by the inode mode of the descriptor.
 */
#include "tasks.bpf.h"

#include "calls.bpf.h"
#include <bpf/bpf_core_read.h>

#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define S_IFREG 0100000
#define S_IFIFO 0010000

/* Named as in this architecture: the types of other ones lack these fields. */
#if defined(__TARGET_ARCH_x86)
#define TS_COMPAT 2

struct pt_regs___of_call {
	unsigned long di, si, dx, orig_ax;
} __attribute__((preserve_access_index));

struct thread_info___of_call {
	u32 status;
} __attribute__((preserve_access_index));

enum call {
	CALL_READ = 0,
	CALL_WRITE = 1,
	CALL_PREAD = 17,
	CALL_PWRITE = 18,
	CALL_READV = 19,
	CALL_WRITEV = 20,
	CALL_SENDFILE = 40,
	CALL_PREADV = 295,
	CALL_PWRITEV = 296,
	CALL_COPY = 326,
	CALL_PREADV2 = 327,
	CALL_PWRITEV2 = 328,
};

#define NUMBER(regs) ((regs)->orig_ax)
#define FIRST(regs) ((regs)->di)
#define SECOND(regs) ((regs)->si)
#define THIRD(regs) ((regs)->dx)
#define IS_OF_32_BITS(info) ((info).status & TS_COMPAT)
#elif defined(__TARGET_ARCH_arm64)
#define TIF_32BIT 22

struct pt_regs___of_call {
	u64 regs[31];
	u64 orig_x0;
	s32 syscallno;
} __attribute__((preserve_access_index));

struct thread_info___of_call {
	unsigned long flags;
} __attribute__((preserve_access_index));

enum call {
	CALL_READ = 63,
	CALL_WRITE = 64,
	CALL_READV = 65,
	CALL_WRITEV = 66,
	CALL_PREAD = 67,
	CALL_PWRITE = 68,
	CALL_PREADV = 69,
	CALL_PWRITEV = 70,
	CALL_SENDFILE = 71,
	CALL_COPY = 285,
	CALL_PREADV2 = 286,
	CALL_PWRITEV2 = 287,
};

#define NUMBER(regs) ((regs)->syscallno)
#define FIRST(regs) ((regs)->orig_x0)
#define SECOND(regs) ((regs)->regs[1])
#define THIRD(regs) ((regs)->regs[2])
#define IS_OF_32_BITS(info) ((info).flags & 1UL << TIF_32BIT)
#else
#error "numbers of calls for this architecture are missing"
#endif

struct task_struct___of_call {
	struct thread_info___of_call thread_info;
} __attribute__((preserve_access_index));

/* Returns the kind of descriptor @fd of the current task, or 0 if it has been closed meanwhile. */
static __always_inline u32 fd_kind(struct task_struct *task, u32 fd)
{
	/* direct loads: helper calls would slow each call down measurably */
	struct fdtable *table = task->files->fdt;
	struct file *file = NULL;

	if (fd >= table->max_fds || bpf_probe_read_kernel(&file, sizeof(file), table->fd + fd))
		return 0;
	return file ? BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT : 0;
}

#define COUNT(n, way, kind, bytes)                                                                 \
	({                                                                                         \
		if ((kind) == S_IFREG)                                                             \
			(n)->now.way##_files += (bytes);                                           \
		else if ((kind) == S_IFSOCK)                                                       \
			(n)->now.way##_sockets += (bytes);                                         \
		else if ((kind) == S_IFIFO)                                                        \
			(n)->now.way##_pipes += (bytes);                                           \
		else                                                                               \
			(n)->now.way##_other += (bytes);                                           \
	})

/* Descriptors that a call reads from and writes to; -1: none. */
struct ends {
	s32 from, to;
};

static __always_inline struct ends call_ends(struct pt_regs___of_call *regs)
{
	const s32 first = (s32)FIRST(regs);

	switch (NUMBER(regs)) {
	case CALL_READ:
	case CALL_PREAD:
	case CALL_READV:
	case CALL_PREADV:
	case CALL_PREADV2:
		return (struct ends){ first, -1 };
	case CALL_WRITE:
	case CALL_PWRITE:
	case CALL_WRITEV:
	case CALL_PWRITEV:
	case CALL_PWRITEV2:
		return (struct ends){ -1, first };
	case CALL_SENDFILE:
		return (struct ends){ (s32)SECOND(regs), first };
	case CALL_COPY:
		return (struct ends){ first, (s32)THIRD(regs) };
	default:
		return (struct ends){ -1, -1 };
	}
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(kinds__exit, struct pt_regs___of_call *regs, long bytes)
{
	struct ends ends;
	struct task_struct *task;
	struct call_entry *n;
	u32 kind;

	if (bytes <= 0)
		return 0;
	ends = call_ends(regs);
	if (ends.from < 0 && ends.to < 0)
		return 0;
	task = bpf_get_current_task_btf();
	if (IS_OF_32_BITS(((struct task_struct___of_call *)task)->thread_info))
		return 0;
	n = calls_of_current(task->start_time);
	if (!n)
		return 0;
	if (ends.from >= 0) {
		kind = fd_kind(task, ends.from);
		COUNT(n, rchar, kind, bytes);
	}
	if (ends.to >= 0) {
		kind = fd_kind(task, ends.to);
		COUNT(n, wchar, kind, bytes);
	}
	return 0;
}
