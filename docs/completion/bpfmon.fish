# SPDX-License-Identifier: BSD-2-Clause
# Completion of bpfmon's command line for fish. What there is to offer comes from bpfmon itself:
# user/lib/options/completion.h describes the lines of "bpfmon complete".

function __bpfmon_complete
	set -l typed (commandline -opc)
	set -l word (commandline -ct)
	for line in (command bpfmon complete -- $typed[2..-1] "$word" 2>/dev/null)
		set -l own (string split ' ' -- $line)
		switch $line
			case ':command*'
				__fish_complete_subcommand --fcs-skip=(math $own[2] + 1)
			case ':files*'
				set -l before (string sub -l $own[2] -- "$word")
				printf "$before%s\n" (__fish_complete_path (string sub -s (math $own[2] + 1) -- "$word"))
			case ':folders*'
				__fish_complete_directories (string sub -s (math $own[2] + 1) -- "$word")
			case ':users*'
				set -l before (string sub -l $own[2] -- "$word")
				printf "$before%s\n" (__fish_complete_users)
			case '*'
				echo $line
		end
	end
end

complete -c bpfmon -f -a '(__bpfmon_complete)'
