/* A decode loop on bare metal: the K/V cache lives outside the model, and kvcore says which rows to use.
 *
 * Two chats with caches of their own take turns: one model mixes sliding layers with one that sees everything, the
 * other has windows and sinks in every layer. Their rings come round, drafts are guessed and rejected, text is taken
 * back within the window's reach and beyond. Every machine prints the same tokens. main returns how much failed.
 */
#include <string.h>

#include "backend.h"
#include "print.h"

enum {
    WINDOW = 10,
    SINKS = 2,
    FULL = 1,     /* the only layer of the mixed model that sees everything */
    ROLLBACK = 6, /* as many tokens of a ring can be taken back for sure */
    CONTEXT = 96,
    DRAFTS = MAX_STEP - 1,
    RING_ROWS = SINKS + WINDOW + MAX_STEP - 1 + ROLLBACK,
    MIXED_ROWS = CONTEXT + 2 * RING_ROWS,
    SLIDING_ROWS = 3 * RING_ROWS
};

typedef struct {
    kvc_cache_t *cache;
    kvc_session_t session;
    backend_t backend;
    uint8_t history[CONTEXT]; /* the whole text; its last token is always one that the cache has not seen */
    uint32_t len, attempt;
    uint32_t kept, rejected; /* drafts */
    bool ended;
} chat_t;

KVC_STORAGE(mixed_storage, KVC_SEQUENCE_BYTES_FOR(LAYERS));
KVC_STORAGE(sliding_storage, KVC_SEQUENCE_BYTES_FOR(LAYERS));
static row_t mixed_rows[MIXED_ROWS], sliding_rows[SLIDING_ROWS];
static chat_t mixed, sliding;
static int32_t states[MAX_STEP][DIM];

static void prefill(chat_t *chat)
{
    uint32_t at = 0, end = chat->len - 1;
    must(kvc_length(chat->cache, &at), "kvc_length");
    while (at < end) {
        uint32_t n = end - at < MAX_STEP ? end - at : MAX_STEP;
        backend_forward(&chat->backend, chat->history, at + n, n, states);
        backend_commit(&chat->backend, n);
        at += n;
    }
}

static void append(chat_t *chat, uint8_t token)
{
    check(chat->len < CONTEXT, "the text fits the context");
    if (chat->len < CONTEXT) {
        chat->history[chat->len++] = token;
    }
}

static void read_text(chat_t *chat, const char *text)
{
    for (; *text != '\0'; text++) {
        append(chat, model_token(*text));
    }
    prefill(chat);
}

/* Guesses what the model will say: the same draws from the model without its layers. */
static void draft(const chat_t *chat, uint32_t n, uint8_t *drafts)
{
    uint8_t last = chat->history[chat->len - 1];
    for (uint32_t i = 0; i < n; i++) {
        int32_t state[DIM];
        model_embed(last, state);
        drafts[i] = last = model_sample(state, chat->len + i, chat->attempt);
    }
}

/* One step of the last token and n guesses. A guess stays while it is what the model says itself, so the text is the
 * same as without drafts; it grows by the guesses that stayed, and one token. */
static void advance(chat_t *chat, uint32_t n)
{
    uint8_t drafts[DRAFTS];
    uint32_t place = chat->len, accepted = 0;
    draft(chat, n, drafts);
    memcpy(&chat->history[place], drafts, n);
    backend_forward(&chat->backend, chat->history, place + n, n + 1, states);
    for (;;) {
        uint8_t token = model_sample(states[accepted], place + accepted, chat->attempt);
        append(chat, token);
        if (accepted == n || drafts[accepted] != token) {
            break;
        }
        accepted++;
    }
    chat->kept += accepted;
    chat->rejected += n - accepted;
    backend_commit(&chat->backend, accepted + 1);
}

static void show(const char *label, const uint8_t *tokens, uint32_t n)
{
    char letter[2] = {0, 0};
    print(label);
    for (uint32_t i = 0; i < n; i++) {
        letter[0] = MODEL_LETTERS[tokens[i]];
        print(letter);
    }
    print("\n");
}

/* Generates and shows n tokens, in steps with up to `most` drafts. */
static void reply(chat_t *chat, const char *label, uint32_t n, uint32_t most)
{
    uint32_t start = chat->len, end = start + n;
    prefill(chat);
    while (chat->len < end) {
        uint32_t room = end - chat->len - 1;
        advance(chat, room < most ? room : most);
    }
    show(label, &chat->history[start], n);
}

/* Cuts the text to len tokens and takes the cache back to the one before the last. Answers whether the rows that this
 * needs were still there; else the cache is cleared, and the next prefill reads the text again. */
static bool back_to(chat_t *chat, uint32_t len)
{
    uint32_t before = 0, after = 0;
    must(kvc_length(chat->cache, &before), "kvc_length");
    kvc_status_t status = kvc_rewind(chat->cache, len - 1);
    must(kvc_length(chat->cache, &after), "kvc_length");
    if (status == KVC_ERR_EVICTED) {
        check(after == before, "a refused rewind moves nothing");
        must(kvc_clear(chat->cache), "kvc_clear");
    } else {
        must(status, "kvc_rewind");
        check(after == len - 1, "a rewind sets the length");
    }
    chat->len = len;
    chat->attempt++;
    return status == KVC_OK;
}

static void note_end(void *ended, void *storage)
{
    (void)storage;
    *(bool *)ended = true;
}

static kvc_layer_t layer_of(bool flat, uint32_t sinks)
{
    kvc_layer_t layer = {KVC_LAYER_FLAT, 0, 0, 1, DIM, 0};
    if (!flat) {
        layer.kind = KVC_LAYER_RING;
        layer.window = WINDOW;
        layer.sinks = sinks;
    }
    return layer;
}

/* Opens a chat. The cache has three owners: the application, the registry's entry and the backend. */
static void open(chat_t *chat, uint64_t *storage, size_t size, row_t *rows, uint32_t n_rows, const char *key)
{
    kvc_layer_t layers[LAYERS];
    kvc_config_t config = kvc_config_default();
    for (uint32_t i = 0; i < LAYERS; i++) {
        layers[i] = layer_of(chat == &mixed && i == FULL, chat == &mixed ? 0 : SINKS);
    }
    layers[LAYERS - 1].shares_with = DONOR + 1;
    config.capacity = CONTEXT;
    config.n_layers = LAYERS;
    config.n_layer_entries = LAYERS;
    config.layers = layers;
    config.max_write = MAX_STEP;
    config.rollback = ROLLBACK;
    must(kvc_sequence_init(storage, size, &config, &chat->cache), "kvc_sequence_init");
    must(kvc_cache_on_release(chat->cache, note_end, &chat->ended), "kvc_cache_on_release");
    must(kvc_session_open(&chat->session, kvc_registry_global(), key, chat->cache), "kvc_session_open");
    backend_attach(&chat->backend, kvc_registry_global(), chat->session.key, rows, n_rows);
}

/* Lets the owners go, one by one. */
static void close(chat_t *chat)
{
    kvc_cache_t *found = NULL;
    must(kvc_session_close(&chat->session), "kvc_session_close");
    must(kvc_cache_release(chat->cache), "kvc_cache_release");
    check(kvc_registry_get(kvc_registry_global(), chat->session.key, &found) == KVC_ERR_NOT_FOUND,
          "a closed session leaves no entry");
    check(!chat->ended, "the backend keeps the cache");
    backend_detach(&chat->backend);
    check(chat->ended, "the last owner ends the cache");
}

static void talk(void)
{
    uint32_t turn;
    bool fits = true;
    read_text(&mixed, "the window slides on.");
    read_text(&sliding, "rows come, rows go.");
    reply(&mixed, "mixed 1: ", 20, 0);
    reply(&sliding, "sliding 1: ", 20, DRAFTS);
    turn = mixed.len;
    reply(&mixed, "mixed 2: ", 26, DRAFTS);
    reply(&sliding, "sliding 2: ", 12, DRAFTS);
    check(back_to(&sliding, sliding.len - ROLLBACK), "rollback can always be taken back");
    reply(&sliding, "sliding 3: ", 18, DRAFTS);
    check(!back_to(&mixed, turn), "what a window dropped cannot be taken back");
    reply(&mixed, "mixed 3: ", 30, DRAFTS);
    check(back_to(&mixed, mixed.len - 3), "a few tokens can be taken back");
    reply(&mixed, "mixed 4: ", 8, DRAFTS);
    must(kvc_can_extend(mixed.cache, CONTEXT, &fits), "kvc_can_extend");
    check(!fits, "a text beyond the capacity is foretold");
}

static void check_story(const chat_t *chat)
{
    check(chat->kept > 0, "some drafts were kept");
    check(chat->rejected > 0, "some drafts were rejected");
    check(chat->backend.wraps > 1, "the rings came round");
    print_figure("steps", chat->backend.steps);
    print_figure("drafts kept", chat->kept);
    print_figure("drafts rejected", chat->rejected);
    print_figure("wraps", chat->backend.wraps);
}

int main(void)
{
    check(kvc_check_header(), "header and library are of one version");
    open(&mixed, mixed_storage, sizeof mixed_storage, mixed_rows, MIXED_ROWS, "mixed");
    open(&sliding, sliding_storage, sizeof sliding_storage, sliding_rows, SLIDING_ROWS, NULL);
    check(kvc_session_open(&sliding.session, kvc_registry_global(), "mixed", sliding.cache) ==
              KVC_ERR_ALREADY_EXISTS,
          "a taken key is refused");
    talk();
    check_story(&mixed);
    check_story(&sliding);
    close(&mixed);
    close(&sliding);
    print_figure("failures", failures());
    /* More would not fit an exit status. */
    return failures() < 255 ? (int)failures() : 255;
}
