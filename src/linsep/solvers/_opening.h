/* What the opening spends its time on: rows of doubles, one after the other. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "../rows/_processors.h"

/* sums += each row. */
FOR_EACH_PROCESSOR
static void add_up(
    const double *restrict X, ptrdiff_t n, ptrdiff_t d, double *restrict sums)
{
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t j = 0; j < d; j++)
            sums[j] += X[i * d + j];
}

/* squares += (x - centre)^2, for each row. */
FOR_EACH_PROCESSOR
static void add_squares(
    const double *restrict X, ptrdiff_t n, ptrdiff_t d, const double *restrict centre,
    double *restrict squares)
{
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t j = 0; j < d; j++) {
            double distance = X[i * d + j] - centre[j];
            squares[j] += distance * distance;
        }
}

/* out = sign ((x - centre) scale, constant) / length, the constant only if there is one.
   Returns how many rows come before one whose squared length is below `least`. */
FOR_EACH_PROCESSOR
static ptrdiff_t unit_rows(
    const double *restrict X, const int8_t *restrict signs, ptrdiff_t n, ptrdiff_t d,
    const double *restrict centre, const double *restrict scale, double constant,
    double least, double *restrict out, double *restrict lengths)
{
    ptrdiff_t width = d + (constant > 0.0);
    for (ptrdiff_t i = 0; i < n; i++) {
        const double *x = X + i * d;
        double *unit = out + i * width, square = constant * constant;
        for (ptrdiff_t j = 0; j < d; j++) {
            unit[j] = signs[i] * ((x[j] - centre[j]) * scale[j]);
            square += unit[j] * unit[j];
        }
        if (square < least)
            return i;
        if (constant > 0.0)
            unit[d] = signs[i] * constant;
        lengths[i] = sqrt(square);
        square = 1.0 / lengths[i];
        for (ptrdiff_t j = 0; j < width; j++)
            unit[j] *= square;
    }
    return n;
}
