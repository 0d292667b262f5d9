// SPDX-License-Identifier: BSD-2-Clause
/* Energy counters of made machines: which are in the sum, wraps, losses, shares of it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture.h"
#include "measure/energy.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/fsuid.h>

#define NOBODY 65534
#define RANGE_UJ 262143328850 /* of a package: 32 bits of 61 uJ */
#define ZONE "class/powercap/intel-rapl:"

/* Writes a file and the folders above it. */
static void tree_put(const struct place *p, const char *name, const char *text)
{
	char path[256];

	for (const char *end = strchr(name, '/'); end; end = strchr(end + 1, '/')) {
		snprintf(path, sizeof(path), "%s/%.*s", p->dir, (int)(end - name), name);
		if (mkdir(path, 0755) && errno != EEXIST)
			abort();
	}
	place_put(p, name, text);
}

static void counter_put(const struct place *p, const char *name, uint64_t uj)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64 "\n", uj);
	tree_put(p, name, text);
}

/* Sets the counter of a zone of RAPL ("0", "0:1"). */
static void zone_count(const struct place *p, const char *zone, uint64_t uj)
{
	char path[128];

	snprintf(path, sizeof(path), ZONE "%s/energy_uj", zone);
	counter_put(p, path, uj);
}

static void zone_put(const struct place *p, const char *zone, const char *name, uint64_t uj)
{
	char path[128], line[64];

	snprintf(path, sizeof(path), ZONE "%s/name", zone);
	snprintf(line, sizeof(line), "%s\n", name);
	tree_put(p, path, line);
	snprintf(path, sizeof(path), ZONE "%s/max_energy_range_uj", zone);
	counter_put(p, path, RANGE_UJ);
	zone_count(p, zone, uj);
}

/* Adds a sensor of hwmon; @label may be "". */
static void sensor_put(const struct place *p, const char *hwmon, const char *driver, unsigned nth,
		       const char *label, uint64_t uj)
{
	char path[128], line[64];

	snprintf(path, sizeof(path), "class/hwmon/%s/name", hwmon);
	snprintf(line, sizeof(line), "%s\n", driver);
	tree_put(p, path, line);
	snprintf(path, sizeof(path), "class/hwmon/%s/energy%u_input", hwmon, nth);
	counter_put(p, path, uj);
	snprintf(path, sizeof(path), "class/hwmon/%s/energy%u_label", hwmon, nth);
	snprintf(line, sizeof(line), "%s\n", label);
	if (*label)
		tree_put(p, path, line);
}

static void energy_begin(struct energy *e, const struct place *p)
{
	char why[192] = "";

	assert_int_equal(energy_open(e, p->dir, why, sizeof(why)), 0);
	assert_int_equal(e->used_uj, 0);
}

/* Asserts names and whether they are in the sum: "package-0+ psys". */
static void assert_domains(const struct energy *e, const char *expected)
{
	char text[512] = "";
	size_t used = 0;

	for (size_t i = 0; i < e->nr; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s%s", i ? " " : "",
					 e->domains[i].name, e->domains[i].is_summed ? "+" : "");
	assert_string_equal(text, expected);
}

/* A server of two sockets; each counter has a value of its own. */
static void put_intel(const struct place *p)
{
	zone_put(p, "0", "package-0", 1000);
	zone_put(p, "0:0", "core", 100);
	zone_put(p, "0:1", "uncore", 10);
	zone_put(p, "0:2", "dram", 50);
	zone_put(p, "1", "package-1", 2000);
	zone_put(p, "1:0", "dram", 70);
	zone_put(p, "2", "psys", 9000);
	tree_put(p, "class/powercap/intel-rapl/enabled", "1\n");
	tree_put(p, "class/powercap/intel-rapl-mmio:0/name", "package-0\n");
	tree_put(p, "class/powercap/intel-rapl-mmio:0/energy_uj", "1000\n");
	tree_put(p, "class/powercap/dtpm:0/name", "soc\n");
}

static void packages_and_their_memory_are_the_sum(void **state)
{
	const struct place *p = *state;
	struct energy e;

	put_intel(p);
	energy_begin(&e, p);
	assert_domains(&e, "package-0+ package-0-core package-0-uncore package-0-dram+"
			   " package-1+ package-1-dram+ psys");
	zone_count(p, "0", 1500);
	zone_count(p, "0:0", 400);
	zone_count(p, "0:2", 57);
	zone_count(p, "1", 2030);
	zone_count(p, "1:0", 72);
	zone_count(p, "2", 9999);
	energy_read(&e);
	assert_int_equal(e.used_uj, 500 + 7 + 30 + 2);
	assert_int_equal(e.domains[1].used_uj, 300);
	assert_int_equal(e.domains[6].used_uj, 999);
	assert_true(e.has_sum);
	energy_done(&e);
}

static void amd_processors_are_counted_by_powercap(void **state)
{
	const struct place *p = *state;
	struct energy e;

	zone_put(p, "0", "package-0", 5);
	zone_put(p, "0:0", "core", 1);
	zone_put(p, "1", "package-1", 5);
	energy_begin(&e, p);
	assert_domains(&e, "package-0+ package-0-core package-1+");
	zone_count(p, "0", 8);
	energy_read(&e);
	assert_int_equal(e.used_uj, 3);
	energy_done(&e);
}

static void dies_of_a_package_are_summed_in_the_order_of_their_numbers(void **state)
{
	const struct place *p = *state;
	struct energy e;

	zone_put(p, "10", "package-1-die-1", 0);
	zone_put(p, "2", "package-0-die-1", 0);
	zone_put(p, "2:0", "dram", 0);
	zone_put(p, "0", "package-0-die-0", 0);
	energy_begin(&e, p);
	assert_domains(&e, "package-0-die-0+ package-0-die-1+ package-0-die-1-dram+"
			   " package-1-die-1+");
	energy_done(&e);
}

static void sockets_of_the_driver_amd_energy_are_the_sum(void **state)
{
	const struct place *p = *state;
	struct energy e;

	sensor_put(p, "hwmon3", "amd_energy", 1, "Ecore000", 10);
	sensor_put(p, "hwmon3", "amd_energy", 2, "Ecore001", 10);
	sensor_put(p, "hwmon3", "amd_energy", 10, "Esocket1", 200);
	sensor_put(p, "hwmon3", "amd_energy", 9, "Esocket0", 100);
	energy_begin(&e, p);
	assert_domains(&e, "amd_energy-Esocket0+ amd_energy-Esocket1+");
	counter_put(p, "class/hwmon/hwmon3/energy10_input", 211);
	energy_read(&e);
	assert_int_equal(e.used_uj, 11);
	energy_done(&e);
}

static void processor_with_both_drivers_is_counted_once(void **state)
{
	const struct place *p = *state;
	struct energy e;

	sensor_put(p, "hwmon3", "amd_energy", 1, "Esocket0", 100);
	zone_put(p, "0", "package-0", 100);
	energy_begin(&e, p);
	assert_domains(&e, "package-0+");
	energy_done(&e);
}

/* A zone may have a limit of power and no counter. */
static void sockets_are_the_sum_where_packages_have_no_counter(void **state)
{
	const struct place *p = *state;
	struct energy e;

	sensor_put(p, "hwmon3", "amd_energy", 1, "Esocket0", 100);
	tree_put(p, ZONE "0/name", "package-0\n");
	energy_begin(&e, p);
	assert_domains(&e, "amd_energy-Esocket0+");
	energy_done(&e);
}

static void other_sensors_are_listed_but_those_of_gpus(void **state)
{
	const struct place *p = *state;
	struct energy e;

	sensor_put(p, "hwmon0", "i915", 1, "", 1);
	sensor_put(p, "hwmon1", "xe", 1, "pkg", 1);
	sensor_put(p, "hwmon2", "amdgpu", 1, "", 1);
	sensor_put(p, "hwmon4", "ibmpowernv", 1, "System Energy", 1);
	sensor_put(p, "hwmon5", "ltc2947", 1, "", 7);
	sensor_put(p, "hwmon10", "ltc2947", 1, "", 7);
	tree_put(p, "class/hwmon/hwmon10/energy1_input_type", "1\n");
	tree_put(p, "class/hwmon/hwmon10/energy_input", "1\n");
	tree_put(p, "class/hwmon/hwmon10/power1_input", "1\n");
	energy_begin(&e, p);
	assert_domains(&e, "ibmpowernv-System Energy ltc2947-energy1 ltc2947-energy1-2");
	assert_false(e.has_sum);
	counter_put(p, "class/hwmon/hwmon5/energy1_input", 8);
	energy_read(&e);
	assert_int_equal(e.domains[1].used_uj, 1);
	assert_int_equal(e.used_uj, 0);
	energy_done(&e);
}

static void names_are_made_harmless_and_cut(void **state)
{
	const struct place *p = *state;
	char longest[48 + 1] = "";
	struct energy e;

	memset(longest, 'x', 48);
	sensor_put(p, "hwmon0", "a\033[2J", 1, "\xff", 1);
	sensor_put(p, "hwmon1", "b", 1, longest, 1);
	sensor_put(p, "hwmon1", "b", 2, longest, 1);
	energy_begin(&e, p);
	assert_string_equal(e.domains[0].name, "a?[2J-?");
	assert_int_equal(strlen(e.domains[1].name), 47);
	assert_string_equal(e.domains[2].name, "b-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-2");
	energy_done(&e);
}

static void counter_wraps_at_its_range(void **state)
{
	const struct place *p = *state;
	struct energy e;

	zone_put(p, "0", "package-0", RANGE_UJ - 7);
	energy_begin(&e, p);
	zone_count(p, "0", 5);
	energy_read(&e);
	assert_int_equal(e.used_uj, 12);
	zone_count(p, "0", 6);
	energy_read(&e);
	assert_int_equal(e.used_uj, 13);
	energy_done(&e);
}

static void counter_that_falls_without_a_range_begins_anew(void **state)
{
	const struct place *p = *state;
	struct energy e;

	sensor_put(p, "hwmon3", "amd_energy", 1, "Esocket0", 1000);
	zone_put(p, "0", "psys", RANGE_UJ + 1); /* a range that it does not keep to */
	energy_begin(&e, p);
	zone_count(p, "0", 3);
	counter_put(p, "class/hwmon/hwmon3/energy1_input", 1100);
	energy_read(&e);
	counter_put(p, "class/hwmon/hwmon3/energy1_input", 20);
	energy_read(&e);
	assert_int_equal(e.used_uj, 100);
	counter_put(p, "class/hwmon/hwmon3/energy1_input", 25);
	energy_read(&e);
	assert_int_equal(e.used_uj, 105);
	assert_int_equal(e.domains[0].used_uj, 0);
	energy_done(&e);
}

static void lost_counter_is_added_when_it_can_be_read_again(void **state)
{
	const struct place *p = *state;
	struct energy e;

	zone_put(p, "0", "package-0", 100);
	zone_put(p, "1", "package-1", 100);
	energy_begin(&e, p);
	assert_false(e.domains[0].is_lost);
	tree_put(p, ZONE "0/energy_uj", "");
	zone_count(p, "1", 101);
	energy_read(&e);
	assert_true(e.domains[0].is_lost);
	assert_false(e.domains[1].is_lost);
	assert_int_equal(e.used_uj, 1);
	zone_count(p, "0", 130);
	energy_read(&e);
	assert_false(e.domains[0].is_lost);
	assert_int_equal(e.used_uj, 31);
	energy_done(&e);
}

static void counter_without_a_number_is_lost(void **state)
{
	static const char *const garbage[] = { "",  "\n",    "-5\n", " 5\n",
					       "x", "5 6\n", "0x5",  "99999999999999999999\n" };
	const struct place *p = *state;
	struct energy e;

	zone_put(p, "0", "package-0", 100);
	energy_begin(&e, p);
	for (size_t i = 0; i < sizeof(garbage) / sizeof(*garbage); i++) {
		zone_count(p, "0", 100 + i);
		energy_read(&e);
		assert_false(e.domains[0].is_lost);
		tree_put(p, ZONE "0/energy_uj", garbage[i]);
		energy_read(&e);
		assert_true(e.domains[0].is_lost);
		assert_int_equal(e.used_uj, i);
	}
	energy_done(&e);
}

static void counter_that_was_lost_from_the_beginning_counts_from_its_first_value(void **state)
{
	const struct place *p = *state;
	struct energy e;

	zone_put(p, "0", "package-0", 0);
	tree_put(p, ZONE "0/energy_uj", "Remote I/O error\n");
	tree_put(p, ZONE "0/max_energy_range_uj", "many\n");
	energy_begin(&e, p);
	assert_true(e.domains[0].is_lost);
	assert_int_equal(e.domains[0].range_uj, 0);
	zone_count(p, "0", 5000);
	energy_read(&e);
	assert_int_equal(e.used_uj, 0);
	zone_count(p, "0", 5001);
	energy_read(&e);
	assert_int_equal(e.used_uj, 1);
	energy_done(&e);
}

static void machine_without_counters_has_no_energy(void **state)
{
	const struct place *p = *state;
	char why[192] = "";
	struct energy e;

	assert_int_equal(energy_open(&e, p->dir, why, sizeof(why)), -ENOENT);
	assert_string_equal(why, "this machine has no energy counters (RAPL, hwmon)");
	tree_put(p, "class/powercap/intel-rapl/enabled", "0\n");
	tree_put(p, ZONE "0/energy_uj", "5\n"); /* without a name */
	tree_put(p, ZONE "0:0/name", "dram\n");
	tree_put(p, "class/hwmon/hwmon0/name", "nvme\n");
	tree_put(p, "class/hwmon/hwmon0/temp1_input", "40000\n");
	tree_put(p, "class/hwmon/hwmon1/energy1_input", "5\n"); /* without a name */
	assert_int_equal(energy_open(&e, p->dir, why, sizeof(why)), -ENOENT);
	assert_int_equal(e.nr, 0);
	assert_false(e.has_sum);
	energy_read(&e);
	energy_done(&e);
}

/* Opens the counters as an ordinary user. */
static int open_as_nobody(struct energy *e, const struct place *p, char *why, size_t size)
{
	int err;

	if (chmod(p->dir, 0755))
		abort();
	setfsuid(NOBODY); /* without effect for another user than root */
	err = energy_open(e, p->dir, why, size);
	setfsuid(geteuid());
	return err;
}

static void mode_set(const struct place *p, const char *name, mode_t mode)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	assert_int_equal(chmod(path, mode), 0);
}

static void sum_that_would_lack_a_counter_is_refused(void **state)
{
	const struct place *p = *state;
	char why[192] = "", expected[192];
	struct energy e;

	zone_put(p, "0", "package-0", 100);
	zone_put(p, "1", "package-1", 100);
	mode_set(p, ZONE "1/energy_uj", 0);
	assert_int_equal(open_as_nobody(&e, p, why, sizeof(why)), -EACCES);
	snprintf(expected, sizeof(expected), "only root may read %s/" ZONE "1/energy_uj", p->dir);
	assert_string_equal(why, expected);
	assert_int_equal(e.nr, 0);
	assert_false(e.has_sum);
}

static void counter_outside_the_sum_that_is_refused_is_left_out(void **state)
{
	const struct place *p = *state;
	char why[192] = "";
	struct energy e;

	zone_put(p, "1", "psys", 100);
	mode_set(p, ZONE "1/energy_uj", 0);
	assert_int_equal(open_as_nobody(&e, p, why, sizeof(why)), -EACCES);
	assert_non_null(strstr(why, "only root may read"));
	zone_put(p, "0", "package-0", 100);
	assert_int_equal(open_as_nobody(&e, p, why, sizeof(why)), 0);
	assert_domains(&e, "package-0+");
	energy_done(&e);
}

static void counters_are_read_without_the_rights_to_open_them(void **state)
{
	const struct place *p = *state;
	struct energy e;

	zone_put(p, "0", "package-0", 100);
	energy_begin(&e, p);
	zone_count(p, "0", 101);
	mode_set(p, ZONE "0/energy_uj", 0);
	setfsuid(NOBODY);
	energy_read(&e);
	setfsuid(geteuid());
	assert_int_equal(e.used_uj, 1);
	energy_done(&e);
}

/* Adds as many zones as there is room for, and one. */
static void put_many(const struct place *p, const char *name)
{
	char zone[16], own[32];

	for (int i = 0; i <= MAX_ENERGY_DOMAINS; i++) {
		snprintf(zone, sizeof(zone), "%d", i);
		snprintf(own, sizeof(own), "%s-%d", name, i);
		zone_put(p, zone, own, 0);
	}
}

static void counter_that_finds_no_room_is_counted(void **state)
{
	const struct place *p = *state;
	struct energy e;

	put_many(p, "psys");
	energy_begin(&e, p);
	assert_int_equal(e.nr, MAX_ENERGY_DOMAINS);
	assert_int_equal(e.nr_left_out, 1);
	energy_done(&e);
}

static void sum_with_more_counters_than_there_is_room_for_is_refused(void **state)
{
	const struct place *p = *state;
	char why[192] = "";
	struct energy e;

	put_many(p, "package");
	assert_int_equal(energy_open(&e, p->dir, why, sizeof(why)), -E2BIG);
	assert_string_equal(why, "more than 64 energy counters");
	assert_int_equal(e.nr, 0);
}

static void share_is_rounded_down_and_never_more_than_was_spent(void **state)
{
	(void)state;
	assert_int_equal(energy_share(100, 1, 3), 33);
	assert_int_equal(energy_share(100, 2, 3), 66);
	assert_int_equal(energy_share(100, 3, 3), 100);
	assert_int_equal(energy_share(100, 4, 3), 100);
	assert_int_equal(energy_share(100, 0, 3), 0);
	assert_int_equal(energy_share(100, 0, 0), 0);
	assert_int_equal(energy_share(100, 1, 0), 0);
	assert_int_equal(energy_share(UINT64_MAX, UINT64_MAX - 1, UINT64_MAX), UINT64_MAX - 1);
}

static uint64_t random_bits(unsigned bits)
{
	static uint64_t seed = 1;

	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed ^ seed >> 33) & ((1ULL << bits) - 1);
}

/* Apportions @spent_uj to up to eight jobs and returns the rest. */
static uint64_t apportion(uint64_t spent_uj, uint64_t whole_ns, uint64_t job_uj[8])
{
	uint64_t left_ns = whole_ns, rest_uj = spent_uj;

	for (unsigned i = 0; i < 8; i++) {
		uint64_t cpu_ns = random_bits(60) % (left_ns + 1), share_uj;

		share_uj = energy_share(spent_uj, cpu_ns, whole_ns);
		assert_true(share_uj <= rest_uj);
		job_uj[i] += share_uj;
		rest_uj -= share_uj;
		left_ns -= cpu_ns;
	}
	return rest_uj;
}

static void shares_and_rest_are_the_counter_to_the_microjoule(void **state)
{
	uint64_t job_uj[8] = { 0 }, rest_uj = 0, raw_uj = 0, spent_uj = 0, seen_uj = 0;
	const struct place *p = *state;
	struct energy e;

	zone_put(p, "0", "package-0", 0);
	energy_begin(&e, p);
	for (unsigned i = 0; i < 3000; i++) {
		uint64_t step_uj = random_bits(38) % RANGE_UJ, whole_ns = random_bits(i % 60);

		spent_uj += step_uj;
		raw_uj += step_uj;
		raw_uj -= raw_uj > RANGE_UJ ? RANGE_UJ : 0;
		zone_count(p, "0", raw_uj);
		energy_read(&e);
		rest_uj += apportion(e.used_uj - seen_uj, whole_ns, job_uj);
		seen_uj = e.used_uj;
	}
	for (unsigned i = 0; i < 8; i++)
		rest_uj += job_uj[i];
	assert_int_equal(e.used_uj, spent_uj);
	assert_int_equal(rest_uj, spent_uj);
	energy_done(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(packages_and_their_memory_are_the_sum),
		PLACE_TEST(amd_processors_are_counted_by_powercap),
		PLACE_TEST(dies_of_a_package_are_summed_in_the_order_of_their_numbers),
		PLACE_TEST(sockets_of_the_driver_amd_energy_are_the_sum),
		PLACE_TEST(processor_with_both_drivers_is_counted_once),
		PLACE_TEST(sockets_are_the_sum_where_packages_have_no_counter),
		PLACE_TEST(other_sensors_are_listed_but_those_of_gpus),
		PLACE_TEST(names_are_made_harmless_and_cut),
		PLACE_TEST(counter_wraps_at_its_range),
		PLACE_TEST(counter_that_falls_without_a_range_begins_anew),
		PLACE_TEST(lost_counter_is_added_when_it_can_be_read_again),
		PLACE_TEST(counter_without_a_number_is_lost),
		PLACE_TEST(counter_that_was_lost_from_the_beginning_counts_from_its_first_value),
		PLACE_TEST(machine_without_counters_has_no_energy),
		PLACE_TEST(sum_that_would_lack_a_counter_is_refused),
		PLACE_TEST(counter_outside_the_sum_that_is_refused_is_left_out),
		PLACE_TEST(counters_are_read_without_the_rights_to_open_them),
		PLACE_TEST(counter_that_finds_no_room_is_counted),
		PLACE_TEST(sum_with_more_counters_than_there_is_room_for_is_refused),
		cmocka_unit_test(share_is_rounded_down_and_never_more_than_was_spent),
		PLACE_TEST(shares_and_rest_are_the_counter_to_the_microjoule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
