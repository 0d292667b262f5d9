// SPDX-License-Identifier: BSD-2-Clause
#include "base/privilege.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int get(struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

	return syscall(SYS_capget, &header, data) ? -errno : 0;
}

static int set(const struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

int privilege_use(uint64_t mask)
{
	struct __user_cap_data_struct data[2];
	int err = get(data);

	if (err)
		return err;
	for (int i = 0; i < 2; i++)
		data[i].effective = data[i].permitted & (uint32_t)(mask >> (32 * i));
	return set(data);
}

int privilege_keep(uint64_t keep)
{
	struct __user_cap_data_struct data[2];
	int err = get(data);

	if (err)
		return err;
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++)
		prctl(PR_CAPBSET_DROP,
		      cap); /* needs CAP_SETPCAP; without it there is less to lose */
	for (int i = 0; i < 2; i++) {
		data[i].permitted &= (uint32_t)(keep >> (32 * i));
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return set(data);
}
