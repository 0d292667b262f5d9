// SPDX-License-Identifier: BSD-2-Clause
#include "base/privilege.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/*
 * From the range that systemd assigns to services for as long as they run (DynamicUser=): no
 * distribution and no directory of users assigns these permanently.
 */
#define FIRST_UID 61184
#define NR_UIDS (PRIVILEGE_FILES_UID - FIRST_UID)
#define NOBODY 65534

static int capabilities_get(struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

	return syscall(SYS_capget, &header, data) ? -errno : 0;
}

static int capabilities_set(const struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

int privilege_set_effective(uint64_t mask)
{
	struct __user_cap_data_struct data[2];
	int err = capabilities_get(data);

	if (err)
		return err;
	for (int i = 0; i < 2; i++)
		data[i].effective = data[i].permitted & (uint32_t)(mask >> (32 * i));
	return capabilities_set(data);
}

bool privilege_has(uint64_t mask)
{
	struct __user_cap_data_struct data[2];

	if (capabilities_get(data))
		return false;
	for (int i = 0; i < 2; i++)
		if ((uint32_t)(mask >> (32 * i)) & ~data[i].permitted)
			return false;
	return true;
}

void privilege_bound(uint64_t keep)
{
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++)
		if (!(keep >> cap & 1) && prctl(PR_CAPBSET_DROP, cap))
			return; /* without CAP_SETPCAP */
}

int privilege_keep(uint64_t keep)
{
	struct __user_cap_data_struct data[2];
	int err = capabilities_get(data);

	if (err)
		return err;
	privilege_bound(keep);
	/* so that an exec gains nothing, whatever the bounding set has */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	for (int i = 0; i < 2; i++) {
		data[i].permitted &= (uint32_t)(keep >> (32 * i));
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return capabilities_set(data);
}

int privilege_return(void)
{
	struct __user_cap_data_struct data[2];
	int err = capabilities_get(data);

	if (err)
		return err;
	for (int i = 0; i < 2; i++)
		data[i].permitted = data[i].effective = 0;
	return capabilities_set(data);
}

void privilege_protect(void)
{
	prctl(PR_SET_DUMPABLE, 0);
}

/* Each process of bpfmon gets a user of its own: a compromised one cannot signal the others. */
static void privilege_take_user(void)
{
	const uid_t ids[] = { FIRST_UID + (uid_t)getpid() % NR_UIDS, NOBODY };

	setgroups(0, NULL);
	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++)
		if (!setresgid(ids[i], ids[i], ids[i]) && !setresuid(ids[i], ids[i], ids[i]))
			return;
}

int privilege_leave_root(uint64_t keep)
{
	if (!geteuid() && !privilege_set_effective(UINT64_MAX) &&
	    !prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0)) {
		privilege_take_user();
		prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
		/* the change of user has cleared the effective set */
		privilege_set_effective(UINT64_MAX);
	}
	return privilege_keep(keep);
}
