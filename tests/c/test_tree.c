/* Token trees through the C ABI: the cases T1 to T6, every small tree, and random trees over caches whose pools wrap:
 * after the moves and the commit every row in the window holds the accepted path. */

#include <string.h>

#include "models.h"
#include "naive.h"
#include "rng.h"
#include "support.h"

enum { MOST = 256 };

static uint64_t storage[CACHE_BYTES / 8];
static uint64_t other_storage[CACHE_BYTES / 8];

/* The nodes from the committed prefix to `leaf`, in order; answers how many. */
static uint32_t path_to(const int32_t *parents, int32_t leaf, uint32_t *path)
{
    uint32_t n = 0, at = 0;
    for (int32_t node = leaf; node >= 0; node = parents[node]) {
        n++;
    }
    for (int32_t node = leaf; node >= 0; node = parents[node]) {
        path[n - ++at] = (uint32_t)node;
    }
    return n;
}

static uint32_t rows_of(const kvc_seq_plan_t *plan, uint32_t *rows)
{
    uint32_t n = 0;
    for (uint32_t run = 0; run < plan->n_write; run++) {
        for (uint32_t i = 0; i < plan->write[run].len; i++) {
            rows[n++] = plan->write[run].start + i;
        }
    }
    return n;
}

/* Row by row, ascending. */
static void carry_out(const kvc_move_t *moves, uint32_t n_moves, uint32_t *pool)
{
    for (uint32_t i = 0; i < n_moves; i++) {
        for (uint32_t row = 0; row < moves[i].len; row++) {
            pool[moves[i].to + row] = pool[moves[i].from + row];
        }
    }
}

static void check_move(const kvc_move_t *move, uint32_t from, uint32_t to, uint32_t len)
{
    CHECK_EQ(from, move->from);
    CHECK_EQ(to, move->to);
    CHECK_EQ(len, move->len);
}

static void T1_the_path_becomes_contiguous(void)
{
    static const int32_t parents[] = {-1, 0, 0, 1};
    kvc_cache_t *cache = build_flat(storage, 32);
    step(cache, 5);
    kvc_seq_plan_t plan = plan_next(cache, 4);
    uint32_t rows[4], positions[4], n_moves = 9, accepted = 9;
    kvc_move_t moves[4];
    CHECK_EQ(4, rows_of(&plan, rows));
    CHECK_OK(kvc_tree_positions(parents, 4, plan.position, positions));
    CHECK(positions[0] == 5 && positions[1] == 6 && positions[2] == 6 && positions[3] == 7);
    CHECK_OK(kvc_tree_moves(rows, parents, 4, 3, moves, 4, &n_moves, &accepted));
    CHECK_EQ(1, n_moves);
    CHECK_EQ(3, accepted);
    check_move(moves, 8, 7, 1);
    CHECK_OK(kvc_seq_commit(cache, &plan, accepted));
    CHECK_EQ(8, length_of(cache));
}

static void T2_nothing_is_accepted(void)
{
    static const int32_t parents[] = {-1, 0, 0, 1};
    kvc_cache_t *cache = build_ring(storage, 4, 4, 0);
    step(cache, 3);
    kvc_seq_plan_t plan = plan_next(cache, 4);
    uint32_t rows[4], n_moves = 9, accepted = 9;
    rows_of(&plan, rows);
    CHECK_OK(kvc_tree_moves(rows, parents, 4, -1, NULL, 0, &n_moves, &accepted));
    CHECK_EQ(0, n_moves);
    CHECK_EQ(0, accepted);
    CHECK_OK(kvc_seq_commit(cache, &plan, accepted));
    CHECK_EQ(3, length_of(cache));
}

static void T3_two_roots_see_the_prefix_and_themselves(void)
{
    static const int32_t parents[] = {-1, -1};
    kvc_cache_t *cache = build_flat(storage, 32);
    step(cache, 2);
    kvc_seq_plan_t plan = plan_next(cache, 2);
    uint8_t mask[2][4];
    CHECK_OK(kvc_plan_mask_bytes(&plan, parents, KVC_COLUMNS_READ, mask[0], sizeof mask, 4));
    CHECK(memcmp(mask[0], "\1\1\1\0", 4) == 0);
    CHECK(memcmp(mask[1], "\1\1\0\1", 4) == 0);
    uint16_t pre[2], end[2];
    CHECK_OK(kvc_tree_intervals(parents, 2, pre, end));
    CHECK(pre[0] == 0 && end[0] == 1 && pre[1] == 1 && end[1] == 2);
}

/* (What else is refused is in the misuse tests.) */
static void T4_sizes_of_trees(void)
{
    static int32_t parents[MOST + 1];
    static uint32_t rows[MOST + 1], positions[MOST + 1];
    static uint16_t pre[MOST + 1], end[MOST + 1];
    static kvc_move_t moves[MOST + 1];
    uint32_t n_moves, accepted;
    for (uint32_t n = 0; n <= MOST; n++) {
        parents[n] = (int32_t)n - 1;
        rows[n] = n;
    }
    CHECK_OK(kvc_tree_positions(parents, MOST, 0, positions));
    CHECK_OK(kvc_tree_intervals(parents, MOST, pre, end));
    CHECK_OK(kvc_tree_moves(rows, parents, MOST, MOST - 1, moves, MOST, &n_moves, &accepted));
    CHECK_EQ(MOST, accepted);
    CHECK(positions[MOST - 1] == MOST - 1 && pre[MOST - 1] == MOST - 1 && end[0] == MOST);
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_tree_positions(parents, MOST + 1, 0, positions));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_tree_intervals(parents, MOST + 1, pre, end));
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT,
                 kvc_tree_moves(rows, parents, MOST + 1, -1, moves, MOST + 1, &n_moves, &accepted));
    parents[7] = 7;
    CHECK_STATUS(KVC_ERR_INVALID_ARGUMENT, kvc_tree_positions(parents, 8, 0, positions));
    CHECK_OK(kvc_tree_positions(parents, 7, 0, positions));
}

/* A cache whose rows remember tokens. A token is a number of its own, never 0. */
typedef struct {
    kvc_cache_t *cache;
    naive_layout_t layout;
    uint32_t pool[512];
    uint32_t tokens[512];
    uint32_t next_token;
} pool_t;

typedef struct {
    kvc_seq_plan_t plan;
    const int32_t *parents;
    uint32_t rows[MOST];
    uint32_t tokens[MOST];
} drafts_t;

static void pool_init(pool_t *pool, void *at, const kvc_layer_t *layer, uint32_t max_write, uint32_t rollback)
{
    memset(pool, 0, sizeof *pool);
    kvc_config_t config = config_of(layer, 1, 400);
    config.max_write = max_write;
    config.rollback = rollback;
    pool->cache = build(at, &config);
    pool->layout = naive_layout(layer, max_write, rollback, 400);
    pool->next_token = 1;
}

/* The nodes are written, and each sees the tokens of the prefix and of its own branch that its window has. */
static void draft(pool_t *pool, const int32_t *parents, uint32_t n, drafts_t *out)
{
    static uint32_t positions[MOST], path[MOST], bits[MOST * 16];
    out->plan = plan_next(pool->cache, n);
    out->parents = parents;
    CHECK_EQ(n, rows_of(&out->plan, out->rows));
    CHECK_OK(kvc_tree_positions(parents, n, out->plan.position, positions));
    for (uint32_t node = 0; node < n; node++) {
        out->tokens[node] = pool->next_token++;
        pool->pool[out->rows[node]] = out->tokens[node];
    }
    CHECK_OK(kvc_plan_mask_bits(&out->plan, parents, KVC_COLUMNS_POOL, bits, (size_t)n * 16, 16));
    for (uint32_t node = 0; node < n; node++) {
        uint32_t n_path = path_to(parents, (int32_t)node, path), n_seen = 0, n_expected = 0;
        for (uint32_t row = 0; row < 512; row++) {
            n_seen += bits[node * 16 + row / 32] >> (row % 32) & 1u;
        }
        CHECK_EQ(out->plan.position + n_path - 1, positions[node]);
        for (uint32_t at = 0; at <= positions[node]; at++) {
            if (!naive_sees(&pool->layout.layer, positions[node], at)) {
                continue;
            }
            uint32_t row = at < out->plan.position ? naive_row(&pool->layout, at)
                                                   : out->rows[path[at - out->plan.position]];
            uint32_t token = at < out->plan.position ? pool->tokens[at] : out->tokens[path[at - out->plan.position]];
            CHECK_EQ(token, pool->pool[row]);
            CHECK((bits[node * 16 + row / 32] >> (row % 32) & 1u) == 1);
            n_expected++;
        }
        CHECK_EQ(n_expected, n_seen);
    }
}

static void accept(pool_t *pool, const drafts_t *drafts, int32_t leaf)
{
    static kvc_move_t moves[MOST];
    static uint32_t path[MOST];
    uint32_t n_moves = 0, needed = 0, accepted = 0, n = drafts->plan.n_tokens;
    CHECK_OK(kvc_tree_moves(drafts->rows, drafts->parents, n, leaf, moves, MOST, &n_moves, &accepted));
    if (n_moves > 0) {
        CHECK_STATUS(KVC_ERR_BUFFER_TOO_SMALL, kvc_tree_moves(drafts->rows, drafts->parents, n, leaf, moves,
                                                              n_moves - 1, &needed, &accepted));
        CHECK_EQ(n_moves, needed);
    }
    carry_out(moves, n_moves, pool->pool);
    CHECK_EQ(path_to(drafts->parents, leaf, path), accepted);
    for (uint32_t at = 0; at < accepted; at++) {
        pool->tokens[drafts->plan.position + at] = drafts->tokens[path[at]];
    }
    CHECK_OK(kvc_seq_commit(pool->cache, &drafts->plan, accepted));
    uint32_t length = length_of(pool->cache);
    CHECK_EQ(drafts->plan.position + accepted, length);
    for (uint32_t at = 0; at < length; at++) {
        if (naive_sees(&pool->layout.layer, length, at)) {
            CHECK_EQ(pool->tokens[at], pool->pool[naive_row(&pool->layout, at)]);
        }
    }
}

static void accept_tree(pool_t *pool, const int32_t *parents, uint32_t n, int32_t leaf)
{
    static drafts_t drafts;
    draft(pool, parents, n, &drafts);
    accept(pool, &drafts, leaf);
}

static const int32_t roots[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
static const int32_t chain[8] = {-1, 0, 1, 2, 3, 4, 5, 6};

static void T5_a_tree_and_a_chain_committed_in_either_order(void)
{
    static const int32_t parents[] = {-1, 0, 0, 2, 1, 4};
    static pool_t pools[2];
    static drafts_t drafts[2];
    for (uint32_t first = 0; first < 2; first++) {
        kvc_layer_t layer = ring_with_sinks(4, 2);
        pool_init(&pools[0], storage, &layer, 6, 0);
        pool_init(&pools[1], other_storage, &layer, 6, 0);
        for (uint32_t i = 0; i < 3; i++) {
            accept_tree(&pools[0], chain, 4, 3);
            accept_tree(&pools[1], chain, 5, 4);
        }
        draft(&pools[0], parents, 6, &drafts[0]);
        draft(&pools[1], chain, 5, &drafts[1]);
        accept(&pools[first], &drafts[first], first == 0 ? 5 : 2);
        accept(&pools[1 - first], &drafts[1 - first], first == 0 ? 2 : 5);
        CHECK_EQ(16, length_of(pools[0].cache));
        CHECK_EQ(18, length_of(pools[1].cache));
    }
}

static void T6_moves_follow_the_rows_round_the_ring(void)
{
    static const int32_t parents[] = {-1, 0, 0, 1};
    kvc_cache_t *cache = build_ring(storage, 4, 4, 0);
    step(cache, 4);
    step(cache, 1);
    kvc_seq_plan_t plan = plan_next(cache, 4);
    uint32_t rows[4], n_moves = 0, accepted = 0;
    kvc_move_t moves[4];
    rows_of(&plan, rows);
    CHECK(rows[0] == 5 && rows[1] == 6 && rows[2] == 0 && rows[3] == 1);
    CHECK_OK(kvc_tree_moves(rows, parents, 4, 3, moves, 4, &n_moves, &accepted));
    CHECK_EQ(1, n_moves);
    check_move(moves, 1, 0, 1);
    /* Two roots: every node of the path moves, round the end too. */
    static const int32_t second[] = {-1, -1, 1, 2};
    CHECK_OK(kvc_tree_moves(rows, second, 4, 3, moves, 4, &n_moves, &accepted));
    CHECK_EQ(3, n_moves);
    check_move(&moves[0], 6, 5, 1);
    check_move(&moves[1], 0, 6, 1);
    check_move(&moves[2], 1, 0, 1);
}

/* Every tree of 5 nodes, every leaf, from every place of a ring. */
static void every_small_tree_round_the_ring(void)
{
    static pool_t pool;
    for (uint32_t code = 0; code < 120; code++) {
        int32_t parents[5];
        uint32_t rest = code;
        for (uint32_t node = 0; node < 5; node++) {
            parents[node] = (int32_t)(rest % (node + 1)) - 1;
            rest /= node + 1;
        }
        kvc_layer_t layer = ring_with_sinks(3, code % 3);
        pool_init(&pool, storage, &layer, 5, 0);
        for (uint32_t turn = 0; turn < 24; turn++) {
            accept_tree(&pool, parents, 5, (int32_t)(turn % 6) - 1);
            accept_tree(&pool, roots, 2, 1);
        }
    }
}

/* Intervals say what paths say. */
static void check_intervals(const int32_t *parents, uint32_t n)
{
    static uint16_t pre[MOST], end[MOST];
    static uint32_t path[MOST];
    CHECK_OK(kvc_tree_intervals(parents, n, pre, end));
    for (uint32_t i = 0; i < n; i++) {
        bool seen[MOST] = {false}, right = true;
        uint32_t n_path = path_to(parents, (int32_t)i, path);
        for (uint32_t at = 0; at < n_path; at++) {
            seen[path[at]] = true;
        }
        for (uint32_t j = 0; j < n; j++) {
            right &= seen[j] == (pre[j] <= pre[i] && pre[i] < end[j]);
        }
        CHECK(right);
    }
}

static void random_trees(void)
{
    static pool_t pool;
    static int32_t parents[MOST];
    rng_t rng = {5};
    for (unsigned round = 0; round < 150; round++) {
        uint32_t most = rng_from(&rng, 1, rng_one_in(&rng, 10) ? 256 : 40), shape = rng_below(&rng, 3);
        uint32_t window = rng_from(&rng, 1, 70), sinks = rng_from(&rng, 1, 4);
        kvc_layer_t layer = shape == 0 ? flat_layer() : ring_with_sinks(window, shape == 1 ? 0 : sinks);
        pool_init(&pool, storage, &layer, most, rng_below(&rng, 4));
        for (uint32_t steps = 0; steps < 30 && length_of(pool.cache) + most <= 400; steps++) {
            uint32_t n = rng_from(&rng, 1, most), reach = rng_one_in(&rng, 2) ? 3 : n;
            for (uint32_t node = 0; node < n; node++) {
                uint32_t back = rng_from(&rng, 1, reach < node + 1 ? reach : node + 1);
                parents[node] = (int32_t)(node - back);
            }
            check_intervals(parents, n);
            accept_tree(&pool, parents, n, (int32_t)rng_below(&rng, n + 1) - 1);
        }
    }
}

int main(void)
{
    static const test_case_t cases[] = {
        TEST(T1_the_path_becomes_contiguous),
        TEST(T2_nothing_is_accepted),
        TEST(T3_two_roots_see_the_prefix_and_themselves),
        TEST(T4_sizes_of_trees),
        TEST(T5_a_tree_and_a_chain_committed_in_either_order),
        TEST(T6_moves_follow_the_rows_round_the_ring),
        TEST(every_small_tree_round_the_ring),
        TEST(random_trees),
    };
    return RUN_ALL(cases);
}
