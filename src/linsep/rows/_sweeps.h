/* What a sweep over rows spends its time on: margins, of floats or of doubles.

   Compiled thrice where the loader can choose by the processor: for any, and for those whose
   registers hold four doubles, or eight, which one core needs to keep up with its memory.
   Sums are in another order in each. Products are not fused into them, since loops end
   with some rows that are not: what a row comes to must not depend on where it stands. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

#if defined(__GNUC__)
#define FETCH(address) __builtin_prefetch((const void *) (address))
#else
#define FETCH(address)
#endif

#define JUDGED_AT_ONCE 512
#define CACHE_LINE 64
/* Bytes that are asked of the memory ahead of those in use. */
#define FETCHED_AHEAD 8192

/* margins_of_rows: s = sign (x . w + constant), and t the sizes of its terms, for rows that
   are each in one piece, `step` bytes apart.  One row after the other: several at once are
   quicker in the cache, but half as quick from memory, which is then not read ahead.

   add_columns: adds the terms of n rows, and their sizes, from m columns that stand apart,
   each from row `first` on; four columns at a time. */
#define DEFINE_MARGINS(real)                                                                \
    FOR_EACH_PROCESSOR                                                                      \
    static void margins_of_rows_##real(                                                     \
        const char *X, ptrdiff_t n, ptrdiff_t d, ptrdiff_t step, const int8_t *signs,       \
        const double *w, double constant, double *s, double *t)                             \
    {                                                                                       \
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

/* The least of some numbers and a bound; four at a time, since each waits for the last. */
static inline double least(const double *a, ptrdiff_t n, double bound)
{
    double low[4] = {bound, bound, bound, bound};
    ptrdiff_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++)
            low[k] = a[i + k] < low[k] ? a[i + k] : low[k];
    for (; i < n; i++)
        low[0] = a[i] < low[0] ? a[i] : low[0];
    for (int k = 1; k < 4; k++)
        low[0] = low[k] < low[0] ? low[k] : low[0];
    return low[0];
}

/* What margins prove; see `judge_margins`. No row is branched on: which rows are of which
   class, and which are on their side, is not to be predicted. */
typedef struct {
    double down, up, settled, largest;
    ptrdiff_t n_violations, n_unsettled;
} Judged;

FOR_EACH_PROCESSOR
static void judge(
    double *s, const double *t, const int8_t *signs, ptrdiff_t n, double factor,
    double underflow, int by_margin, double *score, Judged *out)
{
    double down[JUDGED_AT_ONCE], up[JUDGED_AT_ONCE], beyond[JUDGED_AT_ONCE];
    double minus_error[JUDGED_AT_ONCE], minus_largest = -out->largest;
    ptrdiff_t n_violations = 0, n_beyond = 0;
    for (ptrdiff_t first = 0; first < n; first += JUDGED_AT_ONCE) {
        ptrdiff_t size = n - first < JUDGED_AT_ONCE ? n - first : JUDGED_AT_ONCE;
        double *margin = s + first, *rank = score + first;
        const double *terms = t + first;
        const int8_t *sign = signs + first;
        for (ptrdiff_t i = 0; i < size; i++)
            down[i] = sign[i];
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
            rank[i] = low > 0.0 ? relative : doubtful;
            beyond[i] = low > 0.0 ? low : INFINITY;
            up[i] = down[i] > 0.0 ? low : INFINITY;
            down[i] = down[i] > 0.0 ? INFINITY : low;
            margin[i] = here;
            minus_error[i] = -error;
        }
        for (ptrdiff_t i = 0; i < size; i++)
            n_violations += margin[i] < minus_error[i];
        for (ptrdiff_t i = 0; i < size; i++)
            n_beyond += beyond[i] < INFINITY;
        for (ptrdiff_t i = 0; by_margin && i < size; i++)
            rank[i] = margin[i];
        out->down = least(down, size, out->down);
        out->up = least(up, size, out->up);
        out->settled = least(beyond, size, out->settled);
        minus_largest = least(minus_error, size, minus_largest);
    }
    out->largest = -minus_largest;
    out->n_violations += n_violations;
    out->n_unsettled += n - n_violations - n_beyond;
}
