#include "foreign.h"

#include <string.h>

static foreign_t *called(void *object, const char *name, uint64_t a, uint64_t b, uint64_t c)
{
    foreign_t *it = (foreign_t *)object;
    it->called = name;
    it->arguments[0] = a;
    it->arguments[1] = b;
    it->arguments[2] = c;
    it->input = NULL;
    it->output = NULL;
    return it;
}

static int32_t answer_value(foreign_t *it, uint32_t *out)
{
    *out = it->value;
    return it->answer;
}

static int32_t foreign_declare_step(void *object, const uint32_t *seq_ids, uint32_t n_tokens)
{
    foreign_t *it = called(object, "batch_declare_step", n_tokens, 0, 0);
    it->input = seq_ids;
    return it->answer;
}

static int32_t foreign_can_admit(void *object, uint32_t seq, uint32_t n, bool *out)
{
    foreign_t *it = called(object, "batch_can_admit", seq, n, 0);
    memcpy(out, &it->truth, 1);
    return it->answer;
}

static int32_t foreign_seq_new(void *object, uint32_t *out_seq)
{
    return answer_value(called(object, "batch_seq_new", 0, 0, 0), out_seq);
}

static int32_t foreign_seq_clone(void *object, uint32_t src, uint32_t upto, uint32_t *out_seq)
{
    return answer_value(called(object, "batch_seq_clone", src, upto, 0), out_seq);
}

static int32_t foreign_seq_remove(void *object, uint32_t seq, uint32_t from, uint32_t to)
{
    return called(object, "batch_seq_remove", seq, from, to)->answer;
}

static int32_t foreign_seq_release(void *object, uint32_t seq)
{
    return called(object, "batch_seq_release", seq, 0, 0)->answer;
}

static int32_t foreign_seq_keep(void *object, uint32_t seq)
{
    return called(object, "batch_seq_keep", seq, 0, 0)->answer;
}

static int32_t foreign_seq_shift(void *object, uint32_t seq, uint32_t from, uint32_t to, int32_t delta)
{
    foreign_t *it = called(object, "batch_seq_shift", seq, from, to);
    it->arguments[3] = (uint32_t)delta;
    return it->answer;
}

static int32_t foreign_rewind(void *object, uint32_t seq, uint32_t new_len)
{
    return called(object, "batch_rewind", seq, new_len, 0)->answer;
}

static int32_t foreign_seq_len(void *object, uint32_t seq, uint32_t *out)
{
    return answer_value(called(object, "batch_seq_len", seq, 0, 0), out);
}

static int32_t foreign_next_pos(void *object, uint32_t seq, uint32_t *out)
{
    return answer_value(called(object, "batch_next_pos", seq, 0, 0), out);
}

static int32_t foreign_first_pos(void *object, uint32_t seq, uint32_t *out)
{
    return answer_value(called(object, "batch_first_pos", seq, 0, 0), out);
}

static int32_t foreign_free_rows(void *object, uint32_t *out)
{
    return answer_value(called(object, "batch_free_rows", 0, 0, 0), out);
}

static int32_t foreign_place_cells(void *object, uint32_t layer, const uint32_t *positions, uint32_t n,
                                   uint32_t *cells, kvc_cell_step_t *out)
{
    foreign_t *it = called(object, "cells_place_step", layer, n, 0);
    it->input = positions;
    it->output = cells;
    if (it->answer == KVC_OK) {
        memset(cells, 0x11, n * sizeof *cells);
    }
    memset(out, 0x22, sizeof *out);
    return it->answer;
}

static int32_t foreign_mask_bytes(void *object, uint32_t layer, uint8_t *out, size_t size, size_t row_stride)
{
    foreign_t *it = called(object, "cells_mask_bytes", layer, size, row_stride);
    it->output = out;
    return it->answer;
}

static int32_t foreign_mask_bits(void *object, uint32_t layer, uint32_t *out, size_t words, size_t row_words)
{
    foreign_t *it = called(object, "cells_mask_bits", layer, words, row_words);
    it->output = out;
    return it->answer;
}

static int32_t foreign_shifts(void *object, uint32_t layer, kvc_shift_t *out, uint32_t cap, uint32_t *n)
{
    foreign_t *it = called(object, "cells_shifts", layer, cap, 0);
    it->output = out;
    return answer_value(it, n);
}

static int32_t foreign_shifts_done(void *object)
{
    return called(object, "cells_shifts_done", 0, 0, 0)->answer;
}

static int32_t foreign_defrag(void *object, uint32_t layer, kvc_move_t *out, uint32_t cap, uint32_t *n)
{
    foreign_t *it = called(object, "cells_defrag", layer, cap, 0);
    it->output = out;
    return answer_value(it, n);
}

static int32_t foreign_place_rows(void *object, uint32_t layer, const uint32_t *positions, uint32_t n,
                                  kvc_span_t *out, uint32_t cap, uint32_t *n_spans)
{
    foreign_t *it = called(object, "rows_place_step", layer, n, cap);
    it->input = positions;
    it->output = out;
    return answer_value(it, n_spans);
}

kvc_external_t foreign_table(uint32_t kind)
{
    kvc_external_t it;
    memset(&it, 0, sizeof it);
    it.struct_size = (uint32_t)sizeof it;
    it.kind = kind;
    it.batch_declare_step = foreign_declare_step;
    it.batch_can_admit = foreign_can_admit;
    it.batch_seq_new = foreign_seq_new;
    it.batch_seq_clone = foreign_seq_clone;
    it.batch_seq_remove = foreign_seq_remove;
    it.batch_seq_release = foreign_seq_release;
    it.batch_seq_keep = foreign_seq_keep;
    it.batch_seq_shift = foreign_seq_shift;
    it.batch_rewind = foreign_rewind;
    it.batch_seq_len = foreign_seq_len;
    it.batch_next_pos = foreign_next_pos;
    it.batch_first_pos = foreign_first_pos;
    it.batch_free_rows = foreign_free_rows;
    it.cells_place_step = foreign_place_cells;
    it.cells_mask_bytes = foreign_mask_bytes;
    it.cells_mask_bits = foreign_mask_bits;
    it.cells_shifts = foreign_shifts;
    it.cells_shifts_done = foreign_shifts_done;
    it.cells_defrag = foreign_defrag;
    it.rows_place_step = foreign_place_rows;
    return it;
}
