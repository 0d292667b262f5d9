// SPDX-License-Identifier: BSD-2-Clause
/* What drivers of DRM write into fdinfo, as recorded. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture.h"
#include "measure/drm.h"

#include <errno.h>

#define KIB 1024ULL

static void parse_recorded(struct drm_client *c, const char *name, int result)
{
	char path[64], *text;

	snprintf(path, sizeof(path), "tests/data/drm/%s", name);
	text = file_read(path);
	assert_non_null(text);
	assert_int_equal(drm_client_parse(c, text), result);
	free(text);
}

static const struct drm_engine *engine_named(const struct drm_client *c, const char *name)
{
	for (uint32_t i = 0; i < c->nr_engines; i++)
		if (!strcmp(c->engines[i].name, name))
			return &c->engines[i];
	return NULL;
}

static void assert_is_of(const struct drm_client *c, const char *driver, const char *pdev,
			 uint64_t id)
{
	assert_string_equal(c->driver, driver);
	assert_string_equal(c->pdev, pdev);
	assert_true(c->has_id);
	assert_int_equal(c->id, id);
}

static void assert_memory(const struct drm_client *c, uint64_t bytes)
{
	assert_true(c->has_memory);
	assert_int_equal(c->memory_bytes, bytes);
}

static void amdgpu_has_vram_and_time(void **state)
{
	struct drm_client c;

	(void)state;
	parse_recorded(&c, "amdgpu", 0);
	assert_is_of(&c, "amdgpu", "0000:04:00.0", 30);
	assert_memory(&c, 544428 * KIB);
	assert_true(c.has_busy);
	assert_int_equal(c.nr_engines, 1);
	assert_int_equal(engine_named(&c, "gfx")->ns, 39456116802);
	assert_int_equal(engine_named(&c, "gfx")->capacity, 1);
}

static void older_keys_of_amdgpu_are_read(void **state)
{
	struct drm_client c;

	(void)state;
	parse_recorded(&c, "amdgpu-5.19", 0);
	assert_is_of(&c, "amdgpu", "0000:08:00.0", 217);
	assert_memory(&c, 2068 * KIB);
	assert_int_equal(engine_named(&c, "gfx")->ns, 107322799);
}

static void amdgpu_client_that_did_not_work_yet_is_known_not_to_have(void **state)
{
	struct drm_client c;

	(void)state;
	assert_int_equal(drm_client_parse(&c, "drm-driver:\tamdgpu\n"), 0);
	assert_true(c.has_busy);
	assert_int_equal(c.nr_engines, 0);
	assert_int_equal(drm_client_parse(&c, "drm-driver:\tvirtio_gpu\n"), 0);
	assert_false(c.has_busy);
}

static void memory_of_an_integrated_gpu_is_that_of_the_system(void **state)
{
	struct drm_client c;

	(void)state;
	parse_recorded(&c, "i915", 0);
	assert_is_of(&c, "i915", "0000:00:02.0", 22);
	assert_memory(&c, 122638336);
	assert_int_equal(c.nr_engines, 4);
	assert_int_equal(engine_named(&c, "video")->capacity, 2);
	assert_int_equal(engine_named(&c, "video-enhance")->ns, 0);
}

static void memory_of_a_discrete_gpu_is_its_own(void **state)
{
	struct drm_client c;

	(void)state;
	parse_recorded(&c, "i915-discrete", 0);
	assert_memory(&c, 5396348 * KIB);
}

static void xe_has_cycles_with_a_clock(void **state)
{
	struct drm_client c;

	(void)state;
	parse_recorded(&c, "xe", 0);
	assert_is_of(&c, "xe", "0000:03:00.0", 3);
	assert_memory(&c, 23992 * KIB);
	assert_int_equal(c.nr_engines, 5);
	assert_false(engine_named(&c, "rcs")->has_ns);
	assert_true(engine_named(&c, "rcs")->has_cycles);
	assert_int_equal(engine_named(&c, "rcs")->cycles, 28257900);
	assert_int_equal(engine_named(&c, "rcs")->clock_cycles, 7655183225);
	assert_int_equal(engine_named(&c, "ccs")->capacity, 4);
}

static void cycles_without_a_clock_are_ignored(void **state)
{
	struct drm_client c;

	(void)state;
	parse_recorded(&c, "panfrost", 0);
	assert_is_of(&c, "panfrost", "", 14);
	assert_memory(&c, 36496 * KIB);
	assert_false(engine_named(&c, "fragment")->has_cycles);
	assert_int_equal(engine_named(&c, "fragment")->ns, 1846584880);
	assert_int_equal(engine_named(&c, "vertex-tiler")->ns, 71932239);
	parse_recorded(&c, "msm", 0);
	assert_false(c.has_memory);
	assert_int_equal(engine_named(&c, "gpu")->ns, 1734371319);
}

static void nouveau_writes_nothing(void **state)
{
	struct drm_client c;

	(void)state;
	parse_recorded(&c, "nouveau", -ENOENT);
}

static void units_are_powers_of_1024(void **state)
{
	struct drm_client c;

	(void)state;
	assert_int_equal(drm_client_parse(&c, "drm-driver: x\n"
					      "drm-resident-vram0: 1\n"
					      "drm-resident-vram1: 2 KiB\n"
					      "drm-resident-local2:3 MiB\n"
					      "drm-resident-lmem: \t4 GiB\n"),
			 0);
	assert_memory(&c, 1 + 2 * KIB + 3 * MIB + (4ULL << 30));
}

static void resident_memory_comes_before_older_and_larger_figures(void **state)
{
	struct drm_client c;

	(void)state;
	assert_int_equal(drm_client_parse(&c, "drm-driver: x\n"
					      "drm-total-vram: 9\n"
					      "drm-memory-vram: 8\n"
					      "drm-resident-vram: 7\n"),
			 0);
	assert_memory(&c, 7);
	assert_int_equal(drm_client_parse(&c, "drm-driver: x\n"
					      "drm-memory-vram: 8\n"
					      "drm-total-vram: 9\n"),
			 0);
	assert_memory(&c, 8);
	assert_int_equal(drm_client_parse(&c, "drm-driver: x\ndrm-total-memory: 9\n"), 0);
	assert_memory(&c, 9);
}

static void values_that_are_no_numbers_are_absent(void **state)
{
	struct drm_client c;

	(void)state;
	assert_int_equal(drm_client_parse(&c, "drm-driver: x\n"
					      "drm-resident-vram: many\n"
					      "drm-memory-gtt: 99999999999999999999\n"
					      "drm-total-gtt: 18446744073709551615 KiB\n"
					      "drm-engine-gfx: -5 ns\n"
					      "drm-engine-: 5 ns\n"
					      "drm-engine-capacity-gfx: 0\n"
					      "drm-cycles-rcs: 5\n"
					      "drm-total-cycles-rcs: 0\n"
					      "drm-client-name: drm-client-id:\n"
					      "no colon"),
			 0);
	assert_false(c.has_memory);
	assert_false(c.has_busy);
	assert_false(c.has_id);
	assert_int_equal(engine_named(&c, "gfx")->capacity, 1);
}

static void client_without_a_readable_identity_is_refused(void **state)
{
	struct drm_client c;

	(void)state;
	assert_int_equal(drm_client_parse(&c, ""), -ENOENT);
	assert_int_equal(drm_client_parse(&c, "drm-pdev: 0000:03:00.0\n"), -ENOENT);
	assert_int_equal(drm_client_parse(&c, "drm-driver:\n"), -EINVAL);
	assert_int_equal(drm_client_parse(&c, "drm-driver: a b\n"), -EINVAL);
	assert_int_equal(drm_client_parse(&c, "drm-driver: x\ndrm-client-id: y\n"), -EINVAL);
	assert_int_equal(drm_client_parse(&c, "drm-driver: x\n"
					      "drm-pdev: 0000:03:00.0-and-more-text\n"),
			 -EINVAL);
}

static void engines_beyond_the_limit_are_ignored(void **state)
{
	char text[4096] = "drm-driver: x\n";
	struct drm_client c;
	size_t n = strlen(text);

	(void)state;
	for (int i = 0; i < 2 * DRM_ENGINES; i++)
		n += (size_t)sprintf(text + n, "drm-engine-%d: 5 ns\ndrm-total-r%d: 1\n", i, i);
	assert_int_equal(drm_client_parse(&c, text), 0);
	assert_int_equal(c.nr_engines, DRM_ENGINES);
	assert_memory(&c, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(amdgpu_has_vram_and_time),
		cmocka_unit_test(older_keys_of_amdgpu_are_read),
		cmocka_unit_test(amdgpu_client_that_did_not_work_yet_is_known_not_to_have),
		cmocka_unit_test(memory_of_an_integrated_gpu_is_that_of_the_system),
		cmocka_unit_test(memory_of_a_discrete_gpu_is_its_own),
		cmocka_unit_test(xe_has_cycles_with_a_clock),
		cmocka_unit_test(cycles_without_a_clock_are_ignored),
		cmocka_unit_test(nouveau_writes_nothing),
		cmocka_unit_test(units_are_powers_of_1024),
		cmocka_unit_test(resident_memory_comes_before_older_and_larger_figures),
		cmocka_unit_test(values_that_are_no_numbers_are_absent),
		cmocka_unit_test(client_without_a_readable_identity_is_refused),
		cmocka_unit_test(engines_beyond_the_limit_are_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
