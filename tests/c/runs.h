/* Random operations on one random cache after another, from fixed seeds and one more. */

#ifndef KVC_TESTS_RUNS_H
#define KVC_TESTS_RUNS_H

#include <stdint.h>

#include "rng.h"

/* What a run has done. */
typedef struct {
    uint64_t operations, refused;
} tally_t;

/* Builds a cache, drives it, ends it, and adds what was done. */
typedef void (*one_cache_fn)(rng_t *rng, tally_t *tally);

/* Runs from each seed until so many operations were done, and answers the exit status of the program. Its arguments, if there are
 * any, go before `operations` and `seed`. */
int run_at_random(int argc, char **argv, uint64_t operations, uint64_t seed, one_cache_fn one_cache);

#endif
