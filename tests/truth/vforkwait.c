// SPDX-License-Identifier: BSD-2-Clause
/* Waits in vfork(), uninterruptibly, until its child is killed. */
#include "truth.h"

int main(void)
{
	pid_t child = vfork();

	if (!child) {
		for (;;)
			pause();
	}
	return child < 0;
}
