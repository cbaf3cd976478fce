/* Misuse of the functions of token trees. */

#include "edge.h"
#include "misuse.h"
#include "rng.h"

#define OUT (&world.out)

enum { N = 4, MOST = 256 };
static const int32_t parents[N] = {-1, 0, 0, 1};
static const uint32_t rows[N] = {6, 7, 0, 1};

/* One of the three functions with everything in order but the tree. */
typedef kvc_status_t (*tree_call_t)(const int32_t *tree, uint32_t n);

static void refuse_bad_trees(tree_call_t call)
{
    REFUSED(KVC_ERR_INVALID_ARGUMENT, call(NULL, N));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, call((const int32_t *)off_by(parents, 2), N - 1));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, call(parents, 0));
    /* A tree of more than 256 nodes is refused before it is read. */
    const int32_t *edge = (const int32_t *)at_edge(sizeof *edge, 0xFF);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, call(edge, MOST + 1));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, call(edge, UINT32_MAX));
    static const int32_t bad[][N] = {
        {0, 0, 1, 2},  {-1, 1, 0, 0},         {-1, 0, 1, 3}, {-1, 0, 1, 4},
        {-2, 0, 1, 2}, {-1, 0, INT32_MIN, 2}, {-1, 0, 1, INT32_MAX}, {1, -1, -1, -1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        REFUSED(KVC_ERR_INVALID_ARGUMENT, call(bad[i], N));
    }
}

/* Two arrays in the results whose bytes are shared, whole or in part. `at` counts elements of `size` bytes. */
static void *in_u32(size_t at, size_t size)
{
    return off_by(OUT->u32, at * size);
}

static kvc_status_t positions_of_tree(const int32_t *tree, uint32_t n)
{
    return kvc_tree_positions(tree, n, 0, OUT->u32);
}

void misuse_of_kvc_tree_positions(void)
{
    refuse_bad_trees(positions_of_tree);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_tree_positions(parents, N, 0, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_tree_positions(parents, N, 0, (uint32_t *)off_by(OUT->u32, 2)));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_tree_positions(parents, N, UINT32_MAX, OUT->u32));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_tree_positions(parents, N, UINT32_MAX - 1, OUT->u32));
    for (size_t i = 0; i < N; i++) {
        ((int32_t *)in_u32(8, 4))[i] = parents[i];
    }
    for (size_t at = 5; at < 12; at++) {
        REFUSED(KVC_ERR_INVALID_ARGUMENT,
                kvc_tree_positions((int32_t *)in_u32(8, 4), N, 0, (uint32_t *)in_u32(at, 4)));
    }
    /* Side by side is apart. */
    CHECK_OK(kvc_tree_positions((int32_t *)in_u32(8, 4), N, 0, (uint32_t *)in_u32(4, 4)));
    CHECK_OK(kvc_tree_positions((int32_t *)in_u32(8, 4), N, 0, (uint32_t *)in_u32(12, 4)));
    uint32_t *exact = (uint32_t *)at_edge(N * sizeof *exact, 0);
    CHECK_OK(kvc_tree_positions(parents, N, UINT32_MAX - 2, exact));
    CHECK_EQ(UINT32_MAX, exact[3]);
}

static kvc_status_t intervals_of_tree(const int32_t *tree, uint32_t n)
{
    return kvc_tree_intervals(tree, n, (uint16_t *)in_u32(0, 2), (uint16_t *)in_u32(64, 2));
}

void misuse_of_kvc_tree_intervals(void)
{
    uint16_t *pre = (uint16_t *)in_u32(20, 2), *end = (uint16_t *)in_u32(40, 2);
    refuse_bad_trees(intervals_of_tree);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_tree_intervals(parents, N, NULL, end));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_tree_intervals(parents, N, pre, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_tree_intervals(parents, N, (uint16_t *)off_by(pre, 1), end));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_tree_intervals(parents, N, pre, (uint16_t *)off_by(end, 1)));
    for (size_t at = 17; at < 24; at++) {
        REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_tree_intervals(parents, N, pre, (uint16_t *)in_u32(at, 2)));
    }
    int32_t *tree = (int32_t *)in_u32(30, 4);
    for (size_t i = 0; i < N; i++) {
        tree[i] = parents[i];
    }
    for (size_t at = 57; at < 68; at++) {
        REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_tree_intervals(tree, N, (uint16_t *)in_u32(at, 2), end));
        REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_tree_intervals(tree, N, pre, (uint16_t *)in_u32(at, 2)));
    }
    CHECK_OK(kvc_tree_intervals(tree, N, (uint16_t *)in_u32(56, 2), (uint16_t *)in_u32(68, 2)));
    CHECK_OK(kvc_tree_intervals(parents, N, pre, pre + N));
    pre = (uint16_t *)at_edge(N * sizeof *pre, 0);
    end = (uint16_t *)at_edge(N * sizeof *end, 0);
    CHECK_OK(kvc_tree_intervals(parents, N, pre, end));
}

/* Results of the moves, in memory that is watched. */
#define MOVES ((kvc_move_t *)in_u32(0, 4))
#define N_MOVES (&OUT->u32[60])
#define ACCEPTED (&OUT->u32[61])

static kvc_status_t moves_of_tree(const int32_t *tree, uint32_t n)
{
    return kvc_tree_moves(rows, tree, n, 0, MOVES, N, N_MOVES, ACCEPTED);
}

static void refuse_overlapping_moves(void)
{
    /* Inputs in elements 30 to 33; moves of 3 elements each that begin before, in or at the end of them. */
    uint32_t *input = (uint32_t *)in_u32(30, 4);
    for (size_t i = 0; i < N; i++) {
        input[i] = (uint32_t)parents[i];
    }
    for (size_t at = 19; at < 34; at++) {
        kvc_move_t *out = (kvc_move_t *)in_u32(at, 4);
        REFUSED(KVC_ERR_INVALID_ARGUMENT,
                kvc_tree_moves(rows, (int32_t *)in_u32(30, 4), N, 3, out, N, N_MOVES, ACCEPTED));
        REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_tree_moves(input, parents, N, 3, out, N, N_MOVES, ACCEPTED));
    }
    CHECK_OK(kvc_tree_moves(rows, (int32_t *)in_u32(30, 4), N, 3, (kvc_move_t *)in_u32(18, 4), N, N_MOVES, ACCEPTED));
    CHECK_OK(kvc_tree_moves(rows, (int32_t *)in_u32(30, 4), N, 3, (kvc_move_t *)in_u32(34, 4), N, N_MOVES, ACCEPTED));
}

void misuse_of_kvc_tree_moves(void)
{
    refuse_bad_trees(moves_of_tree);
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_tree_moves(NULL, parents, N, 3, MOVES, N, N_MOVES, ACCEPTED));
    REFUSED(KVC_ERR_INVALID_ARGUMENT,
            kvc_tree_moves((const uint32_t *)off_by(rows, 1), parents, N - 1, 2, MOVES, N, N_MOVES, ACCEPTED));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_tree_moves(rows, parents, N, 3, NULL, N, N_MOVES, ACCEPTED));
    REFUSED(KVC_ERR_INVALID_ARGUMENT,
            kvc_tree_moves(rows, parents, N, 3, (kvc_move_t *)off_by(MOVES, 2), N, N_MOVES, ACCEPTED));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_tree_moves(rows, parents, N, 3, MOVES, N, NULL, ACCEPTED));
    REFUSED(KVC_ERR_INVALID_ARGUMENT,
            kvc_tree_moves(rows, parents, N, 3, MOVES, N, (uint32_t *)off_by(N_MOVES, 1), ACCEPTED));
    REFUSED(KVC_ERR_INVALID_ARGUMENT, kvc_tree_moves(rows, parents, N, 3, MOVES, N, N_MOVES, NULL));
    REFUSED(KVC_ERR_INVALID_ARGUMENT,
            kvc_tree_moves(rows, parents, N, 3, MOVES, N, N_MOVES, (uint32_t *)off_by(ACCEPTED, 3)));
    static const int32_t bad_leaves[] = {-2, N, N + 1, MOST, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof bad_leaves / sizeof bad_leaves[0]; i++) {
        REFUSED(KVC_ERR_INVALID_ARGUMENT,
                kvc_tree_moves(rows, parents, N, bad_leaves[i], MOVES, N, N_MOVES, ACCEPTED));
    }
    refuse_overlapping_moves();

    /* Too small: nothing but the number is written, even where the moves have no place at all. */
    uint32_t n_moves = 77;
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_tree_moves(rows, parents, N, 3, MOVES, 0, &n_moves, ACCEPTED));
    CHECK_EQ(1, n_moves);
    static const int32_t roots[N] = {-1, -1, 1, 2};
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_tree_moves(rows, roots, N, 3, NULL, 0, &n_moves, ACCEPTED));
    CHECK_EQ(3, n_moves);
    REFUSED(KVC_ERR_BUFFER_TOO_SMALL, kvc_tree_moves(rows, roots, N, 3, MOVES, 2, &n_moves, ACCEPTED));
    CHECK_EQ(3, n_moves);
    kvc_move_t *exact = (kvc_move_t *)at_edge(3 * sizeof *exact, 0);
    CHECK_OK(kvc_tree_moves(rows, roots, N, 3, exact, 3, N_MOVES, ACCEPTED));
    CHECK_OK(kvc_tree_moves(rows, roots, N, -1, NULL, 0, N_MOVES, ACCEPTED));

    /* Any rows, also such as no step has: the answer is as long as ever. */
    rng_t rng = {11};
    static const uint32_t interesting[] = {0, 1, 2, 3, UINT32_MAX - 2, UINT32_MAX - 1, UINT32_MAX};
    for (unsigned i = 0; i < 20000; i++) {
        uint32_t any[N];
        for (size_t row = 0; row < N; row++) {
            any[row] = interesting[rng_below(&rng, 7)];
        }
        kvc_status_t status = kvc_tree_moves(any, roots, N, 3, exact, 3, N_MOVES, ACCEPTED);
        CHECK_OK(status);
        CHECK(*N_MOVES <= 3 && *ACCEPTED == 3);
    }
}
