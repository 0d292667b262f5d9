/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Times as the collector's clocks have them, which a time namespace may shift (clocks.bpf.c). */
#ifndef CLOCKS_BPF_H
#define CLOCKS_BPF_H

/* What a time namespace adds to the kernel's clocks for the collector. */
extern __s64 mono_offset_ns, boot_offset_ns;
/* Called where the collector is `current`: from then on times are those of its clocks. */
__hidden void clocks_learn(void);

/* Converts a time of the kernel to the collector's clock; negative before that clock's zero. */
static __always_inline u64 mono_convert(u64 mono_ns)
{
	return mono_ns + mono_offset_ns;
}

static __always_inline u64 boot_convert(u64 boot_ns)
{
	return boot_ns + boot_offset_ns;
}

/* All times that user space gets come from these two, or were converted by the two above. */
static __always_inline u64 mono_now(void)
{
	return mono_convert(bpf_ktime_get_ns());
}

static __always_inline u64 boot_now(void)
{
	return boot_convert(bpf_ktime_get_boot_ns());
}

#endif
