// SPDX-License-Identifier: BSD-2-Clause
/* The sample of the configuration: docs/agent.conf is made from it. */
#include "config/config.h"
#include "config/table.h"

#include <string.h>

/* clang-format off: one line of the file a line */
static const char head[] =
	"# The configuration of the node agent (bpfmon agent): " CONFIG_PATH "\n"
	"#\n"
	"# Each key is here with its default. The agent reads the file when it starts and on "
	"SIGHUP. A\n"
	"# comment begins with # or ; at the start of a line, or with a blank and ; behind a "
	"value. A\n"
	"# line has up to 198 bytes. The file is root's, and nobody else can write it.\n";

static const char rules[] =
	"\n"
	"# Rules: which cgroups are jobs. The built-in ones (RULES.md) know systemd, Slurm, "
	"Kubernetes,\n"
	"# containers and others. Own ones, any number, come before these; the first that fits "
	"decides.\n"
	"#\n"
	"# pattern is the path of a cgroup from the root of its hierarchy; all cgroups below "
	"belong to\n"
	"# the job, too. {NAME} or * stands for one or more characters, never for a /. "
	"{NAME:CLASS} is\n"
	"# one of\n"
	"#   number   decimal digits\n"
	"#   hex      hexadecimal digits; hash: 64 of them; uuid: 8-4-4-4-12, or 32\n"
	"#   service  a name that ends in .service; likewise scope, slice, and unit (service or "
	"scope)\n"
	"# and **.slice stands for any number of slices inside each other, also none. The parts in "
	"{},\n"
	"# in order and with / between, are the id of the job; {uid:number} is its user. kind is a "
	"word\n"
	"# for lists and totals; with the kind none what fits is no job by itself.\n"
	"#\n"
	"#[rule build]\n"
	"#kind = build\n"
	"#pattern = /builds/u{uid:number}/{build}\n";
/* clang-format on */

void config_print_sample(FILE *f)
{
	const char *section = "";

	fputs(head, f);
	for (size_t i = 0; i < nr_config_rows; i++) {
		const struct config_row *row = &config_rows[i];

		for (size_t k = 0; k < nr_config_sections; k++) {
			if (strcmp(section, row->section) != 0 &&
			    !strcmp(config_sections[k].name, row->section)) {
				section = row->section;
				fprintf(f, "\n# %s.\n[%s]\n", config_sections[k].help, section);
			}
		}
		fprintf(f, "# %s\n", row->help);
		if (row->packaged)
			fprintf(f, "%s = %s\n", row->key, row->packaged);
		else
			fprintf(f, "#%s =%s%s\n", row->key, *row->standard ? " " : "",
				row->standard);
	}
	fputs(rules, f);
}
