/* Rows about the middle of two classes, in two passes over them. */

#include <stddef.h>

#include "../../rows/_processors.h"

/* n rows of d columns, `step` entries apart, each with its sign; with `signed` they are
   multiplied by it already. */
#define ROWS                                                                                \
    const double *restrict rows, ptrdiff_t n, ptrdiff_t d, ptrdiff_t step,                  \
        const double *restrict signs, int is_signed

/* Adds the rows to `centre`, those signed +1 with the weight `up`, the others with `down`;
   and stretches `low` and `high` to where the columns reach. */
FOR_EACH_PROCESSOR
static void add_to_centre(
    ROWS, double up, double down, double *restrict centre, double *restrict low,
    double *restrict high)
{
    /* Two rows at a time, the last one beside itself without a weight if need be. */
    for (ptrdiff_t i = 0; i < n; i += 2) {
        const ptrdiff_t next = i + 1 < n ? i + 1 : i;
        const double *a = rows + i * step, *b = rows + next * step;
        const double sign = is_signed ? signs[i] : 1.0;
        const double other = is_signed ? signs[next] : 1.0;
        const double weight = signs[i] > 0.0 ? up : down;
        const double beside = next == i ? 0.0 : signs[next] > 0.0 ? up : down;
        for (ptrdiff_t j = 0; j < d; j++) {
            double x = sign * a[j], y = other * b[j];
            double less = x < y ? x : y, more = x < y ? y : x;
            centre[j] += weight * x + beside * y;
            low[j] = less < low[j] ? less : low[j];
            high[j] = more > high[j] ? more : high[j];
        }
    }
}

/* out = sign ((x - centre) scale, 1), and the squares of their lengths. */
FOR_EACH_PROCESSOR
static void move_to_centre(
    ROWS, const double *restrict centre, double scale, double *restrict out,
    double *restrict squares)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        const double *a = rows + i * step, sign = is_signed ? 1.0 : signs[i];
        double *moved = out + i * (d + 1), square = 1.0;
        for (ptrdiff_t j = 0; j < d; j++) {
            double here = (sign * a[j] - signs[i] * centre[j]) * scale;
            moved[j] = here;
            square += here * here;
        }
        moved[d] = signs[i];
        squares[i] = square;
    }
}
