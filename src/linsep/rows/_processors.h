/* Which processors a loop is compiled for: any, and where the loader can choose those whose
   registers hold four doubles, or eight. Sums are in another order in each. */

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h>
#define EIGHT_DOUBLES __attribute__((target("avx512f")))
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

/* Ask the memory for what is at an address soon, a line of a cache, of so many bytes. */
#define CACHE_LINE 64
#if defined(__GNUC__)
#define FETCH(address) __builtin_prefetch((const void *) (address))
#else
#define FETCH(address)
#endif
