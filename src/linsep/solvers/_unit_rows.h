/* Sums over rows of doubles, and rows of unit length. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../rows/_dot.h"
#include "../rows/_processors.h"

#define LEAST 0x1p-100
#define CONSTANT 1e-12

/* Columns whose sums stay in registers; and those that have sums in a cache beside a core,
   where rows are long and are to be read in long pieces. */
#define COLUMNS 16
#define MANY_COLUMNS 512

#define ADD_UP(width)                                                                       \
    for (ptrdiff_t i = 0; i < n; i++)                                                       \
        for (ptrdiff_t j = 0; j < (width); j++) {                                           \
            double beyond = x[i * step + j] - from[j];                                      \
            sum[j] += beyond;                                                               \
            square[j] += beyond * beyond;                                                   \
            total[j] += fabs(beyond);                                                       \
        }

/* sums = what the rows have beyond the base, squares = the squares of it, and sizes = its
   magnitude, which alone never vanishes by underflow. No base is zero. With the first row
   as the base, which is within sqrt(n) deviations of the mean whatever it is, the variance
   that follows is as good as if the mean were known before. */
FOR_EACH_PROCESSOR
static void add_up(
    const double *restrict X, ptrdiff_t n, ptrdiff_t d, ptrdiff_t step,
    const double *restrict base, double *restrict sums, double *restrict squares,
    double *restrict sizes)
{
    const double zeros[MANY_COLUMNS] = {0};
    ptrdiff_t most = d < MANY_COLUMNS / 4 ? COLUMNS : MANY_COLUMNS;
    for (ptrdiff_t first = 0; first < d; first += most) {
        ptrdiff_t size = d - first < most ? d - first : most;
        const double *x = X + first, *from = base ? base + first : zeros;
        if (size == COLUMNS) {
            double sum[COLUMNS] = {0}, square[COLUMNS] = {0}, total[COLUMNS] = {0};
            ADD_UP(COLUMNS)
            memcpy(sums + first, sum, sizeof sum);
            memcpy(squares + first, square, sizeof square);
            memcpy(sizes + first, total, sizeof total);
        } else {
            double *sum = sums + first, *square = squares + first, *total = sizes + first;
            for (ptrdiff_t j = 0; j < size; j++)
                sum[j] = square[j] = total[j] = 0.0;
            ADD_UP(size)
        }
    }
}

/* The least sign (x . w + constant), of the rows of either sign. */
FOR_EACH_PROCESSOR
static void least_products(
    const double *restrict X, const int8_t *restrict signs, ptrdiff_t n, ptrdiff_t d,
    ptrdiff_t step, const double *restrict w, double constant, double *down, double *up)
{
    *down = *up = INFINITY;
    for (ptrdiff_t i = 0; i < n; i++) {
        double product = dot_of_double(X + i * step, w, d) + constant;
        if (signs[i] > 0)
            *up = product < *up ? product : *up;
        else
            *down = -product < *down ? -product : *down;
    }
}

/* out = sign ((x - centre) scale, constant) / length, the constant only if there is one.
   Returns how many rows come before one whose squared length is below `least`. */
#define DEFINE_UNIT_ROWS(real)                                                               \
    FOR_EACH_PROCESSOR                                                                      \
    static ptrdiff_t unit_rows_##real(                                                      \
        const double *restrict X, const int8_t *restrict signs, ptrdiff_t n, ptrdiff_t d,   \
        ptrdiff_t step, const double *restrict centre, const double *restrict scale,        \
        double constant, double least, real *restrict out, double *restrict lengths)                         \
    {                                                                                       \
        ptrdiff_t width = d + (constant > 0.0);                                             \
        for (ptrdiff_t i = 0; i < n; i++) {                                                 \
            const double *x = X + i * step;                                                 \
            real *unit = out + i * width;                                                   \
            double square = constant * constant;                                            \
            for (ptrdiff_t j = 0; j < d; j++) {                                             \
                double here = (x[j] - centre[j]) * scale[j];                                \
                unit[j] = (real) here;                                                      \
                square += here * here;                                                      \
            }                                                                               \
            if (square < least)                                                             \
                return i;                                                                   \
            if (constant > 0.0)                                                             \
                unit[d] = (real) constant;                                                  \
            lengths[i] = sqrt(square);                                                      \
            square = signs[i] / lengths[i];                                                 \
            for (ptrdiff_t j = 0; j < width; j++)                                           \
                unit[j] = (real) (unit[j] * square);                                        \
        }                                                                                   \
        return n;                                                                           \
    }

DEFINE_UNIT_ROWS(double)
DEFINE_UNIT_ROWS(float)
