/* SPDX-License-Identifier: BSD-2-Clause */
/* Compared values as a person reads them. */
#ifndef TEXT_COMPARED_NUMBER_H
#define TEXT_COMPARED_NUMBER_H

#include "run/metric.h"

#define NUMBER_BYTES 48

/* @value without what arithmetic adds behind its last digit: two digits more than the unit has are
 * kept, which quartiles have. */
double number_as_measured(enum metric_unit unit, double value);
/* Each writes into @out (NUMBER_BYTES) and returns it. */
char *number_format(char *out, enum metric_unit unit, double value);
/* The same with its sign. */
char *number_difference(char *out, enum metric_unit unit, double value);
/* A part of 1 as percent, with its sign; from ten times on as what it is multiplied by. */
char *number_relative(char *out, double part);

#endif
