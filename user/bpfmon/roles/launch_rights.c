// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/launch_rights.h"

#include "base/privilege.h"
#include "base/seccomp.h"

#include <linux/capability.h>
#include <stdint.h>

void rights_of_launcher(void)
{
	privilege_leave_root(1ULL << CAP_KILL);
	seccomp_install(SECCOMP_LAUNCHER);
}
