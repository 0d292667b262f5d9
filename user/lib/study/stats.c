// SPDX-License-Identifier: BSD-2-Clause
#include "study/stats.h"

#include "base/memory.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void stats_sort(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_value);
}

double stats_quantile(const double *sorted, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t below = (size_t)at;

	if (below + 1 >= n)
		return sorted[n - 1];
	return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

struct ranked {
	double value;
	bool is_second;
};

static int by_ranked(const void *a, const void *b)
{
	return by_value(&((const struct ranked *)a)->value, &((const struct ranked *)b)->value);
}

/*
 * Sets twice the mean rank of each value, which is an integer, and returns their sum over the
 * second sample. *@ties is the sum of t^3 - t over all groups of t equal values.
 */
static size_t ranks_assign(const struct ranked *r, size_t n, size_t *twice, double *ties)
{
	size_t sum = 0, end;

	*ties = 0;
	for (size_t i = 0; i < n; i = end) {
		double t;

		for (end = i + 1; end < n && r[end].value == r[i].value;)
			end++;
		t = (double)(end - i);
		*ties += t * t * t - t;
		for (size_t k = i; k < end; k++) {
			twice[k] = i + end + 1;
			sum += r[k].is_second ? twice[k] : 0;
		}
	}
	return sum;
}

/*
 * Sets *@p to the share of all choices of @nb ranks whose sum is at least as far from @mean as
 * @sum. Returns 0 or -ENOMEM.
 */
static int exact_p(const size_t *twice, size_t n, size_t nb, size_t sum, size_t mean, double *p)
{
	size_t room = n * (n + 1) + 1;
	size_t far = sum > mean ? sum - mean : mean - sum;
	double *ways = memory_calloc((nb + 1) * room, sizeof(*ways));
	double all = 0, extreme = 0;

	if (!ways)
		return -ENOMEM;
	ways[0] = 1; /* ways[k * room + s]: number of choices of k ranks with the sum s */
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1 < nb ? i + 1 : nb; k > 0; k--)
			for (size_t s = twice[i]; s < room; s++)
				ways[k * room + s] += ways[(k - 1) * room + s - twice[i]];
	for (size_t s = 0; s < room; s++) {
		double w = ways[nb * room + s];

		all += w;
		if ((s > mean ? s - mean : mean - s) >= far)
			extreme += w;
	}
	free(ways);
	*p = extreme / all;
	return 0;
}

static double normal_p(double u, double na, double nb, double ties)
{
	double n = na + nb;
	double variance = na * nb / 12 * (n + 1 - ties / (n * (n - 1)));
	double z = variance > 0 ? (fabs(u - na * nb / 2) - 0.5) / sqrt(variance) : 0;

	return z > 0 ? erfc(z / M_SQRT2) : 1;
}

double stats_rank_p_least(size_t na, size_t nb)
{
	double arrangements = exp(lgamma((double)(na + nb) + 1) - lgamma((double)na + 1) -
				  lgamma((double)nb + 1));

	return fmin(1, 2 / arrangements);
}

/* Tests the values in @r, @nb of which are in the second sample. */
static int ranks_test(const struct ranked *r, size_t *twice, size_t n, size_t nb,
		      struct rank_test *t)
{
	double ties, na = (double)(n - nb);
	size_t sum = ranks_assign(r, n, twice, &ties);

	t->is_exact = n <= RANK_TEST_EXACT;
	t->u = (double)sum / 2 - (double)nb * ((double)nb + 1) / 2;
	t->p_least = stats_rank_p_least(n - nb, nb);
	if (t->is_exact)
		return exact_p(twice, n, nb, sum, nb * (n + 1), &t->p);
	t->p = normal_p(t->u, na, (double)nb, ties);
	return 0;
}

int stats_rank_test(const double *a, size_t na, const double *b, size_t nb, struct rank_test *t)
{
	size_t n = na + nb;
	struct ranked *r = memory_calloc(n, sizeof(*r));
	size_t *twice = memory_calloc(n, sizeof(*twice));
	int err = r && twice ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < n; i++)
		r[i] = (struct ranked){ i < na ? a[i] : b[i - na], i >= na };
	if (!err) {
		qsort(r, n, sizeof(*r), by_ranked);
		err = ranks_test(r, twice, n, nb, t);
	}
	free(r);
	free(twice);
	return err;
}

struct placed {
	double value;
	size_t at;
};

static int by_placed(const void *a, const void *b)
{
	return by_value(&((const struct placed *)a)->value, &((const struct placed *)b)->value);
}

int stats_ranks(const double *values, size_t n, double *twice)
{
	struct placed *list = memory_calloc(n + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		list[i] = (struct placed){ values[i], i };
	qsort(list, n, sizeof(*list), by_placed);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && list[end].value == list[i].value;)
			end++;
		for (size_t k = i; k < end; k++)
			twice[list[k].at] = (double)(i + end + 1);
	}
	free(list);
	return 0;
}

struct numbered {
	double p;
	size_t at;
};

static int by_p(const void *a, const void *b)
{
	return by_value(&((const struct numbered *)a)->p, &((const struct numbered *)b)->p);
}

int stats_holm(double *p, size_t n)
{
	struct numbered *list = memory_calloc(n + 1, sizeof(*list));
	double least = 0;
	size_t nr = 0;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (!isnan(p[i]))
			list[nr++] = (struct numbered){ p[i], i };
	qsort(list, nr, sizeof(*list), by_p);
	for (size_t i = 0; i < nr; i++) {
		least = fmax(least, fmin(1, list[i].p * (double)(nr - i)));
		p[list[i].at] = least;
	}
	free(list);
	return 0;
}
