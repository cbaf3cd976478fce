/* A small byte-level decoder with random weights that are the same on every machine: RMSNorm, rotary positions,
 * grouped-query attention, a gated MLP. It knows nothing of caches: everything here is about one token, and where
 * K and V live is the caller's business. The Rust example has the same model and sums in the same order.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stdint.h>

enum {
    VOCAB = 256,
    LAYERS = 7,
    DONOR = 4, /* the last layer has no K and V of its own: it attends to those of this one */
    DIM = 64,
    HEADS = 4,
    KV_HEADS = 2,
    HEAD_DIM = 16,
    KV_DIM = KV_HEADS * HEAD_DIM,
    HIDDEN = 128
};

/* Call once. */
void model_init(void);

/* state[DIM] is a token between two layers. */
void model_embed(uint8_t token, float *state);

/* The way into a layer's attention: queries[DIM], and key[KV_DIM] and value[KV_DIM] unless the layer shares them. */
void model_project(uint32_t layer, const float *state, uint32_t position, float *queries, float *key, float *value);

/* The way out: gathered[DIM] is what the queries found. */
void model_finish(uint32_t layer, float *state, const float *gathered);

void model_logits(const float *state, float *logits);

static inline bool model_has_own_kv(uint32_t layer) { return layer != LAYERS - 1; }

/* Draws a printable byte. The draw depends on the place in the text and the attempt only. */
uint8_t model_sample(const float *logits, uint32_t place, uint32_t attempt);

#endif
