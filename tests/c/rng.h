/* A small generator of pseudo-random numbers (splitmix64): the same seed, the same numbers, everywhere. */

#ifndef KVC_TESTS_RNG_H
#define KVC_TESTS_RNG_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t state;
} rng_t;

static inline uint64_t rng_next(rng_t *rng)
{
    uint64_t x = rng->state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* A number below `n`, which is at least 1. */
static inline uint32_t rng_below(rng_t *rng, uint32_t n)
{
    return (uint32_t)((rng_next(rng) >> 32) % n);
}

/* A number from `low` to `high`, both included. */
static inline uint32_t rng_from(rng_t *rng, uint32_t low, uint32_t high)
{
    return low + rng_below(rng, high - low + 1);
}

/* True once in `n` times. */
static inline bool rng_one_in(rng_t *rng, uint32_t n)
{
    return rng_below(rng, n) == 0;
}

#endif
