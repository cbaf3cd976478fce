#include "model.h"

const char MODEL_LETTERS[] = "abcdefghijklmnopqrstuvwxyz .,'!?";

enum { EMBED = 100, QUERY, KEY, VALUE, OUT, LUCK, UNIT = 128 };

/* A well mixed number that stands for three others. */
static uint32_t mixed(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t x = a * 0x9e3779b1u ^ b * 0x85ebca6bu ^ c * 0xc2b2ae35u;
    x = (x ^ (x >> 15)) * 0x2c1b3c6du;
    x = (x ^ (x >> 12)) * 0x297a2d39u;
    return x ^ (x >> 15);
}

/* A weight of the model, from -32 to 31. Made anew each time: there is no room for tables. */
static int32_t weight(uint32_t matrix, uint32_t row, uint32_t column)
{
    return (int32_t)(mixed(matrix, row, column) % 64u) - 32;
}

/* Scales so that the largest element is UNIT. */
static void normalise(int32_t *vector)
{
    int32_t largest = 1;
    for (uint32_t i = 0; i < DIM; i++) {
        int32_t size = vector[i] < 0 ? -vector[i] : vector[i];
        largest = size > largest ? size : largest;
    }
    for (uint32_t i = 0; i < DIM; i++) {
        vector[i] = vector[i] * UNIT / largest;
    }
}

static void multiply(uint32_t matrix, const int32_t *vector, int32_t *product)
{
    for (uint32_t i = 0; i < DIM; i++) {
        product[i] = 0;
        for (uint32_t j = 0; j < DIM; j++) {
            product[i] += weight(matrix, i, j) * vector[j];
        }
    }
    normalise(product);
}

uint8_t model_token(char letter)
{
    uint8_t token = 0;
    while (token < VOCAB - 1 && MODEL_LETTERS[token] != letter) {
        token++;
    }
    return token;
}

void model_embed(uint8_t token, int32_t *state)
{
    for (uint32_t i = 0; i < DIM; i++) {
        state[i] = weight(EMBED, token, i);
    }
    normalise(state);
}

static uint32_t matrix_of(uint32_t layer, uint32_t which)
{
    return layer * 1000u + which;
}

void model_query(uint32_t layer, const int32_t *state, int32_t *query)
{
    multiply(matrix_of(layer, QUERY), state, query);
}

void model_row(uint32_t layer, const int32_t *state, int16_t *key, int16_t *value)
{
    int32_t product[DIM];
    multiply(matrix_of(layer, KEY), state, product);
    for (uint32_t i = 0; i < DIM; i++) {
        key[i] = (int16_t)product[i];
    }
    multiply(matrix_of(layer, VALUE), state, product);
    for (uint32_t i = 0; i < DIM; i++) {
        value[i] = (int16_t)product[i];
    }
}

int32_t model_score(const int32_t *query, const int16_t *key, uint32_t distance)
{
    int32_t sum = 0;
    for (uint32_t i = 0; i < DIM; i++) {
        sum += query[i] * key[i];
    }
    return sum / UNIT - (int32_t)(4u * distance);
}

int32_t model_weight(int32_t score, int32_t highest)
{
    int32_t halvings = (highest - score) / 24;
    return halvings > 12 ? 0 : 4096 >> halvings;
}

void model_finish(uint32_t layer, int32_t *state, const int32_t *gathered)
{
    int32_t product[DIM];
    multiply(matrix_of(layer, OUT), gathered, product);
    for (uint32_t i = 0; i < DIM; i++) {
        state[i] += product[i] / 5; /* the token itself counts most */
    }
    normalise(state);
}

uint8_t model_sample(const int32_t *state, uint32_t place, uint32_t attempt)
{
    uint8_t best = 0;
    int32_t highest = -HIGHEST_SCORE;
    for (uint8_t token = 0; token < VOCAB; token++) {
        int32_t embedding[DIM];
        int32_t score = (int32_t)(mixed(LUCK + attempt, place, token) % 48u);
        model_embed(token, embedding);
        for (uint32_t i = 0; i < DIM; i++) {
            /* Each token is likeliest to be followed by others than itself. */
            score += state[i] * embedding[(i + 3u) % DIM] / 256;
        }
        if (score > highest) {
            highest = score;
            best = token;
        }
    }
    return best;
}
