/* What plain arrays are looked at for. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../rows/_processors.h"

/* Whether no number is infinite or not a number: their exponents have all bits set. By the
   bits, since sums that may be taken in any order need not keep what is not a number. */
FOR_EACH_PROCESSOR
static int all_finite(const double *x, ptrdiff_t n)
{
    const uint64_t exponent = (uint64_t) 0x7ff << 52, least = (uint64_t) 1 << 52;
    uint64_t carried = 0, bits;
    for (ptrdiff_t i = 0; i < n; i++) {
        memcpy(&bits, x + i, sizeof bits);
        carried |= (bits & exponent) + least;
    }
    return !(carried >> 63);
}
