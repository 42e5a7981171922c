/* The part of _descent.h that is there for each kind of number, REAL. */

/* Visit the first `n_active` rows of the order once, at random, and move those whose product
   is below `near`, or that have weight, to the front: so many are active then. Returns the
   least product met. */
FOR_EACH_PROCESSOR
static double NAMED(visit)(
    const REAL *restrict rows, ptrdiff_t k, double near, double *restrict w,
    double *restrict weights, ptrdiff_t *restrict order, ptrdiff_t *n_active,
    uint64_t *state)
{
    double least = 1.0;
    ptrdiff_t n = *n_active, n_kept = 0, next = n > 0 ? below(state, n) : 0;
    for (ptrdiff_t at = 0; at < n; at++) {
        ptrdiff_t i = order[next];
        const REAL *row = rows + i * k;
        order[next] = order[at];
        order[at] = order[n_kept];
        order[n_kept] = i;
        if (at + 1 < n) {
            next = at + 1 + below(state, n - at - 1);
            const REAL *next_row = rows + order[next] * k;
            for (ptrdiff_t j = 0; j < k && j < FETCHED; j += CACHE_LINE / (ptrdiff_t) sizeof(REAL))
                FETCH(next_row + j);
        }
        double product = NAMED(dot_of)(row, w, k), weight = weights[i];
        least = product < least ? product : least;
        if (product < 1.0 || weight > 0.0) {
            double wanted = weight + 1.0 - product;
            wanted = wanted > 0.0 ? wanted : 0.0;
            weights[i] = wanted;
            if (wanted != weight)
                for (ptrdiff_t j = 0; j < k; j++)
                    w[j] += (wanted - weight) * row[j];
            weight = wanted;
        }
        n_kept += product < near || weight > 0.0;
    }
    *n_active = n_kept;
    return least;
}

/* Set the products of all rows, name those whose product is below `near`, or that have
   weight, and count those whose product is not more than `goal`. */
FOR_EACH_PROCESSOR
static ptrdiff_t NAMED(look_at)(
    const REAL *restrict rows, ptrdiff_t n, ptrdiff_t k, double near, double goal,
    const double *restrict w, const double *restrict weights, double *restrict products,
    ptrdiff_t *restrict order, ptrdiff_t *n_near)
{
    ptrdiff_t n_wrong = 0, n_named = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        double product = products[i] = NAMED(dot_of)(rows + i * k, w, k);
        n_wrong += !(product > goal);
        order[n_named] = i;
        n_named += product < near || weights[i] > 0.0;
    }
    *n_near = n_named;
    return n_wrong;
}
