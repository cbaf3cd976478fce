#include "runs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "support.h"

static one_cache_fn drive_one_cache;
static uint64_t operations_of_a_run, last_seed;

static void run_seed(uint64_t first)
{
    rng_t rng = {first};
    tally_t tally = {0, 0};
    uint64_t n_caches = 0;
    while (tally.operations < operations_of_a_run) {
        drive_one_cache(&rng, &tally);
        n_caches++;
    }
    printf("seed %" PRIu64 ": %" PRIu64 " operations, ", first, tally.operations);
    if (tally.refused > 0) {
        printf("%" PRIu64 " refused, ", tally.refused);
    }
    printf("on %" PRIu64 " caches\n", n_caches);
}

static void test_random_operations(void)
{
    static const uint64_t fixed[] = {1, 2, 3};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        run_seed(fixed[i]);
    }
    run_seed(last_seed);
}

int run_at_random(int argc, char **argv, uint64_t operations, uint64_t seed, one_cache_fn one_cache)
{
    static const test_case_t cases[] = {TEST(test_random_operations)};
    drive_one_cache = one_cache;
    operations_of_a_run = argc > 1 ? strtoull(argv[1], NULL, 10) : operations;
    last_seed = argc > 2 ? strtoull(argv[2], NULL, 10) : seed;
    return RUN_ALL(cases);
}
