/* The one linear dependence of a few rows of doubles, in integers and without rounding.

   A column may be multiplied by a power of two: the weights of the rows stay the same. So
   each column is brought to integers. An equation among the weights, one for each column,
   is kept without a common factor, which keeps numbers as short as they can be. */

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Integers are at most MOST, so that a sum of two products fits a wide one. */
#ifdef __SIZEOF_INT128__
typedef __int128 wide;
#define MOST INT64_MAX
#else
typedef int64_t wide;
#define MOST INT32_MAX
#endif

enum { MOST_ROWS = 24 };
enum { UNKNOWN = -1, NO_CONFLICT = 0, CONFLICT = 1 };

/* The power of two that divides 0 < size < 2^53: its lowest bit is an exact double. */
static int trailing_zeros(uint64_t size)
{
    double lowest = (double)(int64_t)(size & (~size + 1));
    uint64_t bits;
    memcpy(&bits, &lowest, sizeof bits);
    return (int)(bits >> 52) - 1023;
}

/* Bring a column of doubles to integers over one power of two; false if one is too long,
   or not finite. */
static int read_column(
    const double *column, ptrdiff_t k, ptrdiff_t d, int64_t *restrict integers)
{
    uint64_t bits[MOST_ROWS], sizes[MOST_ROWS];
    int powers[MOST_ROWS], least = INT_MAX;
    for (ptrdiff_t i = 0; i < k; i++) {
        memcpy(&bits[i], column + i * d, sizeof bits[i]);
        sizes[i] = bits[i] & 0xfffffffffffff;
        powers[i] = (int)(bits[i] >> 52) & 0x7ff;
        if (powers[i] == 0x7ff)
            return 0;
        if (powers[i] > 0)
            sizes[i] |= (uint64_t)1 << 52;
        else
            powers[i] = 1; /* subnormal */
        if (sizes[i] == 0)
            continue;
        int zeros = trailing_zeros(sizes[i]);
        sizes[i] >>= zeros;
        powers[i] += zeros;
        least = powers[i] < least ? powers[i] : least;
    }
    for (ptrdiff_t i = 0; i < k; i++) {
        int shift = sizes[i] ? powers[i] - least : 0;
        if (shift > 62 || sizes[i] > (uint64_t)MOST >> shift)
            return 0;
        int64_t size = (int64_t)(sizes[i] << shift);
        integers[i] = bits[i] >> 63 ? -size : size;
    }
    return 1;
}

static uint64_t magnitude(int64_t value)
{
    return (uint64_t)(value < 0 ? -value : value);
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The same of wide integers that are not negative. */
static wide wide_divisor(wide a, wide b)
{
    while (b > MOST) {
        wide rest = a % b;
        a = b;
        b = rest;
    }
    if (b == 0)
        return a;
    uint64_t rest = a > MOST ? (uint64_t)(a % b) : (uint64_t)a % (uint64_t)b;
    return (wide)common_divisor((uint64_t)b, rest);
}

/* Set an equation to what is left of this one without its common factor; false if it is
   too long then. */
static int set_primitive(wide *values, ptrdiff_t k, int64_t *restrict equation)
{
    wide divisor = 0;
    for (ptrdiff_t i = 0; i < k && divisor != 1; i++)
        divisor = wide_divisor(values[i] < 0 ? -values[i] : values[i], divisor);
    for (ptrdiff_t i = 0; i < k; i++) {
        if (divisor > 1)
            values[i] /= divisor;
        if (values[i] > MOST || values[i] < -MOST)
            return 0;
        equation[i] = (int64_t)values[i];
    }
    return 1;
}

/* Take a multiple of another equation away, so that nothing is left at one place. */
static int eliminate(int64_t *equation, const int64_t *other, ptrdiff_t at, ptrdiff_t k)
{
    if (equation[at] == 0)
        return 1;
    wide factor = other[at], taken = equation[at];
    wide values[MOST_ROWS];
    for (ptrdiff_t i = 0; i < k; i++)
        values[i] = factor * equation[i] - taken * other[i];
    return set_primitive(values, k, equation);
}

/* Whether weights and integers have the sum of products zero; UNKNOWN if it is too long. */
static int is_sum_zero(const int64_t *weights, const int64_t *integers, ptrdiff_t k)
{
    const wide longest = (wide)MOST * MOST;
    wide sum = 0;
    for (ptrdiff_t i = 0; i < k; i++) {
        if (sum > longest || sum < -longest)
            return UNKNOWN;
        sum += (wide)weights[i] * integers[i];
    }
    return sum == 0;
}

/* Find the only weights with which k rows of d doubles sum to zero. CONFLICT if none of
   them is negative: they are integers without a common factor. NO_CONFLICT if there are
   none, or they are of both signs. UNKNOWN if there are others too, or a number is too
   long. */
static int find_dependence(
    const double *rows, ptrdiff_t k, ptrdiff_t d, int64_t *restrict weights)
{
    /* Equations of the weights, each alone with a weight at its pivot. */
    int64_t equations[MOST_ROWS][MOST_ROWS], column[MOST_ROWS];
    ptrdiff_t pivots[MOST_ROWS], rank = 0;
    if (k < 1)
        return NO_CONFLICT;
    if (k > MOST_ROWS)
        return UNKNOWN;
    for (ptrdiff_t j = 0; j < d && rank < k - 1; j++) {
        int64_t *equation = equations[rank];
        wide values[MOST_ROWS];
        ptrdiff_t pivot = 0;
        if (!read_column(rows + j, k, d, column))
            return UNKNOWN;
        for (ptrdiff_t i = 0; i < k; i++)
            values[i] = column[i];
        if (!set_primitive(values, k, equation))
            return UNKNOWN;
        for (ptrdiff_t r = 0; r < rank; r++)
            if (!eliminate(equation, equations[r], pivots[r], k))
                return UNKNOWN;
        while (pivot < k && equation[pivot] == 0)
            pivot++;
        if (pivot == k)
            continue;
        for (ptrdiff_t r = 0; r < rank; r++)
            if (!eliminate(equations[r], equation, pivot, k))
                return UNKNOWN;
        pivots[rank++] = pivot;
    }
    if (rank < k - 1)
        return UNKNOWN;

    /* Each equation is a p[pivot] + b p[last] = 0 now, and a and b have no common factor:
       the least p[last] is the least common multiple of all a. */
    ptrdiff_t last = k * (k - 1) / 2;
    for (ptrdiff_t r = 0; r < rank; r++)
        last -= pivots[r];
    wide multiple = 1;
    for (ptrdiff_t r = 0; r < rank; r++) {
        int64_t a = equations[r][pivots[r]], b = equations[r][last];
        if (b != 0 && (a < 0) == (b < 0))
            return NO_CONFLICT;
        multiple *= (wide)(magnitude(a) / common_divisor((uint64_t)multiple, magnitude(a)));
        if (multiple > MOST)
            return UNKNOWN;
    }
    weights[last] = (int64_t)multiple;
    for (ptrdiff_t r = 0; r < rank; r++) {
        wide weight = -(multiple / equations[r][pivots[r]]) * equations[r][last];
        if (weight > MOST)
            return UNKNOWN;
        weights[pivots[r]] = (int64_t)weight;
    }

    /* The proof, which rests on nothing above but how a column is read. */
    for (ptrdiff_t j = 0; j < d; j++) {
        if (!read_column(rows + j, k, d, column))
            return UNKNOWN;
        int is_zero = is_sum_zero(weights, column, k);
        if (is_zero != 1)
            return is_zero == 0 ? NO_CONFLICT : UNKNOWN;
    }
    return CONFLICT;
}
