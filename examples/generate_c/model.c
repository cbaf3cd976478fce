#include "model.h"

#include <math.h>
#include <string.h>

typedef struct {
    float query[DIM * DIM];
    float key[DIM * KV_DIM];
    float value[DIM * KV_DIM];
    float output[DIM * DIM];
    float gate[DIM * HIDDEN];
    float up[DIM * HIDDEN];
    float down[HIDDEN * DIM];
} layer_weights_t;

static float embedding[VOCAB * DIM];
static layer_weights_t layer_weights[LAYERS];
static float unembedding[DIM * VOCAB];

/* SplitMix64, as a number from 0 up to 1 that a float holds exactly. */
static float uniform(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return (float)(z >> 40) / 16777216.0f;
}

/* A row of outputs for each input; keeps the size of what passes through, times gain. */
static void fill(uint64_t *rng, float *matrix, int inputs, int outputs, float gain)
{
    float scale = gain * sqrtf(3.0f / (float)inputs);
    for (int i = 0; i < inputs * outputs; i++) {
        matrix[i] = (2.0f * uniform(rng) - 1.0f) * scale;
    }
}

void model_init(void)
{
    uint64_t rng = 2024;
    fill(&rng, embedding, VOCAB, DIM, 64.0f);
    for (uint32_t layer = 0; layer < LAYERS; layer++) {
        layer_weights_t *weights = &layer_weights[layer];
        fill(&rng, weights->query, DIM, DIM, 1.0f);
        if (model_has_own_kv(layer)) {
            fill(&rng, weights->key, DIM, KV_DIM, 1.0f);
            fill(&rng, weights->value, DIM, KV_DIM, 1.0f);
        }
        fill(&rng, weights->output, DIM, DIM, 1.0f);
        fill(&rng, weights->gate, DIM, HIDDEN, 1.0f);
        fill(&rng, weights->up, DIM, HIDDEN, 1.0f);
        fill(&rng, weights->down, HIDDEN, DIM, 1.0f);
    }
    /* The gain sets how sure the model is of the next byte. */
    fill(&rng, unembedding, DIM, VOCAB, 4.0f);
}

/* Sums over the inputs in order, all outputs side by side. */
static void apply(const float *matrix, const float *input, int inputs, float *output, int outputs)
{
    memset(output, 0, (size_t)outputs * sizeof *output);
    for (int i = 0; i < inputs; i++) {
        for (int j = 0; j < outputs; j++) {
            output[j] += input[i] * matrix[i * outputs + j];
        }
    }
}

/* RMSNorm. */
static void normalise(const float *state, float *out)
{
    float squares = 0.0f;
    for (int i = 0; i < DIM; i++) {
        squares += state[i] * state[i];
    }
    float scale = 1.0f / sqrtf(squares / (float)DIM + 1e-6f);
    for (int i = 0; i < DIM; i++) {
        out[i] = state[i] * scale;
    }
}

/* Rotary position embedding: turns each pair of elements of each head by its angle. */
static void rotate(float *heads, int n_heads, uint32_t position)
{
    enum { HALF = HEAD_DIM / 2 };
    /* How fast each pair turns: 10000 to the power of -i/8. Written out, since not every powf answers the same last
     * digit. */
    static const float turns[HALF] = {1.0f,  0.31622777f,   0.1f,   0.031622775f,
                                      0.01f, 0.0031622776f, 0.001f, 0.00031622776f};
    for (int i = 0; i < HALF; i++) {
        float angle = (float)position * turns[i];
        float sine = sinf(angle), cosine = cosf(angle);
        for (float *head = heads; head < heads + n_heads * HEAD_DIM; head += HEAD_DIM) {
            float a = head[i], b = head[i + HALF];
            head[i] = a * cosine - b * sine;
            head[i + HALF] = a * sine + b * cosine;
        }
    }
}

void model_embed(uint8_t token, float *state)
{
    memcpy(state, &embedding[token * DIM], DIM * sizeof *state);
}

void model_project(uint32_t layer, const float *state, uint32_t position, float *queries, float *key, float *value)
{
    const layer_weights_t *weights = &layer_weights[layer];
    float input[DIM];
    normalise(state, input);
    apply(weights->query, input, DIM, queries, DIM);
    rotate(queries, HEADS, position);
    if (model_has_own_kv(layer)) {
        apply(weights->key, input, DIM, key, KV_DIM);
        rotate(key, KV_HEADS, position);
        apply(weights->value, input, DIM, value, KV_DIM);
    }
}

void model_finish(uint32_t layer, float *state, const float *gathered)
{
    const layer_weights_t *weights = &layer_weights[layer];
    float change[DIM], input[DIM], hidden[HIDDEN], up[HIDDEN];
    apply(weights->output, gathered, DIM, change, DIM);
    for (int i = 0; i < DIM; i++) {
        state[i] += change[i];
    }
    normalise(state, input);
    apply(weights->gate, input, DIM, hidden, HIDDEN);
    apply(weights->up, input, DIM, up, HIDDEN);
    for (int i = 0; i < HIDDEN; i++) {
        hidden[i] = hidden[i] / (1.0f + expf(-hidden[i])) * up[i];
    }
    apply(weights->down, hidden, HIDDEN, change, DIM);
    for (int i = 0; i < DIM; i++) {
        state[i] += change[i];
    }
}

void model_logits(const float *state, float *logits)
{
    float input[DIM];
    normalise(state, input);
    apply(unembedding, input, DIM, logits, VOCAB);
}

uint8_t model_sample(const float *logits, uint32_t place, uint32_t attempt)
{
    enum { FIRST = ' ', LAST = '~' };
    float highest = -INFINITY, total = 0.0f;
    for (int token = FIRST; token <= LAST; token++) {
        highest = fmaxf(highest, logits[token]);
    }
    for (int token = FIRST; token <= LAST; token++) {
        total += expf(logits[token] - highest);
    }
    uint64_t rng = (uint64_t)attempt << 32 | place;
    float left = uniform(&rng) * total;
    for (int token = FIRST; token < LAST; token++) {
        left -= expf(logits[token] - highest);
        if (left < 0.0f) {
            return (uint8_t)token;
        }
    }
    return LAST;
}
