/* The product of two vectors within a loop that is compiled for several processors. */

#include <stddef.h>

/* As many sums side by side as the widest registers need to be busy. */
#define SIDE_BY_SIDE 32

#define DEFINE_DOT(real)                                                                     \
    static inline __attribute__((always_inline)) double dot_of_##real(                      \
        const real *a, const double *b, ptrdiff_t n)                                        \
    {                                                                                       \
        double sums[SIDE_BY_SIDE] = {0}, total = 0.0;                                       \
        ptrdiff_t j = 0;                                                                    \
        if (n >= SIDE_BY_SIDE) {                                                            \
            for (; j + SIDE_BY_SIDE <= n; j += SIDE_BY_SIDE)                                \
                for (ptrdiff_t i = 0; i < SIDE_BY_SIDE; i++)                                \
                    sums[i] += a[j + i] * b[j + i];                                         \
            for (ptrdiff_t i = 0; i < SIDE_BY_SIDE; i++)                                    \
                total += sums[i];                                                           \
        }                                                                                   \
        for (; j < n; j++)                                                                  \
            total += a[j] * b[j];                                                           \
        return total;                                                                       \
    }

DEFINE_DOT(double)
DEFINE_DOT(float)
