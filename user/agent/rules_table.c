// SPDX-License-Identifier: BSD-2-Clause
/*
 * The built-in rules: paths that systemd, batch systems and container engines create. Each begins
 * at the root. Cgroups delegated to a user or container, who may choose any names there, are
 * matched only by rows that name the delegation: the ids of such jobs begin with the outer job.
 */
#include "agent/rules.h"

#define USER "/user.slice/user-{uid:number}.slice"
#define MANAGER USER "/user@*.service"
#define POD "pod{pod:uuid}"
#define STEPS "/**.slice/slurmstepd.scope"
#define STEPS_OF_NODE "/**.slice/*_slurmstepd.scope" /* for several slurmd on a machine */

/* clang-format off: one row a rule */
const struct rule_row rule_rows[] = {
	/* batch systems */
	{ "slurm", "/slurm/uid_{uid:number}/job_{job:number}", "{job}", 0 },
	{ "slurm", "/slurm_*/uid_{uid:number}/job_{job:number}", "{job}", 0 },
	{ "slurm", STEPS "/job_{job:number}", "{job}", 0 },
	{ "slurm", STEPS_OF_NODE "/job_{job:number}", "{job}", 0 },
	{ "slurm-step", "/slurm/uid_{uid:number}/job_{job:number}/step_{step}", "{job}.{step}", 0 },
	{ "slurm-step", "/slurm_*/uid_{uid:number}/job_{job:number}/step_{step}", "{job}.{step}",
	  0 },
	{ "slurm-step", STEPS "/job_{job:number}/step_{step}", "{job}.{step}", 0 },
	{ "slurm-step", STEPS_OF_NODE "/job_{job:number}/step_{step}", "{job}.{step}", 0 },
	/* since 26.05 a job may have a SLUID: s and 13 digits of base 32 */
	{ "none", STEPS "/system", "", 0 },
	{ "none", STEPS_OF_NODE "/system", "", 0 },
	{ "slurm", STEPS "/s{sluid}", "s{sluid}", 0 },
	{ "slurm", STEPS_OF_NODE "/s{sluid}", "s{sluid}", 0 },
	{ "slurm-step", STEPS "/s{sluid}/step_{step}", "s{sluid}.{step}", 0 },
	{ "slurm-step", STEPS_OF_NODE "/s{sluid}/step_{step}", "s{sluid}.{step}", 0 },
	{ "none", STEPS, "", RULE_EXPECTS },
	{ "none", STEPS_OF_NODE, "", RULE_EXPECTS },
	{ "none", "/slurm/system", "", 0 },
	{ "none", "/slurm_*/system", "", 0 },
	{ "none", "/slurm", "", RULE_EXPECTS },
	{ "none", "/slurm_*", "", RULE_EXPECTS },
	{ "htcondor", "/htcondor/condor_*_slot{slot}", "slot{slot}", 0 },
	{ "htcondor", "/htcondor/{slot}", "{slot}", 0 },
	{ "htcondor", "/system.slice/htcondor/condor_*_slot{slot}", "slot{slot}", 0 },
	{ "htcondor", "/system.slice/htcondor/{slot}", "{slot}", 0 },
	{ "htcondor", "/system.slice/condor.service/htcondor/condor_*_slot{slot}", "slot{slot}",
	  0 },
	{ "pbs", "/pbs_jobs.service/jobid/{job}", "{job}", 0 },
	{ "pbs", "/pbs_jobs.service/jobs/{job}", "{job}", 0 },
	{ "none", "/pbs_jobs.service", "", RULE_EXPECTS },
	{ "pbs", "/torque/{job}", "{job}", 0 },
	{ "lsf", "/lsf/*/job.{job:number}.*", "{job}", 0 },
	{ "lsf", "/lsf/*/job.{job:number}[{index:number}].*", "{job}[{index}]", 0 },
	{ "none", "/lsf", "", RULE_EXPECTS },
	{ "grid-engine", "/UGE/{job}", "{job}", 0 },
	{ "grid-engine", "/AGE/{job}", "{job}", 0 },
	{ "grid-engine", "/SGE/{job}", "{job}", 0 },
	{ "oar", "/oar/{user}_{job:number}", "{job}", 0 },
	{ "nomad", "/nomad.slice/*.slice/{alloc:uuid}.{task}.scope", "{alloc}/{task}", 0 },

	/* Kubernetes with cgroupfs, with systemd, and nested as by kind */
	{ "pod", "/kubepods/" POD, "{pod}", RULE_INSIDE },
	{ "pod", "/kubepods/*/" POD, "{pod}", RULE_INSIDE },
	{ "pod", "/kubelet/kubepods/" POD, "{pod}", RULE_INSIDE },
	{ "pod", "/kubelet/kubepods/*/" POD, "{pod}", RULE_INSIDE },
	{ "pod", "/kubepods.slice/kubepods-" POD ".slice", "{pod}", RULE_INSIDE },
	{ "pod", "/kubepods.slice/kubepods-*.slice/kubepods-*-" POD ".slice", "{pod}",
	  RULE_INSIDE },
	{ "pod", "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-" POD ".slice", "{pod}",
	  RULE_INSIDE },
	{ "pod",
	  "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-*.slice/kubelet-kubepods-*-" POD
	  ".slice",
	  "{pod}", RULE_INSIDE },
	{ "container", "/kubepods/" POD "/{hash:hash}", "{hash}", RULE_INSIDE },
	{ "container", "/kubepods/*/" POD "/{hash:hash}", "{hash}", RULE_INSIDE },
	{ "container", "/kubepods/" POD "/crio-{hash:hash}", "{hash}", RULE_INSIDE },
	{ "container", "/kubepods/*/" POD "/crio-{hash:hash}", "{hash}", RULE_INSIDE },
	{ "container", "/kubelet/kubepods/" POD "/{hash:hash}", "{hash}", RULE_INSIDE },
	{ "container", "/kubelet/kubepods/*/" POD "/{hash:hash}", "{hash}", RULE_INSIDE },
	{ "none", "/kubepods", "", RULE_EXPECTS },
	{ "none", "/kubelet/kubepods", "", RULE_EXPECTS },
	{ "none", "/kubepods.slice", "", RULE_EXPECTS },
	{ "none", "/kubelet.slice/kubelet-kubepods.slice", "", RULE_EXPECTS },
	/* containerd with systemd names, in a configuration without slices */
	{ "container",
	  "/system.slice/containerd.service/kubepods-" POD ".slice:cri-containerd:{hash:hash}",
	  "{hash}", 0 },
	{ "container",
	  "/system.slice/containerd.service/kubepods-*-" POD ".slice:cri-containerd:{hash:hash}",
	  "{hash}", 0 },
	{ "container",
	  "/system.slice/k3s.service/kubepods-" POD ".slice:cri-containerd:{hash:hash}", "{hash}",
	  0 },
	{ "container",
	  "/system.slice/k3s.service/kubepods-*-" POD ".slice:cri-containerd:{hash:hash}", "{hash}",
	  0 },

	/* containers of root: docker, libpod (podman), crio, cri-containerd, nerdctl */
	{ "monitor", "/**.slice/libpod-conmon-{hash:hash}.scope", "{hash}", 0 },
	{ "monitor", "/**.slice/crio-conmon-{hash:hash}.scope", "{hash}", 0 },
	{ "monitor", MANAGER "/**.slice/libpod-conmon-{hash:hash}.scope", "{uid}/{hash}", 0 },
	{ "container", MANAGER "/**.slice/*-{hash:hash}.scope", "{uid}/{hash}", RULE_MACHINE },
	{ "container", MANAGER "/**.slice/{unit:service}/libpod-payload-{hash:hash}",
	  "{uid}/{unit}/{hash}", RULE_MACHINE },
	{ "container", "/**.slice/*-{hash:hash}.scope", "{hash}", RULE_MACHINE | RULE_INSIDE },
	{ "container", "/**.slice/{unit:service}/libpod-payload-{hash:hash}", "{unit}/{hash}",
	  RULE_MACHINE },
	{ "podman-pod", "/machine.slice/machine-libpod_pod_{pod:hash}.slice", "{pod}", 0 },
	{ "container", "/libpod_parent/libpod-{hash:hash}", "{hash}", RULE_MACHINE | RULE_INSIDE },
	{ "container", "/libpod_parent/{pod:hash}/libpod-{hash:hash}", "{hash}", RULE_MACHINE },
	{ "podman-pod", "/libpod_parent/{pod:hash}", "{pod}", 0 },
	{ "monitor", "/libpod_parent/libpod-conmon-{hash:hash}", "{hash}", 0 },
	{ "none", "/libpod_parent", "", RULE_EXPECTS },
	{ "lxc", "/lxc/{name}", "{name}", RULE_MACHINE },
	{ "lxc", "/lxc.payload.{name}", "{name}", RULE_MACHINE },
	{ "lxc", "/lxc.payload/{name}", "{name}", RULE_MACHINE },
	{ "monitor", "/lxc.monitor.{name}", "lxc/{name}", 0 },
	{ "monitor", "/lxc.monitor/{name}", "lxc/{name}", 0 },
	{ "container", "/ecs/{task}/{hash:hash}", "{hash}", RULE_MACHINE },
	{ "container", "/docker/buildkit/{name}", "buildkit/{name}", 0 },
	{ "container", "/mesos/{name:uuid}", "{name}", 0 },
	/* docker, and the namespaces of containerd: default, k8s.io, moby */
	{ "container", "/*/{hash:hash}", "{hash}", RULE_MACHINE | RULE_INSIDE },
	/* with --cgroup-parent=/A/B; slices also have delegated cgroups, which are no jobs */
	{ "none", "/*.slice/*/{hash:hash}", "", RULE_INSIDE },
	{ "none", "/*.slice/*/*/{hash:hash}", "", RULE_INSIDE },
	{ "container", "/*/*/{hash:hash}", "{hash}", RULE_MACHINE | RULE_INSIDE },
	{ "container", "/*/*/*/{hash:hash}", "{hash}", RULE_MACHINE | RULE_INSIDE },
	{ "none", "/docker", "", RULE_EXPECTS },
	{ "container", "/default/{name}", "default/{name}", 0 },

	/* machines of systemd-machined, libvirt and Proxmox */
	{ "machine", "/machine.slice/machine-{name}.scope", "{name}", RULE_MACHINE },
	{ "machine", "/machine.slice/systemd-nspawn@{name}.service", "{name}", RULE_MACHINE },
	{ "machine", "/machine/{name}.libvirt-qemu", "{name}", 0 },
	{ "machine", "/machine/{name}.libvirt-lxc", "{name}", 0 },
	{ "machine", "/qemu.slice/{name:number}.scope", "qemu/{name}", 0 },

	/* users: sessions, and units of a user's own manager, who may choose any names */
	{ "user", USER, "{uid}", 0 },
	{ "session", USER "/session-{session}.scope", "{uid}/{session}", 0 },
	{ "manager", MANAGER, "{uid}", 0 },
	{ "none", MANAGER "/init.scope", "", 0 },
	{ "app", MANAGER "/**.slice/{unit:unit}", "{uid}/{unit}", 0 },

	/* units of the system, in slices of any depth */
	{ "service", "/**.slice/{unit:service}", "{unit}", 0 },
	{ "scope", "/**.slice/{unit:scope}", "{unit}", 0 },
	{ "socket", "/**.slice/{unit}.socket", "{unit}.socket", 0 },
	{ "mount", "/**.slice/{unit}.mount", "{unit}.mount", 0 },
	{ "swap", "/**.slice/{unit}.swap", "{unit}.swap", 0 },
	{ "service", "/openrc/{service}", "{service}", 0 },
	{ "service", "/openrc.{service}", "{service}", 0 },
};
/* clang-format on */
const size_t nr_rule_rows = sizeof(rule_rows) / sizeof(*rule_rows);
