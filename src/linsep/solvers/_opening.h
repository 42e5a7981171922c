/* What the opening spends its time on: rows of doubles, one after the other. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "../rows/_dot.h"
#include "../rows/_processors.h"

/* Columns whose sums stay in registers, and entries of rows that stay in a cache beside a
   core while their columns are gone through. */
#define COLUMNS 16
#define CACHED 16384

/* sums += what the rows have beyond the base, squares += the squares of it, and sizes += its
   magnitude, which alone never vanishes by underflow. No base is zero. With the first row as the base, which is within sqrt(n) deviations of the mean
   whatever it is, the variance that follows is as good as if the mean were known before. */
FOR_EACH_PROCESSOR
static void add_up(
    const double *restrict X, ptrdiff_t n, ptrdiff_t d, const double *restrict base,
    double *restrict sums, double *restrict squares, double *restrict sizes)
{
    const double zeros[COLUMNS] = {0};
    ptrdiff_t n_rows = CACHED / d > 8 ? CACHED / d : 8;
    for (ptrdiff_t start = 0; start < n; start += n_rows) {
        ptrdiff_t stop = n - start < n_rows ? n : start + n_rows;
        for (ptrdiff_t first = 0; first < d; first += COLUMNS) {
            double sum[COLUMNS] = {0}, square[COLUMNS] = {0}, total[COLUMNS] = {0};
            double beyond;
            ptrdiff_t size = d - first < COLUMNS ? d - first : COLUMNS;
            const double *x = X + first, *from = base ? base + first : zeros;
            if (size == COLUMNS)  /* known beforehand, which registers need */
                for (ptrdiff_t i = start; i < stop; i++)
                    for (ptrdiff_t j = 0; j < COLUMNS; j++) {
                        beyond = x[i * d + j] - from[j];
                        sum[j] += beyond;
                        square[j] += beyond * beyond;
                        total[j] += fabs(beyond);
                    }
            else
                for (ptrdiff_t i = start; i < stop; i++)
                    for (ptrdiff_t j = 0; j < size; j++) {
                        beyond = x[i * d + j] - from[j];
                        sum[j] += beyond;
                        square[j] += beyond * beyond;
                        total[j] += fabs(beyond);
                    }
            for (ptrdiff_t j = 0; j < size; j++) {
                sums[first + j] += sum[j];
                squares[first + j] += square[j];
                sizes[first + j] += total[j];
            }
        }
    }
}

/* The least sign (x . w + constant), of the rows of either sign. */
FOR_EACH_PROCESSOR
static void least_products(
    const double *restrict X, const int8_t *restrict signs, ptrdiff_t n, ptrdiff_t d,
    const double *restrict w, double constant, double *down, double *up)
{
    *down = *up = INFINITY;
    for (ptrdiff_t i = 0; i < n; i++) {
        double product = dot_of(X + i * d, w, d) + constant;
        if (signs[i] > 0)
            *up = product < *up ? product : *up;
        else
            *down = -product < *down ? -product : *down;
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
            unit[j] = (x[j] - centre[j]) * scale[j];
            square += unit[j] * unit[j];
        }
        if (square < least)
            return i;
        if (constant > 0.0)
            unit[d] = constant;
        lengths[i] = sqrt(square);
        square = signs[i] / lengths[i];
        for (ptrdiff_t j = 0; j < width; j++)
            unit[j] *= square;
    }
    return n;
}
