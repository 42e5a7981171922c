/* What the descent spends its time on: rows of doubles or of floats, each in one piece. */

#include <stddef.h>
#include <stdint.h>

#include "../rows/_dot.h"
#include "../rows/_processors.h"

/* Entries of the row to be visited next that are asked of the memory beforehand. */
#define FETCHED 128

/* A number from 0 to n - 1, n below 2^32 (Marsaglia's xorshift, 2003). */
static inline ptrdiff_t below(uint64_t *state, ptrdiff_t n)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (ptrdiff_t) ((*state >> 32) * (uint64_t) n >> 32);
}

#define REAL double
#define NAMED(name) name##_double
#include "_descent_rows.h"
#undef REAL
#undef NAMED
#define REAL float
#define NAMED(name) name##_float
#include "_descent_rows.h"
#undef REAL
#undef NAMED
