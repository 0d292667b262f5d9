// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/open_run.h"

#include "base/log.h"
#include "launch/user.h"

#include <string.h>

int open_run(struct source *s, const char *name)
{
	struct user caller;
	bool was_sudo;
	int err = 0;

	*s = (struct source){ 0 };
	user_caller(&caller, &was_sudo);
	if (was_sudo) /* root opens no path that a user chose */
		err = user_become(&caller);
	if (err) {
		log_error("cannot become user %s to read '%s': %s", caller.name, name,
			  strerror(-err));
		return err;
	}
	err = source_open_file(s, name);
	if (err)
		log_error("cannot open the run '%s': %s; a run is a file that -o run.jsonl wrote, "
			  "or - for stdin",
			  name, strerror(-err));
	return err;
}

void tell_unreadable(const char *name, int err)
{
	log_error("cannot read the run '%s': %s", name, source_error(err));
}
