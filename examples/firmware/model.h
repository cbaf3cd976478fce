/* A tiny random transformer in whole numbers: attention over a K/V cache, sampling, nothing learned. The same
 * numbers come out on every machine: no float, no shift of a negative number, no overflow.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdint.h>

enum {
    VOCAB = 32,
    DIM = 8,
    LAYERS = 4,
    DONOR = 2, /* the last layer uses this one's rows */
    HIGHEST_SCORE = 1 << 20
};

/* The letters that tokens stand for, VOCAB of them. */
extern const char MODEL_LETTERS[];

uint8_t model_token(char letter);
void model_embed(uint8_t token, int32_t *state);

/* What layer makes of one token: its query, and key and value for its row. */
void model_query(uint32_t layer, const int32_t *state, int32_t *query);
void model_row(uint32_t layer, const int32_t *state, int16_t *key, int16_t *value);

/* How much a query wants a row that is `distance` tokens back. Below HIGHEST_SCORE. */
int32_t model_score(const int32_t *query, const int16_t *key, uint32_t distance);

/* The weight of a score in the average, when `highest` is the highest of all. */
int32_t model_weight(int32_t score, int32_t highest);

/* Adds what attention gathered to the state. */
void model_finish(uint32_t layer, int32_t *state, const int32_t *gathered);

/* The next token: the likeliest one, with a luck that depends on its place and on the attempt. */
uint8_t model_sample(const int32_t *state, uint32_t place, uint32_t attempt);

#endif
