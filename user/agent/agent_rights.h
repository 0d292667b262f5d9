/* SPDX-License-Identifier: BSD-2-Clause */
/* The rights that the agent has once it is open. */
#ifndef AGENT_AGENT_RIGHTS_H
#define AGENT_AGENT_RIGHTS_H

/* @keeps_bpf: the kernel asks for those of BPF again at each drain. */
void agent_drop_rights(int keeps_bpf);

#endif
