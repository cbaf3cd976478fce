/* What calls cost on this machine: their stack, and what they are made of.
 *
 * Stack: see stack.c. Instructions: a plugin of QEMU (plugin/count.c) counts from begin_count to end_count; the "empty" pair
 * tells what of that is not the call. Prints a line "stack NAME BYTES", "count NAME" or "bytes NAME BYTES" for each figure;
 * returns how many calls failed. The caches for many sequences are in measure_batch.c.
 */
#include "measure.h"

#include <string.h>

#if defined(__riscv)
#define MOVE_STACK_POINTER "mv %0, sp"
#else
#define MOVE_STACK_POINTER "mov %0, sp"
#endif

/* A model of 34 layers in three groups: five sliding to a full one, and windows of two sizes. */
enum { LAYERS = 34, WINDOW = 6, MAX_WRITE = 4, ENTRIES = 16, TREE = 4 };

KVC_STORAGE(storage, KVC_SEQUENCE_BYTES_FOR(LAYERS));
KVC_STORAGE(built_storage, KVC_SEQUENCE_BYTES_FOR(1));
KVC_STORAGE(external_storage, KVC_EXTERNAL_BYTES);
KVC_STORAGE(registry_storage, 3072);

static kvc_layer_t layers[LAYERS];
static kvc_config_t config;
static kvc_cache_t *cache;
static kvc_registry_t *registry;
static kvc_seq_plan_t plans[KVC_MAX_GROUPS];
static kvc_session_t session;
static uint32_t position;

/* ---- stack ---- */

static void sequence_size(void)
{
    size_t size = 0;
    MUST(kvc_sequence_size(&config, &size));
    if (size != sizeof storage) {
        failures++;
        print("KVC_SEQUENCE_BYTES_FOR is not what kvc_sequence_size answers\n");
    }
}

static void sequence_init(void) { MUST(kvc_sequence_init(storage, sizeof storage, &config, &cache)); }
static void config_check(void) { MUST(kvc_config_check(&config)); }
static void registry_init(void) { MUST(kvc_registry_init(registry_storage, sizeof registry_storage, &registry)); }
static void registry_deinit(void) { MUST(kvc_registry_deinit(registry)); }
static void registry_erase(void) { MUST(kvc_registry_erase(registry, "key-15")); }
static void session_open(void) { MUST(kvc_session_open(&session, registry, NULL, cache)); }
static void session_close(void) { MUST(kvc_session_close(&session)); }

static void session_drop(void)
{
    at_call = stack_pointer();
    kvc_session_drop(&session);
}

static void commit(void) { MUST(kvc_seq_commit(cache, &plans[0], 2)); }
static void step_back(void) { MUST(kvc_rewind(cache, position + 1)); }
static void clear(void) { MUST(kvc_clear(cache)); }
static void release(void) { MUST(kvc_cache_release(cache)); }
static void sequence_register(void) { MUST(kvc_sequence_register(registry)); }

static void plan(void) { MUST(kvc_seq_plan(cache, 0, position, 2, &plans[0])); }

static void plan_step(void)
{
    uint32_t n_groups = 0;
    MUST(kvc_seq_plan_step(cache, position, 2, plans, KVC_MAX_GROUPS, &n_groups));
}

static void rewind_floor(void)
{
    uint32_t floor = 0;
    MUST(kvc_rewind_floor(cache, &floor));
}

static void can_extend(void)
{
    bool fits = false;
    MUST(kvc_can_extend(cache, 2, &fits));
}

static void get_and_release(void)
{
    kvc_cache_t *found = NULL;
    MUST(kvc_registry_get(registry, "key-15", &found));
    MUST(kvc_cache_release(found));
}

static void install(void)
{
    char key[7] = "key-00";
    for (uint32_t i = 0; i < ENTRIES; i++) {
        key[4] = (char)('0' + i / 10u);
        key[5] = (char)('0' + i % 10u);
        MUST(kvc_registry_install(registry, key, cache));
    }
}

static void cache_config(void)
{
    kvc_config_t answer;
    MUST(kvc_cache_config(cache, &answer));
}

static void cache_layer(void)
{
    kvc_layer_info_t info;
    MUST(kvc_cache_layer(cache, LAYERS - 1, &info));
}

static void layout_plan(void)
{
    kvc_seq_plan_t alone;
    MUST(kvc_layout_plan(&layers[0], MAX_WRITE, 2, 40, 3, &alone));
}

static void mask_of_a_tree(void)
{
    static const int32_t parents[TREE] = {-1, 0, 0, 2};
    static uint8_t bytes[TREE * 32];
    static uint32_t words[TREE];
    kvc_seq_plan_t alone;
    MUST(kvc_layout_plan(&layers[0], MAX_WRITE, 2, 12, TREE, &alone));
    MUST(kvc_plan_mask_bytes(&alone, parents, KVC_COLUMNS_POOL, bytes, sizeof bytes, 32));
    MUST(kvc_plan_mask_bits(&alone, parents, KVC_COLUMNS_READ, words, TREE, 1));
}

static void faces(void)
{
    void *face = NULL;
    MUST(kvc_cache_set_face(cache, "face", &face, NULL));
    MUST(kvc_cache_face(cache, "face", &face));
    MUST(kvc_cache_drop_face(cache, "face"));
}

static void builder_build(void)
{
    kvc_config_t small = config;
    kvc_cache_t *built = NULL;
    small.n_layers = 1;
    small.n_layer_entries = 1;
    MUST(kvc_builder_build(registry, "kvcore", "sequence", &small, built_storage, sizeof built_storage, &built));
    MUST(kvc_cache_release(built));
}

static int32_t external_length(void *object, uint32_t *out)
{
    (void)object;
    *out = 7;
    return KVC_OK;
}

static void external(void)
{
    static kvc_external_t table;
    kvc_cache_t *foreign = NULL;
    uint32_t length = 0;
    table.struct_size = (uint32_t)sizeof table;
    table.kind = KVC_KIND_SEQUENCE;
    table.length = external_length;
    MUST(kvc_external_init(external_storage, sizeof external_storage, &table, &table, &foreign));
    MUST(kvc_length(foreign, &length));
    MUST(kvc_cache_release(foreign));
}

static void measure_stacks(void)
{
    static const struct {
        const char *name;
        void (*call)(void);
    } calls[] = {
        {"kvc_sequence_size", sequence_size},
        {"kvc_config_check", config_check},
        {"kvc_sequence_init", sequence_init},
        {"kvc_registry_init", registry_init},
        {"kvc_session_open", session_open},
        {"kvc_session_close", session_close},
        {"kvc_session_open", session_open},
        {"kvc_session_drop", session_drop},
        {"kvc_registry_install", install},
        {"kvc_registry_get", get_and_release},
        {"kvc_registry_erase", registry_erase},
        {"kvc_seq_plan", plan},
        {"kvc_seq_plan_step", plan_step},
        {"kvc_seq_commit", commit},
        {"kvc_rewind", step_back},
        {"kvc_rewind_floor", rewind_floor},
        {"kvc_can_extend", can_extend},
        {"kvc_clear", clear},
        {"kvc_cache_config", cache_config},
        {"kvc_cache_layer", cache_layer},
        {"kvc_cache_face", faces},
        {"kvc_layout_plan", layout_plan},
        {"kvc_plan_mask", mask_of_a_tree},
        {"kvc_external_init", external},
        {"kvc_sequence_register", sequence_register},
        {"kvc_builder_build", builder_build},
        {"kvc_registry_deinit", registry_deinit},
        {"kvc_cache_release", release},
    };
    position = 0;
    for (uint32_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        measure_stack(calls[i].name, calls[i].call);
    }
}

/* ---- instructions ---- */

__attribute__((noinline)) void begin_count(void);
__attribute__((noinline)) void end_count(void);

void begin_count(void) { __asm__ volatile("" ::: "memory"); }
void end_count(void) { __asm__ volatile("" ::: "memory"); }

static void name_count(const char *name)
{
    print("count ");
    print(name);
    print("\n");
}

/* The name is shown first, so that the counted stretch is the call alone. */
#define COUNT(name, call)   \
    do {                    \
        name_count(name);   \
        begin_count();      \
        status = (call);    \
        end_count();        \
        must(status, name); \
    } while (0)

/* Steps of one token, far enough for every ring to come round at each of its rows: the dearest counts are among them.
 */
static void count_steps(void)
{
    kvc_status_t status;
    uint32_t n_groups = 0;
    for (uint32_t step = 0; step < 40; step++, position++) {
        COUNT("plan_first", kvc_seq_plan(cache, 0, position, 1, &plans[0]));
        COUNT("plan_again", kvc_seq_plan(cache, 0, position, 1, &plans[0]));
        COUNT("commit", kvc_seq_commit(cache, &plans[0], 1));
    }
    for (uint32_t step = 0; step < 40; step++, position++) {
        COUNT("plan_step", kvc_seq_plan_step(cache, position, 1, plans, KVC_MAX_GROUPS, &n_groups));
        COUNT("commit", kvc_seq_commit(cache, &plans[0], 1));
    }
}

static void count_registry(void)
{
    static const char *const keys[] = {"key-00", "key-07", "key-15"};
    kvc_status_t status;
    for (uint32_t i = 0; i < 3; i++) {
        kvc_cache_t *found = NULL;
        COUNT("registry_get", kvc_registry_get(registry, keys[i], &found));
        COUNT("release", kvc_cache_release(found));
    }
}

static void measure_counts(void)
{
    name_count("empty");
    begin_count();
    end_count();
    sequence_init();
    registry_init();
    install();
    position = 0;
    count_steps();
    count_registry();
    registry_deinit();
    release();
}

static void set_model(void)
{
    for (uint32_t i = 0; i < LAYERS; i++) {
        bool full = i % 6u == 5u;
        layers[i].kind = full ? KVC_LAYER_FLAT : KVC_LAYER_RING;
        layers[i].window = full ? 0 : i % 2u == 0 ? WINDOW : 2u * WINDOW;
        layers[i].n_kv_heads = 4;
        layers[i].head_dim = 64;
    }
    config = kvc_config_default();
    config.capacity = 128;
    config.n_layers = LAYERS;
    config.n_layer_entries = LAYERS;
    config.layers = layers;
    config.max_write = MAX_WRITE;
    config.rollback = 2;
}

int main(void)
{
    set_model();
    print_figure("bytes sequence_34_layers", sizeof storage);
    print_figure("bytes registry", kvc_registry_size());
    print_figure("bytes session", sizeof(kvc_session_t));
    print_figure("bytes plan", sizeof(kvc_seq_plan_t));
    print_figure("bytes external", KVC_EXTERNAL_BYTES);
    measure_stacks();
    measure_counts();
    print_figure("failures", failures);
    /* More would not fit an exit status. */
    return failures < 255 ? (int)failures : 255;
}
