/* Products and triangles of few rows, four at a time: a BLAS takes longer to begin. */

#include <math.h>
#include <stddef.h>
#include <string.h>

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

/* Overwrites b by the solution of R^T c = b; R is upper triangular, in C order, with rows
   `stride` apart. */
FOR_EACH_PROCESSOR
static void solve_few_transposed(
    ptrdiff_t k, const double *restrict R, ptrdiff_t stride, double *restrict b)
{
    ptrdiff_t i = 0;
    for (; i + 4 <= k; i += 4) {
        const double *r = R + i * (stride + 1), *s = r + stride, *t = s + stride;
        const double *u = t + stride;
        double here[4] = {1.0 / r[0], 1.0 / s[1], 1.0 / t[2], 1.0 / u[3]};
        double *rest = b + i;
        here[0] *= rest[0];
        here[1] *= rest[1] - r[1] * here[0];
        here[2] *= rest[2] - r[2] * here[0] - s[2] * here[1];
        here[3] *= rest[3] - r[3] * here[0] - s[3] * here[1] - t[3] * here[2];
        for (ptrdiff_t j = 0; j < 4; j++)
            rest[j] = here[j];
        for (ptrdiff_t j = 4; j < k - i; j++)
            rest[j] -= (r[j] * here[0] + s[j] * here[1]) + (t[j] * here[2] + u[j] * here[3]);
    }
    for (; i < k; i++) {
        const double *r = R + i * (stride + 1);
        b[i] /= r[0];
        for (ptrdiff_t j = 1; j < k - i; j++)
            b[i + j] -= r[j] * b[i];
    }
}

/* Overwrites b by the solution of R c = b. */
FOR_EACH_PROCESSOR
static void solve_few(
    ptrdiff_t k, const double *restrict R, ptrdiff_t stride, double *restrict b)
{
    ptrdiff_t i = k;
    for (; i % 4; i--) {
        const double *r = R + (i - 1) * (stride + 1);
        double total = b[i - 1];
        for (ptrdiff_t j = 1; j < k - i + 1; j++)
            total -= r[j] * b[i - 1 + j];
        b[i - 1] = total / r[0];
    }
    for (; i > 0; i -= 4) {
        const double *r = R + (i - 4) * (stride + 1), *s = r + stride, *t = s + stride;
        const double *u = t + stride;
        double inverse[4] = {1.0 / r[0], 1.0 / s[1], 1.0 / t[2], 1.0 / u[3]};
        double *rest = b + i - 4;
        double here[4] = {rest[0], rest[1], rest[2], rest[3]};
        for (ptrdiff_t j = 4; j < k - i + 4; j++) {
            here[0] -= r[j] * rest[j];
            here[1] -= s[j] * rest[j];
            here[2] -= t[j] * rest[j];
            here[3] -= u[j] * rest[j];
        }
        rest[3] = here[3] * inverse[3];
        rest[2] = (here[2] - t[3] * rest[3]) * inverse[2];
        rest[1] = (here[1] - s[3] * rest[3] - s[2] * rest[2]) * inverse[1];
        rest[0] = (here[0] - r[3] * rest[3] - r[2] * rest[2] - r[1] * rest[1]) * inverse[0];
    }
}

/* Lets go of a column of R, and turns the rest back to triangular form.  `half`, which
   solves R^T half = b, does so after that without the entry of b. */
FOR_EACH_PROCESSOR
static void drop_column(
    ptrdiff_t k, double *restrict R, ptrdiff_t stride, ptrdiff_t position,
    double *restrict half)
{
    for (ptrdiff_t i = 0; i < k; i++) {
        double *row = R + i * stride + position;
        memmove(row, row + 1, (k - 1 - position) * sizeof(double));
    }
    for (ptrdiff_t i = position; i < k - 1; i++) {
        double *row = R + i * stride, *next = row + stride;
        double radius = row[i] * row[i] + next[i] * next[i];
        radius = radius > 1e-200 && radius < 1e200 ? sqrt(radius) : hypot(row[i], next[i]);
        double cosine = row[i] / radius, sine = next[i] / radius, here = half[i];
        row[i] = radius;
        next[i] = 0.0;
        for (ptrdiff_t j = i + 1; j < k - 1; j++) {
            double turned = cosine * row[j] + sine * next[j];
            next[j] = cosine * next[j] - sine * row[j];
            row[j] = turned;
        }
        half[i] = cosine * here + sine * half[i + 1];
        half[i + 1] = cosine * half[i + 1] - sine * here;
    }
}
