// SPDX-License-Identifier: BSD-2-Clause
/* Which jobs a cgroup belongs to, for paths of real machines and for hostile ones. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent/pattern.h"
#include "agent/rules.h"
#include "rules_fixture.h"

#include <stdbool.h>

static const struct known units[] = {
	{ "/", "" },
	{ "", "" },
	{ "/system.slice", "" },
	{ "/user.slice", "" },
	{ "/init.scope", "scope/init.scope@1" },
	{ "/system.slice/nginx.service", "service/nginx.service@2" },
	{ "/system.slice/nginx.service/worker", "service/nginx.service@2" },
	{ "/system.slice/system-getty.slice/getty@tty1.service", "service/getty@tty1.service@3" },
	{ "/system.slice/system-serial\\x2dgetty.slice/serial-getty@ttyS0.service",
	  "service/serial-getty@ttyS0.service@3" },
	{ "/system.slice/system-postgresql.slice/postgresql@15-main.service",
	  "service/postgresql@15-main.service@3" },
	{ "/system.slice/system-a.slice/system-a-b.slice/x.service", "service/x.service@4" },
	{ "/system.slice/dev-disk-by\\x2duuid-1.swap", "swap/dev-disk-by\\x2duuid-1.swap@2" },
	{ "/system.slice/boot-efi.mount", "mount/boot-efi.mount@2" },
	{ "/system.slice/docker.socket", "socket/docker.socket@2" },
	{ "/system.slice/run-r5a1b2c3d.scope", "scope/run-r5a1b2c3d.scope@2" },
	{ "/batch.slice/batch-night.slice/report.service", "service/report.service@3" },
	{ "/rootless.service", "service/rootless.service@1" },
	{ "/system.slice/snap.lxd.daemon.service", "service/snap.lxd.daemon.service@2" },
	{ "/system.slice/systemd-udevd.service/udev", "service/systemd-udevd.service@2" },
	{ "/dev-hugepages.mount", "mount/dev-hugepages.mount@1" },
	{ "/openrc/sshd", "service/sshd@2" },
	{ "/openrc.sshd", "service/sshd@1" },
};

static const struct known users[] = {
	{ U, "user/1000@2:1000" },
	{ U "/session-3.scope", IN_U "session/1000/3@3:1000" },
	{ U "/session-c1.scope", IN_U "session/1000/c1@3:1000" },
	{ U "/run-u12.scope", IN_U "scope/run-u12.scope@3:1000" },
	{ U "/user-runtime-dir@1000.service", IN_U "service/user-runtime-dir@1000.service@3:1000" },
	{ M, "user/1000@2:1000 manager/1000@3:1000" },
	{ M "/init.scope", "user/1000@2:1000 manager/1000@3:1000" },
	{ M "/dbus.service", IN_M "app/1000/dbus.service@4:1000" },
	{ M "/app.slice/app-gnome-firefox-4711.scope",
	  IN_M "app/1000/app-gnome-firefox-4711.scope@5:1000" },
	{ M "/app.slice/app-org.gnome.Terminal.slice/vte-spawn-2d3f4a5b.scope",
	  IN_M "app/1000/vte-spawn-2d3f4a5b.scope@6:1000" },
	{ M "/session.slice/pipewire.service", IN_M "app/1000/pipewire.service@5:1000" },
	{ M "/background.slice/tracker-miner-fs-3.service",
	  IN_M "app/1000/tracker-miner-fs-3.service@5:1000" },
	{ M "/user.slice/libpod-" H1 ".scope/container", IN_M "container/1000/" H1 "@5:1000" },
	{ M "/user.slice/user-libpod_pod_" H2 ".slice/libpod-" H1 ".scope",
	  IN_M "container/1000/" H1 "@6:1000" },
	{ M "/user.slice/docker-" H1 ".scope", IN_M "container/1000/" H1 "@5:1000" },
	{ M "/app.slice/web.service/libpod-payload-" H1,
	  IN_M "app/1000/web.service@5:1000 container/1000/web.service/" H1 "@6:1000" },
	{ M "/user.slice/libpod-conmon-" H1 ".scope", IN_M "monitor/1000/" H1 "@5:1000" },
	{ "/user.slice/user-0.slice/session-1.scope", "user/0@2:0 session/0/1@3:0" },
	{ "/user.slice/user-4294967294.slice", "user/4294967294@2:4294967294" },
	{ "/user.slice/user-4294967295.slice", "user/4294967295@2" },
};

#define IN_FLUX "user/500@2:500 manager/500@3:500 "

static const struct known batch[] = {
	{ "/slurm", "" },
	{ "/slurm/uid_1000", "" },
	{ "/slurm/system", "" },
	{ "/slurm/uid_1000/job_815", "slurm/815@3:1000" },
	{ "/slurm/uid_1000/job_815/step_0/task_0", "slurm/815@3:1000 slurm-step/815.0@4:1000" },
	{ "/slurm_vm/uid_0/job_7/step_batch", "slurm/7@3:0 slurm-step/7.batch@4:0" },
	{ "/slurm/uid_2101171/job_280678/step_interactive/task_0",
	  "slurm/280678@3:2101171 slurm-step/280678.interactive@4:2101171" },
	{ "/system.slice/slurmd.service", "service/slurmd.service@2" },
	{ "/system.slice/slurmstepd.scope", "" },
	{ "/system.slice/slurmstepd.scope/system", "" },
	{ "/system.slice/slurmstepd.scope/job_815", "slurm/815@3" },
	{ "/system.slice/slurmstepd.scope/job_1392969/step_0/user/task_0",
	  "slurm/1392969@3 slurm-step/1392969.0@4" },
	{ "/system.slice/slurmstepd.scope/job_42/step_extern/user",
	  "slurm/42@3 slurm-step/42.extern@4" },
	{ "/system.slice/slurmstepd.scope/job_42/step_batch/slurm",
	  "slurm/42@3 slurm-step/42.batch@4" },
	{ "/system.slice/node1_slurmstepd.scope/job_4/step_batch/user/task_special",
	  "slurm/4@3 slurm-step/4.batch@4" },
	{ "/system.slice/slurmstepd.scope/s4DZ6M2W0TX900", "slurm/s4DZ6M2W0TX900@3" },
	{ "/system.slice/slurmstepd.scope/s4DZ6M2W0TX900/step_0/user/task_0",
	  "slurm/s4DZ6M2W0TX900@3 slurm-step/s4DZ6M2W0TX900.0@4" },
	{ "/system.slice/slurmstepd.scope/s4DZ6M2W0TX900/step_batch/slurm",
	  "slurm/s4DZ6M2W0TX900@3 slurm-step/s4DZ6M2W0TX900.batch@4" },
	{ "/system.slice/node1_slurmstepd.scope/s4DZ6M2W0TX900/step_extern/user/task_special",
	  "slurm/s4DZ6M2W0TX900@3 slurm-step/s4DZ6M2W0TX900.extern@4" },
	{ "/system.slice/node1_slurmstepd.scope/system", "" },
	{ "/slurm_vm/system", "" },
	{ "/lsf", "" },
	{ "/htcondor", "" },
	{ "/htcondor/condor_var_lib_condor_execute_slot1", "htcondor/slot1@2" },
	{ "/htcondor/condor_var_lib_condor_execute_slot1_3@node7.example.org",
	  "htcondor/slot1_3@node7.example.org@2" },
	{ "/system.slice/htcondor/condor_var_lib_condor_execute_slot1_23@node7/control",
	  "htcondor/slot1_23@node7@3" },
	{ "/system.slice/condor.service/htcondor/condor_scratch_slot2@node7",
	  "service/condor.service@2 htcondor/slot2@node7@4" },
	{ "/pbs_jobs.service/jobid", "" },
	{ "/pbs_jobs.service/jobid/2404743.opbs", "pbs/2404743.opbs@3" },
	{ "/pbs_jobs.service/jobs/12345.gadi-pbs", "pbs/12345.gadi-pbs@3" },
	{ "/pbs_jobs.service/jobid/123[4].server", "pbs/123[4].server@3" },
	{ "/torque/99.server", "pbs/99.server@2" },
	{ "/lsf/hpc", "" },
	{ "/lsf/hpc/job.123.456.1600000000", "lsf/123@3" },
	{ "/lsf/hpc/job.123[7].456.1600000000", "lsf/123[7]@3" },
	{ "/UGE/4711.1", "grid-engine/4711.1@2" },
	{ "/AGE/4711.1", "grid-engine/4711.1@2" },
	{ "/SGE/4711.1", "grid-engine/4711.1@2" },
	{ "/oar/alice_4711", "oar/4711@2" },
	{ "/oar/a_b_4711", "oar/4711@2" },
	{ "/nomad.slice/share.slice/" POD ".web.scope", "nomad/" POD "/web@3" },
	{ "/user.slice/user-500.slice/user@500.service/app.slice/"
	  "imp-shell-1-fUdKSFCzEes.service",
	  IN_FLUX "flux/500/fUdKSFCzEes@5:500" },
	{ "/user.slice/user-500.slice/user@500.service/app.slice/shell-0-f26DHN4oWNs1.service",
	  IN_FLUX "flux/500/f26DHN4oWNs1@5:500" },
	/* runners: a job is in the service, or in a container of it */
	{ "/system.slice/actions.runner.octo-org-hello.node7.service",
	  "service/actions.runner.octo-org-hello.node7.service@2" },
	{ "/system.slice/gitlab-runner.service", "service/gitlab-runner.service@2" },
	{ "/system.slice/jenkins.service", "service/jenkins.service@2" },
	{ "/user.slice/user-997.slice/session-42.scope",
	  "user/997@2:997 session/997/42@3:997" }, /* an agent of Jenkins by SSH */
};

static const struct known pods[] = {
	{ "/kubepods", "" },
	{ "/kubepods/burstable", "" },
	{ "/kubepods/pod" POD, "pod/" POD "@2" },
	{ "/kubepods/burstable/pod" POD, "pod/" POD "@3" },
	{ "/kubepods/besteffort/pod" POD "/" H1, "pod/" POD "@3 container/" H1 "@4" },
	{ "/kubepods/pod" POD "/" H1, "pod/" POD "@2 container/" H1 "@3" },
	{ "/kubepods/burstable/pod" POD "/crio-" H1, "pod/" POD "@3 container/" H1 "@4" },
	{ "/kubepods/burstable/pod0123456789abcdef0123456789abcdef",
	  "pod/0123456789abcdef0123456789abcdef@3" },
	{ "/kubepods.slice", "" },
	{ "/kubepods.slice/kubepods-burstable.slice", "" },
	{ "/kubepods.slice/kubepods-pod" POD_ ".slice/cri-containerd-" H1 ".scope",
	  "pod/" POD "@2 container/" H1 "@3" },
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_
	  ".slice/cri-containerd-" H1 ".scope",
	  "pod/" POD "@3 container/" H1 "@4" },
	{ "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" POD_ ".slice/crio-" H1
	  ".scope/container",
	  "pod/" POD "@3 container/" H1 "@4" },
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_ ".slice/docker-" H1
	  ".scope",
	  "pod/" POD "@3 container/" H1 "@4" },
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_
	  ".slice/crio-conmon-" H1 ".scope",
	  "pod/" POD "@3 monitor/" H1 "@4" },
	{ "/system.slice/containerd.service/kubepods-burstable-pod" POD_
	  ".slice:cri-containerd:" H1,
	  "service/containerd.service@2 container/" H1 "@3" },
	{ "/system.slice/k3s.service/kubepods-pod" POD_ ".slice:cri-containerd:" H1,
	  "service/k3s.service@2 container/" H1 "@3" },
	{ "/kubepods/pod" POD "/crio-" H1, "pod/" POD "@2 container/" H1 "@3" },
	{ "/system.slice/containerd.service/kubepods-pod" POD_ ".slice:cri-containerd:" H1,
	  "service/containerd.service@2 container/" H1 "@3" },
	{ "/system.slice/k3s.service/kubepods-besteffort-pod" POD_ ".slice:cri-containerd:" H1,
	  "service/k3s.service@2 container/" H1 "@3" },
	{ "/kubelet/kubepods", "" },
	{ "/kubelet.slice/kubelet-kubepods.slice", "" },
	{ "/kubelet/kubepods/pod" POD "/" H1, "pod/" POD "@3 container/" H1 "@4" },
	{ "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" POD_
	  ".slice/cri-containerd-" H1 ".scope",
	  "pod/" POD "@3 container/" H1 "@4" },
	/* kind: a node is a container */
	{ "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/"
	  "kubelet-kubepods-burstable-pod" POD_ ".slice/cri-containerd-" H1 ".scope",
	  "pod/" POD "@4 container/" H1 "@5" },
	{ "/kubelet/kubepods/besteffort/pod" POD "/" H1, "pod/" POD "@4 container/" H1 "@5" },
	{ "/system.slice/docker-" H2 ".scope/kubelet.slice/kubelet-kubepods.slice/"
	  "kubelet-kubepods-pod" POD_ ".slice/cri-containerd-" H1 ".scope",
	  "container/" H2 "@2 pod/" H2 "/" POD "@5 container/" H2 "/" H1 "@6" },
	{ "/docker/" H2 "/kubelet/kubepods/besteffort/pod" POD "/" H1,
	  "container/" H2 "@2 pod/" H2 "/" POD "@6 container/" H2 "/" H1 "@7" },
};

static const struct known containers[] = {
	{ "/machine.slice/libpod-" H1 ".scope", "container/" H1 "@2" },
	{ "/machine.slice/libpod-" H1 ".scope/container", "container/" H1 "@2" },
	{ "/machine.slice/libpod-" H1 ".scope/container/system.slice/a.service",
	  "container/" H1 "@2" },
	{ "/machine.slice/libpod-conmon-" H1 ".scope", "monitor/" H1 "@2" },
	{ "/machine.slice/machine-libpod_pod_" H2 ".slice/libpod-" H1 ".scope",
	  "podman-pod/" H2 "@2 container/" H1 "@3" },
	{ "/libpod_parent", "" },
	{ "/libpod_parent/libpod-" H1, "container/" H1 "@2" },
	{ "/libpod_parent/libpod-conmon-" H1, "monitor/" H1 "@2" },
	{ "/libpod_parent/" H2 "/libpod-" H1, "podman-pod/" H2 "@2 container/" H1 "@3" },
	{ "/system.slice/web.service/libpod-payload-" H1,
	  "service/web.service@2 container/web.service/" H1 "@3" },
	{ "/docker", "" },
	{ "/docker/" H1, "container/" H1 "@2" },
	{ "/docker/" H1 "/docker/" H2, "container/" H1 "@2 container/" H1 "/" H2 "@4" },
	/* docker run --cgroup-parent, by cgroupfs and by systemd */
	{ "/ci/" H1, "container/" H1 "@2" },
	{ "/ci/team/" H1, "container/" H1 "@3" },
	{ "/ci/team/build/" H1, "container/" H1 "@4" },
	{ "/ci/team/" H1 "/docker/" H2, "container/" H1 "@3 container/" H1 "/" H2 "@5" },
	{ "/slurm/uid_1000/job_815/" H1, "slurm/815@3:1000 container/" H1 "@4:1000" },
	{ "/docker/" H1 "/ci/team/" H2, "container/" H1 "@2 container/" H1 "/" H2 "@5" },
	{ "/ci.slice/ci-team.slice/ci-team-build.slice/docker-" H1 ".scope", "container/" H1 "@4" },
	{ "/system.slice/nginx.service/" H1, "service/nginx.service@2" },
	{ "/system.slice/nginx.service/docker/" H1, "service/nginx.service@2" },
	{ "/docker/buildkit/x2y3", "container/buildkit/x2y3@3" },
	{ "/system.slice/docker-" H1 ".scope", "container/" H1 "@2" },
	{ "/system.slice/nerdctl-" H1 ".scope", "container/" H1 "@2" },
	{ "/ci.slice/docker-" H1 ".scope", "container/" H1 "@2" },
	{ "/actions_job/" H1, "container/" H1 "@2" },
	{ "/k8s.io/" H1, "container/" H1 "@2" },
	{ "/default/" H1, "container/" H1 "@2" },
	{ "/default/redis", "container/default/redis@2" },
	{ "/ecs/0a1b2c/" H1, "container/" H1 "@3" },
	{ "/mesos/" POD, "container/" POD "@2" },
	{ "/lxc/web", "lxc/web@2" },
	{ "/lxc/101/ns/system.slice/cron.service", "lxc/101@2" },
	{ "/lxc.payload.web/system.slice/nginx.service", "lxc/web@1" },
	{ "/lxc.payload.web/docker/" H1, "lxc/web@1 container/web/" H1 "@3" },
	{ "/lxc.payload/web", "lxc/web@2" },
	{ "/lxc.monitor/web", "monitor/lxc/web@2" },
	{ "/lxc.monitor.web", "monitor/lxc/web@1" },
	{ "/machine.slice/machine-qemu\\x2d1\\x2dvm.scope/libvirt/emulator",
	  "machine/qemu\\x2d1\\x2dvm@2" },
	{ "/machine.slice/systemd-nspawn@bookworm.service/payload/system.slice/a.service",
	  "machine/bookworm@2" },
	{ "/machine/qemu-1-vm.libvirt-qemu/vcpu0", "machine/qemu-1-vm@2" },
	{ "/machine/box.libvirt-lxc", "machine/box@2" },
	{ "/qemu.slice/101.scope", "machine/qemu/101@2" },
};

/* What users and containers may name their cgroups, so that these look like others. */
static const struct known hostile[] = {
	{ M "/slurm/uid_0/job_1", "user/1000@2:1000 manager/1000@3:1000" },
	{ M "/system.slice/slurmstepd.scope/job_1/step_0",
	  IN_M "app/1000/slurmstepd.scope@5:1000" },
	{ M "/docker/" H1, "user/1000@2:1000 manager/1000@3:1000" },
	{ M "/kubepods/pod" POD, "user/1000@2:1000 manager/1000@3:1000" },
	{ M "/user.slice/user-0.slice/session-1.scope", IN_M "app/1000/session-1.scope@6:1000" },
	{ M "/a.service/user.slice/user-0.slice", IN_M "app/1000/a.service@4:1000" },
	{ U "/session-3.scope/system.slice/nginx.service", IN_U "session/1000/3@3:1000" },
	{ M "/user.slice/libpod-" H1 ".scope/slurm/uid_0/job_1",
	  IN_M "container/1000/" H1 "@5:1000" },
	{ M "/user.slice/libpod-" H1 ".scope/docker/" H2,
	  IN_M "container/1000/" H1 "@5:1000 container/1000/" H1 "/" H2 "@7:1000" },
	{ "/system.slice/docker-" H1 ".scope/user.slice/user-0.slice", "container/" H1 "@2" },
	{ "/system.slice/docker-" H1 ".scope/lsf/hpc/job.1.2.3", "container/" H1 "@2" },
	{ "/system.slice/nginx.service/docker/" H1, "service/nginx.service@2" },
	{ "/system.slice/nginx.service/slurmstepd.scope/job_1", "service/nginx.service@2" },
	{ "/system.slice/slurmstepd.scope/job_1/step_0/user/task_0/slurm/uid_0/job_2",
	  "slurm/1@3 slurm-step/1.0@4" },
	{ "/kubepods/pod" POD "/" H1 "/kubepods/pod" POD, "pod/" POD "@2 container/" H1 "@3" },
	{ "/slurm/uid_1000/job_815x", "" },
	{ "/slurm/uid_x/job_815", "" },
	{ "/xslurm/uid_1/job_815", "" },
	{ "/slurm/uid_99999999999999999999/job_815", "slurm/815@3" },
	{ "/docker/0123456789abcdef", "" },
	{ "/lxc/web/docker/" H1, "lxc/web@2 container/web/" H1 "@4" },
	{ "/lxc.payload.web/a/b/" H1, "lxc/web@1 container/web/" H1 "@4" },
	{ M "/" H1, "user/1000@2:1000 manager/1000@3:1000" },
	{ U "/" H1, "user/1000@2:1000" },
	{ "/kubepods/pod" POD "x", "" },
	{ "/kubepods/pod2d3f4a5b-1c2d", "" },
	{ "/system.slice/.service", "" },
	{ M "/a\x1b[2Jb.service", IN_M "app/1000/a\\x1b[2Jb.service@4:1000" },
	{ M "/a\xff.service", IN_M "app/1000/a\\xff.service@4:1000" },
	{ "system.slice/nginx.service", "service/nginx.service@2" },
};

static void assert_builtin(const struct known *known, size_t nr)
{
	struct agent_config c = { 0 };
	struct rules *rules = rules_of(&c);

	assert_jobs(rules, known, nr);
	rules_close(rules);
}

#define ASSERT_BUILTIN(table) assert_builtin(table, sizeof(table) / sizeof(*(table)))

static void units_of_systemd_are_jobs(void **state)
{
	(void)state;
	ASSERT_BUILTIN(units);
}

static void sessions_and_apps_are_in_their_user(void **state)
{
	(void)state;
	ASSERT_BUILTIN(users);
}

static void jobs_of_batch_systems_are_known(void **state)
{
	(void)state;
	ASSERT_BUILTIN(batch);
}

static void pods_are_known_in_both_drivers(void **state)
{
	(void)state;
	ASSERT_BUILTIN(pods);
}

static void containers_and_machines_are_known(void **state)
{
	(void)state;
	ASSERT_BUILTIN(containers);
}

static void no_name_inside_of_a_job_makes_it_another_kind(void **state)
{
	(void)state;
	ASSERT_BUILTIN(hostile);
}

/* A gap: where jobs only are expected, and no rule knows what there is. */
static void gaps_below_known_scopes_are_found(void **state)
{
	static const struct {
		const char *path;
		unsigned depth;
	} paths[] = {
		{ "/system.slice/slurmstepd.scope/JOB815/step_0", 2 },
		{ "/system.slice/node1_slurmstepd.scope/JOB815", 2 },
		{ "/slurm/u1000/j815", 1 },
		{ "/kubepods/burstable/sandbox-1/x", 1 },
		{ "/kubepods.slice/kubepods-burstable.slice/x", 1 },
		{ "/docker/a/b", 1 },
		{ "/libpod_parent/x", 1 },
		{ "/system.slice/slurmstepd.scope", 0 },
		{ "/system.slice/slurmstepd.scope/system", 0 },
		{ "/system.slice/slurmstepd.scope/job_815/step_0/user/task_0", 0 },
		{ "/system.slice/slurmstepd.scope/s4DZ6M2W0TX900/x", 0 },
		{ "/slurm/uid_1000/job_815/step_0", 0 },
		{ "/kubepods/pod" POD "/" H1 "/a", 0 },
		{ "/docker/" H1 "/docker/x", 0 },
		{ "/docker/buildkit/x2y3", 0 },
		{ M "/docker/x", 0 },
		{ "/mine/x", 0 },
		{ "/", 0 },
	};
	struct agent_config c = { 0 };
	struct rules *rules = rules_of(&c);

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		if (rules_find_gap(rules, paths[i].path) != paths[i].depth)
			print_error("%s\n", paths[i].path);
		assert_int_equal(rules_find_gap(rules, paths[i].path), paths[i].depth);
	}
	rules_close(rules);
}

/* A table in which a row is covered by earlier ones, or that no path reaches, is a mistake. */
static void every_builtin_rule_has_a_path_in_this_test(void **state)
{
	static const struct {
		const struct known *known;
		size_t nr;
	} tables[] = {
#define TABLE(t) { t, sizeof(t) / sizeof(*(t)) }
		TABLE(units), TABLE(users), TABLE(batch), TABLE(pods), TABLE(containers),
	};
	struct piece parts[PATTERN_PARTS];
	struct pattern p;
	struct path path;
	char why[256];
	size_t nr = 0;

	(void)state;
	for (size_t r = 0; r < nr_rule_rows; r++) {
		bool is_found = false;

		assert_int_equal(pattern_compile(&p, rule_rows[r].pattern, why, sizeof(why)), 0);
		for (size_t t = 0; t < sizeof(tables) / sizeof(*tables); t++) {
			for (size_t i = 0; i < tables[t].nr; i++) {
				path_split(&path, tables[t].known[i].path);
				is_found |= pattern_match(&p, &path, 0, parts) > 0;
			}
		}
		if (!is_found)
			print_error("no path for %s\n", rule_rows[r].pattern);
		nr += !is_found;
	}
	assert_int_equal(nr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units_of_systemd_are_jobs),
		cmocka_unit_test(sessions_and_apps_are_in_their_user),
		cmocka_unit_test(jobs_of_batch_systems_are_known),
		cmocka_unit_test(pods_are_known_in_both_drivers),
		cmocka_unit_test(containers_and_machines_are_known),
		cmocka_unit_test(no_name_inside_of_a_job_makes_it_another_kind),
		cmocka_unit_test(gaps_below_known_scopes_are_found),
		cmocka_unit_test(every_builtin_rule_has_a_path_in_this_test),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
