/* What a sweep over rows spends its time on: margins, of floats or of doubles.

   Compiled twice where the loader can choose by the processor: for any, and for those whose
   registers hold four doubles, which one core needs to keep up with its memory. Products are
   not fused into sums in either, so both are as the same sums in another order. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

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
        for (ptrdiff_t i = 0; i < n; i++) {                                                 \
            const real *x = (const real *) (X + i * step);                                  \
            double total = constant, size = fabs(constant);                                 \
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
