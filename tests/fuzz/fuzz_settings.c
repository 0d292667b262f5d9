// SPDX-License-Identifier: BSD-2-Clause
/* A file of options: the first byte says whether it is the user's or a project's, which comes with
 * a clone. */
#include "fuzz.h"

#include "bpfmon/recording_options.h"
#include "bpfmon/subcommands.h"
#include "options/settings.h"
#include "config/config.h"

#include <errno.h>

static void settings_check(const struct settings *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		FUZZ_HOLDS(*s->list[i].key && s->list[i].value && s->list[i].line);
		FUZZ_HOLDS(!s->is_project || s->list[i].guard <= PROJECT_MAY ||
			   setting_refusal(s, &s->list[i]));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct settings both[NR_USER_FILES];
	static struct run_options o;
	char why[CONFIG_WHY_BYTES] = "", *text;
	struct settings *s;
	int err;

	if (!size)
		return 0;
	s = &both[data[0] % NR_USER_FILES];
	s->is_project = s == &both[FILE_OF_PROJECT];
	snprintf(s->path, sizeof(s->path), "file");
	text = fuzz_text(data + 1, size - 1);
	err = settings_parse(s, text, size - 1, why, sizeof(why));
	FUZZ_HOLDS(!err == !*why && (!err || !s->nr));
	fuzz_is_inert(why, strlen(why));
	settings_check(s);
	if (!err) { /* each value was right, so that they are together but for too many tags or
		       outputs */
		memset(&o, 0, sizeof(o));
		err = settings_apply(both, &subcommand_run, &o);
		FUZZ_HOLDS(!err || err == -EINVAL);
		FUZZ_HOLDS(o.recording.tags.nr <= MAX_TAGS &&
			   o.recording.nr_outputs <= MAX_OUTPUTS);
		/* the target has no other file but this one */
		FUZZ_HOLDS(!s->is_project || (!o.limits.nr && !o.recording.nr_outputs &&
					      !o.recording.quiet && !o.recording.interval_ns));
	}
	settings_done(s);
	free(text);
	return 0;
}
