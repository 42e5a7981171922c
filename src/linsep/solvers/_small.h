/* Products with few rows, four at a time: a BLAS takes longer to begin with them. */

#include <stddef.h>

#include "../rows/_processors.h"

/* out = the products a_i . v of n rows of d columns. */
FOR_EACH_PROCESSOR
static void few_products(
    ptrdiff_t n, ptrdiff_t d, const double *restrict A, const double *restrict v,
    double *restrict out)
{
    ptrdiff_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const double *a = A + i * d, *b = a + d, *c = b + d, *e = c + d;
        double p = 0.0, q = 0.0, r = 0.0, s = 0.0;
        for (ptrdiff_t j = 0; j < d; j++) {
            p += a[j] * v[j];
            q += b[j] * v[j];
            r += c[j] * v[j];
            s += e[j] * v[j];
        }
        out[i] = p, out[i + 1] = q, out[i + 2] = r, out[i + 3] = s;
    }
    for (; i < n; i++) {
        const double *a = A + i * d;
        double p = 0.0;
        for (ptrdiff_t j = 0; j < d; j++)
            p += a[j] * v[j];
        out[i] = p;
    }
}

/* x += scale sum_i weights_i a_i. */
FOR_EACH_PROCESSOR
static void add_few_rows(
    ptrdiff_t n, ptrdiff_t d, const double *restrict A, double scale,
    const double *restrict weights, double *restrict x)
{
    ptrdiff_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const double *a = A + i * d, *b = a + d, *c = b + d, *e = c + d;
        double p = scale * weights[i], q = scale * weights[i + 1];
        double r = scale * weights[i + 2], s = scale * weights[i + 3];
        for (ptrdiff_t j = 0; j < d; j++)
            x[j] += (p * a[j] + q * b[j]) + (r * c[j] + s * e[j]);
    }
    for (; i < n; i++) {
        const double *a = A + i * d;
        double p = scale * weights[i];
        for (ptrdiff_t j = 0; j < d; j++)
            x[j] += p * a[j];
    }
}
