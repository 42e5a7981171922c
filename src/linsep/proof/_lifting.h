/* Dixon's lifting of a solution modulo a prime to one modulo its powers.

   Integers are at most 2^100 in magnitude, in two halves; numbers modulo the prime are
   multiplied by Montgomery's method (1985): `reduced(t)` is t / 2^64 modulo the prime. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t low;
    int64_t high;
} Halves;

/* Lines, at most: a sum of so many products modulo the prime is below PRIME 2^64. */
#define MOST_LINES 512
#define PRIME 28268264138584627ULL /* of 55 bits, drawn at random */

#ifdef __SIZEOF_INT128__
typedef unsigned __int128 wide;

static const int CAN_LIFT = 1;

static inline wide joined(Halves value)
{
    return (wide)(uint64_t)value.high << 64 | value.low;
}

/* The inverse of PRIME modulo 2^128: the digits that are right double in number. */
static wide inverse_of_prime(void)
{
    wide inverse = 1;
    for (int i = 0; i < 7; i++)
        inverse *= 2 - PRIME * inverse;
    return inverse;
}

/* Without a branch: which way it went could not be foretold. */
static inline uint64_t difference(uint64_t a, uint64_t b)
{
    return a - b + (PRIME & -(uint64_t)(a < b));
}

static inline uint64_t reduced(wide t, uint64_t inverse)
{
    uint64_t multiple = (uint64_t)((wide)((uint64_t)t * inverse) * PRIME >> 64);
    return difference((uint64_t)(t >> 64), multiple);
}

/* Any integer modulo PRIME; `square` is 2^128 modulo PRIME. */
static inline uint64_t residue(wide value, uint64_t inverse, uint64_t square)
{
    uint64_t part = reduced(value + ((wide)PRIME << 63), inverse);
    return reduced((wide)part * square, inverse);
}

static uint64_t power(uint64_t base, uint64_t exponent, uint64_t one, uint64_t inverse)
{
    uint64_t product = one;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            product = reduced((wide)product * base, inverse);
        base = reduced((wide)base * base, inverse);
    }
    return product;
}

/* Factor the n lines modulo PRIME, in the order set: L below the diagonal, which holds the
   inverses of U's. All are multiplied by 2^64. False if the lines are singular. */
static int factor(const Halves *lines, ptrdiff_t n, uint64_t *factors, ptrdiff_t *order)
{
    uint64_t inverse = (uint64_t)inverse_of_prime();
    uint64_t one = (uint64_t)(((wide)1 << 64) % PRIME);
    uint64_t square = (uint64_t)((wide)one * one % PRIME);
    for (ptrdiff_t i = 0; i < n * n; i++)
        factors[i] = reduced(
            (wide)residue(joined(lines[i]), inverse, square) * square, inverse);
    for (ptrdiff_t i = 0; i < n; i++)
        order[i] = i;
    for (ptrdiff_t k = 0; k < n; k++) {
        uint64_t *pivot = factors + k * n;
        ptrdiff_t best = k;
        while (best < n && factors[best * n + k] == 0)
            best++;
        if (best == n)
            return 0;
        if (best > k) {
            for (ptrdiff_t j = 0; j < n; j++) {
                uint64_t held = pivot[j];
                pivot[j] = factors[best * n + j];
                factors[best * n + j] = held;
            }
            ptrdiff_t held = order[k];
            order[k] = order[best];
            order[best] = held;
        }
        pivot[k] = power(pivot[k], PRIME - 2, one, inverse);
        for (ptrdiff_t i = k + 1; i < n; i++) {
            uint64_t *line = factors + i * n;
            if (line[k] == 0)
                continue;
            uint64_t share = line[k] = reduced((wide)line[k] * pivot[k], inverse);
            for (ptrdiff_t j = k + 1; j < n; j++)
                line[j] = difference(line[j], reduced((wide)share * pivot[j], inverse));
        }
    }
    return 1;
}

static inline uint64_t rest_of_sum(
    uint64_t value, const uint64_t *a, const uint64_t *b, ptrdiff_t n, uint64_t inverse)
{
    wide sum = 0;
    for (ptrdiff_t j = 0; j < n; j++)
        sum += (wide)a[j] * b[j];
    return difference(value, reduced(sum, inverse));
}

/* Set the digits, one after the other, of the solution to the base PRIME: what is left of
   the right side is divided by it each time, without a rest. The right side is all zeros
   but for its last, 1. */
static void lift(
    const Halves *lines, const uint64_t *factors, const ptrdiff_t *order, ptrdiff_t n,
    Halves *left, uint64_t *digits, ptrdiff_t n_digits)
{
    wide exact = inverse_of_prime();
    uint64_t inverse = (uint64_t)exact;
    uint64_t one = (uint64_t)(((wide)1 << 64) % PRIME);
    uint64_t square = (uint64_t)((wide)one * one % PRIME);
    for (ptrdiff_t i = 0; i < n; i++)
        left[i] = (Halves){i == n - 1, 0};
    for (ptrdiff_t at = 0; at < n_digits; at++, digits += n) {
        for (ptrdiff_t i = 0; i < n; i++)
            digits[i] = rest_of_sum(
                residue(joined(left[order[i]]), inverse, square), factors + i * n, digits,
                i, inverse);
        for (ptrdiff_t i = n - 1; i >= 0; i--) {
            const uint64_t *line = factors + i * n;
            uint64_t rest = rest_of_sum(
                digits[i], line + i + 1, digits + i + 1, n - 1 - i, inverse);
            digits[i] = reduced((wide)rest * line[i], inverse);
        }
        for (ptrdiff_t i = 0; i < n; i++) {
            wide rest = joined(left[i]);
            for (ptrdiff_t j = 0; j < n; j++)
                rest -= joined(lines[i * n + j]) * digits[j];
            rest *= exact;
            left[i] = (Halves){(uint64_t)rest, (int64_t)(uint64_t)(rest >> 64)};
        }
    }
}

/* Set words to the integer of these digits, `step` apart, to the base PRIME. */
static void join(
    const uint64_t *digits, ptrdiff_t n_digits, ptrdiff_t step, uint64_t *words,
    ptrdiff_t n_words)
{
    ptrdiff_t held = 0;
    for (ptrdiff_t i = 0; i < n_words; i++)
        words[i] = 0;
    for (ptrdiff_t at = n_digits - 1; at >= 0; at--) {
        uint64_t carry = digits[at * step];
        for (ptrdiff_t i = 0; i < held; i++) {
            wide product = (wide)words[i] * PRIME + carry;
            words[i] = (uint64_t)product;
            carry = (uint64_t)(product >> 64);
        }
        if (carry && held < n_words)
            words[held++] = carry;
    }
}
#else
static const int CAN_LIFT = 0;
#define factor(lines, n, factors, order) 0
#define lift(lines, factors, order, n, left, digits, n_digits)
#define join(digits, n_digits, step, words, n_words)
#endif
