/* What a sweep over rows spends its time on: margins, of floats or of doubles.

   Compiled thrice where the loader can choose by the processor: for any, and for those whose
   registers hold four doubles, or eight, which one core needs to keep up with its memory.
   Sums are in another order in each. Products are not fused into them, since loops end
   with some rows that are not: what a row comes to must not depend on where it stands. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "_processors.h"

#define JUDGED_AT_ONCE 64
/* Bytes that are asked of the memory ahead of those in use. */
#define FETCHED_AHEAD 8192

/* margins_of_rows: s = sign (x . w + constant), and t the sizes of its terms, for rows that
   are each in one piece, `step` bytes apart.  One row after the other: two at once are no
   quicker, and four are slower from memory, which is then not read ahead. */
#define ROWS                                                                                \
    const char *X, ptrdiff_t n, ptrdiff_t d, ptrdiff_t step, const int8_t *signs,           \
        const double *w, double constant, double *s, double *t

#ifdef EIGHT_DOUBLES
#define EIGHT_float(x) _mm512_cvtps_pd(_mm256_loadu_ps(x))
#define EIGHT_double(x) _mm512_loadu_pd(x)
/* Those that are kept, and zeros in place of the others, which are not read. */
#define SOME_float(x, kept)                                                                 \
    _mm512_cvtps_pd(_mm512_castps512_ps256(_mm512_maskz_loadu_ps(kept, x)))
#define SOME_double(x, kept) _mm512_maskz_loadu_pd(kept, x)

/* By hand, since compilers turn floats into doubles, sum up a row and go through what is
   left of it in twice as many steps, and fetch nothing ahead within a row. */
#define DEFINE_MARGINS_BY_EIGHT(real)                                                       \
    EIGHT_DOUBLES                                                                           \
    static void margins_by_eight_##real(ROWS)                                               \
    {                                                                                       \
        ptrdiff_t width = d * (ptrdiff_t) sizeof(real), whole = d & ~(ptrdiff_t) 7;         \
        ptrdiff_t ahead = FETCHED_AHEAD;                                                    \
        if (0 < width && width < FETCHED_AHEAD)                                             \
            ahead = FETCHED_AHEAD / width * step;                                           \
        __mmask8 rest = (__mmask8) ((1 << (d & 7)) - 1);                                    \
        for (ptrdiff_t i = 0; i < n; i++) {                                                 \
            const real *x = (const real *) (X + i * step);                                  \
            __m512d total = _mm512_setzero_pd(), size = total, term;                        \
            for (ptrdiff_t j = 0; j < whole; j += 8) {                                      \
                FETCH((uintptr_t) (x + j) + ahead);                                         \
                term = _mm512_mul_pd(EIGHT_##real(x + j), EIGHT_double(w + j));             \
                total = _mm512_add_pd(total, term);                                         \
                size = _mm512_add_pd(size, _mm512_abs_pd(term));                            \
            }                                                                               \
            if (rest) {                                                                     \
                FETCH((uintptr_t) (x + whole) + ahead);                                     \
                term = _mm512_mul_pd(                                                       \
                    SOME_##real(x + whole, rest), SOME_double(w + whole, rest));            \
                total = _mm512_add_pd(total, term);                                         \
                size = _mm512_add_pd(size, _mm512_abs_pd(term));                            \
            }                                                                               \
            /* Both sums at once: a lane of the one beside a lane of the other. */          \
            __m512d eight = _mm512_add_pd(                                                  \
                _mm512_unpacklo_pd(total, size), _mm512_unpackhi_pd(total, size));          \
            __m256d four = _mm256_add_pd(                                                   \
                _mm512_castpd512_pd256(eight), _mm512_extractf64x4_pd(eight, 1));           \
            __m128d two = _mm_add_pd(                                                       \
                _mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));              \
            s[i] = signs[i] * (_mm_cvtsd_f64(two) + constant);                              \
            t[i] = _mm_cvtsd_f64(_mm_unpackhi_pd(two, two)) + fabs(constant);               \
        }                                                                                   \
    }

DEFINE_MARGINS_BY_EIGHT(float)
DEFINE_MARGINS_BY_EIGHT(double)
#define BY_EIGHT_IF_THERE(real)                                                             \
    if (__builtin_cpu_supports("avx512f")) {                                                \
        margins_by_eight_##real(X, n, d, step, signs, w, constant, s, t);                   \
        return;                                                                             \
    }
#else
#define BY_EIGHT_IF_THERE(real)
#endif

/* add_columns: adds the terms of n rows, and their sizes, from m columns that stand apart,
   each from row `first` on; four columns at a time. */
#define DEFINE_MARGINS(real)                                                                \
    FOR_EACH_PROCESSOR                                                                      \
    static void margins_of_rows_##real(ROWS)                                                \
    {                                                                                       \
        BY_EIGHT_IF_THERE(real)                                                             \
        ptrdiff_t width = d * (ptrdiff_t) sizeof(real);                                     \
        ptrdiff_t fetched = width <= FETCHED_AHEAD ? width : 0;                             \
        ptrdiff_t ahead = fetched ? FETCHED_AHEAD / width * step : 0;                       \
        for (ptrdiff_t i = 0; i < n; i++) {                                                 \
            const real *x = (const real *) (X + i * step);                                  \
            double total = constant, size = fabs(constant);                                 \
            for (ptrdiff_t at = 0; at < fetched; at += CACHE_LINE)                          \
                FETCH((uintptr_t) x + ahead + at);                                          \
            for (ptrdiff_t j = 0; j < d; j++) {                                             \
                double term = x[j] * w[j];                                                  \
                total += term;                                                              \
                size += fabs(term);                                                         \
            }                                                                               \
            s[i] = signs[i] * total;                                                        \
            t[i] = size;                                                                    \
        }                                                                                   \
    }                                                                                       \
                                                                                            \
    FOR_EACH_PROCESSOR                                                                      \
    static void add_columns_##real(                                                         \
        const uintptr_t *addresses, ptrdiff_t m, ptrdiff_t first, ptrdiff_t n,              \
        const double *w, double *total, double *size)                                       \
    {                                                                                       \
        ptrdiff_t j = 0;                                                                    \
        for (; j + 4 <= m; j += 4) {                                                        \
            const real *a = (const real *) addresses[j] + first;                            \
            const real *b = (const real *) addresses[j + 1] + first;                        \
            const real *c = (const real *) addresses[j + 2] + first;                        \
            const real *d = (const real *) addresses[j + 3] + first;                        \
            const double wa = w[j], wb = w[j + 1], wc = w[j + 2], wd = w[j + 3];            \
            for (ptrdiff_t i = 0; i < n; i++) {                                             \
                double p = a[i] * wa, q = b[i] * wb, r = c[i] * wc, u = d[i] * wd;          \
                total[i] += (p + q) + (r + u);                                              \
                size[i] += (fabs(p) + fabs(q)) + (fabs(r) + fabs(u));                       \
            }                                                                               \
        }                                                                                   \
        for (; j < m; j++) {                                                                \
            const real *a = (const real *) addresses[j] + first;                            \
            const double wa = w[j];                                                         \
            for (ptrdiff_t i = 0; i < n; i++) {                                             \
                double p = a[i] * wa;                                                       \
                total[i] += p;                                                              \
                size[i] += fabs(p);                                                         \
            }                                                                               \
        }                                                                                   \
    }

DEFINE_MARGINS(float)
DEFINE_MARGINS(double)

/* Adds words to lanes, one to each. */
FOR_EACH_PROCESSOR
static void add_words(const uint32_t *words, ptrdiff_t n, uint64_t *lanes)
{
    for (ptrdiff_t i = 0; i < n; i++)
        lanes[i] += words[i];
}

/* What margins prove; see `judge_margins`. No row is branched on: which rows are of which
   class, and which are on their side, is not to be predicted. */
typedef struct {
    double down, up, settled, largest;
    ptrdiff_t n_violations, n_unsettled;
} Judged;

/* The lesser, of which not a number is none. */
/* total += weight a, where there is a weight; returns |a|^2. */
FOR_EACH_PROCESSOR
static double add_weighted(const double *a, ptrdiff_t d, double weight, double *total)
{
    double square = 0.0;
    for (ptrdiff_t j = 0; j < d; j++)
        square += a[j] * a[j];
    if (weight != 0.0)
        for (ptrdiff_t j = 0; j < d; j++)
            total[j] += weight * a[j];
    return square;
}

#define LESS(a, b) ((b) < (a) ? (b) : (a))

FOR_EACH_PROCESSOR
static void judge(
    double *s, const double *t, const int8_t *signs, ptrdiff_t n, double factor,
    double underflow, int by_margin, double *score, Judged *out)
{
    /* What was found of every 64th row: each then waits only for the one 64 before it. */
    double down[JUDGED_AT_ONCE], up[JUDGED_AT_ONCE], settled[JUDGED_AT_ONCE];
    double minus_largest[JUDGED_AT_ONCE], side[JUDGED_AT_ONCE];
    int64_t n_violations[JUDGED_AT_ONCE], n_settled[JUDGED_AT_ONCE];
    for (ptrdiff_t i = 0; i < JUDGED_AT_ONCE; i++) {
        down[i] = up[i] = settled[i] = INFINITY;
        minus_largest[i] = 0.0;
        n_violations[i] = n_settled[i] = 0;
    }
    for (ptrdiff_t first = 0; first < n; first += JUDGED_AT_ONCE) {
        ptrdiff_t size = n - first < JUDGED_AT_ONCE ? n - first : JUDGED_AT_ONCE;
        double *margin = s + first, *rank = score + first;
        const double *terms = t + first;
        const int8_t *sign = signs + first;
        for (ptrdiff_t i = 0; i < size; i++)
            side[i] = sign[i];
        for (ptrdiff_t i = 0; i < size; i++) {
            /* Not finite means overflow, of which nothing is claimed. */
            double error = terms[i] < INFINITY ? factor * terms[i] + underflow : INFINITY;
            double here = terms[i] < INFINITY ? margin[i] : -INFINITY;
            double low = terms[i] < INFINITY ? here - error : -INFINITY;
            double relative = here / terms[i];
            /* A row that vanishes (0 / 0) among them. */
            relative = fabs(relative) < INFINITY ? relative : 0.0;
            /* Among subnormals a row may be in doubt at any ratio. */
            double doubtful = relative >= factor ? 0.0 : relative;
            double of_up = side[i] > 0.0 ? low : INFINITY;
            double of_down = side[i] > 0.0 ? INFINITY : low;
            double beyond = low > 0.0 ? low : INFINITY;
            margin[i] = here;
            rank[i] = low > 0.0 ? relative : doubtful;
            down[i] = LESS(down[i], of_down);
            up[i] = LESS(up[i], of_up);
            settled[i] = LESS(settled[i], beyond);
            minus_largest[i] = LESS(minus_largest[i], -error);
            n_violations[i] += here < -error;
            n_settled[i] += beyond < INFINITY;
        }
        for (ptrdiff_t i = 0; by_margin && i < size; i++)
            rank[i] = margin[i];
    }
    out->n_unsettled += n;
    for (ptrdiff_t i = 0; i < JUDGED_AT_ONCE; i++) {
        out->down = LESS(out->down, down[i]);
        out->up = LESS(out->up, up[i]);
        out->settled = LESS(out->settled, settled[i]);
        out->largest = -LESS(-out->largest, minus_largest[i]);
        out->n_violations += n_violations[i];
        out->n_unsettled -= n_violations[i] + n_settled[i];
    }
}
