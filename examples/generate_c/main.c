/* A decode loop with the K/V cache outside the model, in plain C against kvcore.h alone.
 *
 *   cargo rustc --release --lib --crate-type staticlib --features capi,panic-handler
 *   cd examples/generate_c
 *   cc -std=c99 -O2 -ffp-contract=off -I ../../include main.c backend.c model.c ../../target/release/libkvcore.a -lm
 *
 * It tells the same story as the Rust example and prints the same tokens (hence -ffp-contract=off: a fused
 * multiply-add would round otherwise). Where to look: backend.c does what plans say, this file is the application.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"

enum {
    WINDOW = 24,
    SINKS = 4,
    FULL = 5,      /* the only layer of the mixed model that sees everything */
    ROLLBACK = 24, /* as many tokens of a ring can be taken back for sure */
    CONTEXT = 8192,
    DRAFTS = 4, /* tokens guessed ahead in one step */
    MOST_PROMPT = 4096,
    MOST_TOKENS = 512
};

/* Longer than a ring, so that it comes round however short the prompt is. */
static const char SECOND_TURN[] = " Go on, and tell me what became of the rows that the window left behind. ";
static const char OTHER_TURN[] = " No, take that back: tell me of the rows that stayed, and of the first ones. ";

static const char *const MODES[] = {"flat", "ring", "sinks", "mixed"};
enum { FLAT, RING, WITH_SINKS, MIXED, N_MODES };

typedef struct {
    kvc_cache_t *cache;
    backend_t backend;
    uint8_t history[CONTEXT]; /* the whole text; its last token is always one that the cache has not seen */
    uint32_t len;
    uint32_t attempt;
} chat_t;

/* ---- the chat: it asks the cache how far it may go; rows and plans are the backend's business ---- */

static uint32_t length(const chat_t *chat)
{
    uint32_t tokens;
    must(kvc_length(chat->cache, &tokens), "kvc_length");
    return tokens;
}

/* Brings the cache up to the last token of the text, whose logits will start the reply. */
static void prefill(chat_t *chat)
{
    static float logits[MAX_STEP][VOCAB];
    uint32_t end = chat->len - 1, at = length(chat);
    bool fits = true;
    if (at < end) {
        must(kvc_can_extend(chat->cache, end - at, &fits), "kvc_can_extend");
    }
    if (!fits) {
        die("the text is longer than the cache's capacity");
    }
    while (at < end) {
        uint32_t n = end - at < MAX_STEP ? end - at : MAX_STEP;
        backend_forward(&chat->backend, chat->history, at + n, n, logits);
        backend_commit(&chat->backend, n);
        at += n;
    }
}

static void append(chat_t *chat, uint8_t token)
{
    if (chat->len == CONTEXT) {
        die("the text is longer than the context");
    }
    chat->history[chat->len++] = token;
}

static void read_text(chat_t *chat, const char *text)
{
    for (; *text != '\0'; text++) {
        append(chat, (uint8_t)*text);
    }
    prefill(chat);
}

/* Guesses what the model will say: the same draws from the model without its layers. */
static void draft(const chat_t *chat, uint32_t n, uint8_t *drafts)
{
    uint8_t last = chat->history[chat->len - 1];
    float state[DIM], logits[VOCAB];
    for (uint32_t i = 0; i < n; i++) {
        model_embed(last, state);
        model_logits(state, logits);
        drafts[i] = last = model_sample(logits, chat->len + i, chat->attempt);
    }
}

/* One step of the last token and n guesses. A guess stays while it is what the model says itself, so the text is the
 * same as without drafts; it grows by the guesses that stayed, and one token. */
static void advance(chat_t *chat, uint32_t n)
{
    static float logits[MAX_STEP][VOCAB];
    uint8_t drafts[DRAFTS];
    uint32_t place = chat->len, accepted = 0;
    if (place + n > CONTEXT) {
        die("the text is longer than the context");
    }
    draft(chat, n, drafts);
    memcpy(&chat->history[place], drafts, n);
    backend_forward(&chat->backend, chat->history, place + n, n + 1, logits);
    for (;;) {
        uint8_t token = model_sample(logits[accepted], place + accepted, chat->attempt);
        append(chat, token);
        if (accepted == n || drafts[accepted] != token) {
            break;
        }
        accepted++;
    }
    backend_commit(&chat->backend, accepted + 1);
}

static void print_escaped(const uint8_t *text, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++) {
        if (text[i] == '\\') {
            putchar('\\');
        }
        putchar(text[i]);
    }
}

/* Generates and prints n tokens: half of them one by one, the others with drafts. */
static void reply(chat_t *chat, uint32_t n)
{
    prefill(chat);
    uint32_t start = chat->len, end = start + n;
    while (chat->len < start + (n + 1) / 2) {
        advance(chat, 0);
    }
    while (chat->len < end) {
        uint32_t room = end - chat->len - 1;
        advance(chat, room < DRAFTS ? room : DRAFTS);
    }
    print_escaped(&chat->history[start], n);
}

/* Cuts the text to len tokens and takes the cache back to the one before the last, so that there are fresh logits to
 * go on from. If a window has dropped what is needed for that, the cache is cleared, and the next prefill reads the
 * text again. */
static void back_to(chat_t *chat, uint32_t len)
{
    uint32_t before = length(chat);
    kvc_status_t status = kvc_rewind(chat->cache, len - 1);
    if (status == KVC_ERR_EVICTED) {
        if (length(chat) != before) {
            die("a refused rewind moved the length");
        }
        status = kvc_clear(chat->cache);
    }
    must(status, "kvc_rewind or kvc_clear");
    chat->len = len;
    chat->attempt++;
}

/* An answer, the same answer again in other words, a second turn, that turn taken back as a whole for another, and the
 * end of its answer once more. */
static void talk(chat_t *chat, const char *prompt, uint32_t n)
{
    read_text(chat, prompt);
    uint32_t answer = chat->len;
    reply(chat, n);
    printf("\\n");

    back_to(chat, answer);
    reply(chat, n);
    printf("\\n");

    uint32_t turn = chat->len;
    read_text(chat, SECOND_TURN);
    reply(chat, n);
    printf("\\n");

    back_to(chat, turn);
    read_text(chat, OTHER_TURN);
    reply(chat, n);
    printf("\\n");

    uint32_t half = (n + 1) / 2, few = half < ROLLBACK ? half : ROLLBACK; /* so few can be taken back in any cache */
    back_to(chat, chat->len - few);
    reply(chat, few);
    printf("\n");
}

/* ---- the model's layers, and the owners of the cache ---- */

static kvc_config_t configure(int mode, kvc_layer_t layers[LAYERS])
{
    for (uint32_t i = 0; i < LAYERS; i++) {
        /* Five sliding layers to a full one in the mixed model, as in Gemma. */
        bool flat = mode == FLAT || (mode == MIXED && i == FULL);
        layers[i] = (kvc_layer_t){
            .kind = flat ? KVC_LAYER_FLAT : KVC_LAYER_RING,
            .window = flat ? 0 : WINDOW,
            .sinks = mode == WITH_SINKS ? SINKS : 0,
            .n_kv_heads = KV_HEADS,
            .head_dim = HEAD_DIM,
        };
    }
    layers[LAYERS - 1] = layers[DONOR];
    layers[LAYERS - 1].shares_with = DONOR + 1;

    kvc_config_t config = kvc_config_default();
    config.capacity = CONTEXT;
    config.n_layers = LAYERS;
    config.n_layer_entries = LAYERS;
    config.layers = layers;
    config.max_write = MAX_STEP;
    config.rollback = ROLLBACK;
    config.initial_capacity = 16; /* small, so that the pools have to grow */
    return config;
}

static void note_end(void *ended, void *storage)
{
    (void)storage;
    *(bool *)ended = true;
}

/* One chat with one kind of cache. The cache has three owners, as in a real runtime: the application, the registry's
 * entry and the backend. It stays until the last of them went, and no longer. */
static void run(int mode, const char *prompt, uint32_t n)
{
    KVC_STORAGE(storage, KVC_SEQUENCE_BYTES_FOR(LAYERS));
    static chat_t chat;
    memset(&chat, 0, sizeof chat);
    kvc_layer_t layers[LAYERS];
    kvc_config_t config = configure(mode, layers);
    kvc_session_t session;
    kvc_cache_t *found;
    bool ended = false;

    must(kvc_sequence_init(storage, sizeof storage, &config, &chat.cache), "kvc_sequence_init");
    must(kvc_cache_on_release(chat.cache, note_end, &ended), "kvc_cache_on_release");
    must(kvc_session_open(&session, kvc_registry_global(), NULL, chat.cache), "kvc_session_open");
    backend_attach(&chat.backend, kvc_registry_global(), session.key);

    printf("tokens %s: ", MODES[mode]);
    talk(&chat, prompt, n);

    must(kvc_session_close(&session), "kvc_session_close");
    must(kvc_cache_release(chat.cache), "kvc_cache_release");
    if (kvc_registry_get(kvc_registry_global(), session.key, &found) != KVC_ERR_NOT_FOUND || ended) {
        die("the session is closed: only the backend should have the cache now");
    }
    backend_detach(&chat.backend);
    if (!ended) {
        die("the last owner went, and the cache has not ended");
    }
}

/* ---- the command line ---- */

typedef struct {
    const char *prompt, *mode;
    uint32_t tokens;
} options_t;

static const char HELP[] =
    "Generates text with a small random model whose K/V cache is kept by kvcore.\n\n"
    "usage: generate [--prompt TEXT] [--tokens N] [--mode MODE]\n\n"
    "  --prompt TEXT  what the chat begins with, 1 to 4096 bytes of any kind\n"
    "  --tokens N     tokens of each reply, 1 to 512 (24)\n"
    "  --mode MODE    flat, ring, sinks, mixed or all (all)\n"
    "  --help         this text\n";

/* Ends the program: a command line that makes no sense. */
static void refuse(const char *complaint, const char *what)
{
    fprintf(stderr, "error: %s%s (--help tells more)\n", complaint, what);
    exit(2);
}

static bool wanted(const options_t *options, int mode)
{
    return strcmp(options->mode, "all") == 0 || strcmp(options->mode, MODES[mode]) == 0;
}

static uint32_t parse_tokens(const char *value)
{
    char *end;
    long tokens = strtol(value, &end, 10);
    if (*end != '\0' || tokens < 1 || tokens > MOST_TOKENS) {
        refuse("a whole number from 1 to 512 is wanted, not --tokens ", value);
    }
    return (uint32_t)tokens;
}

static void check(const options_t *options)
{
    bool known = false;
    for (int mode = 0; mode < N_MODES; mode++) {
        known = known || wanted(options, mode);
    }
    if (!known) {
        refuse("flat, ring, sinks, mixed or all is wanted, not --mode ", options->mode);
    }
    if (*options->prompt == '\0') {
        refuse("the prompt is empty: the model needs a byte to start from", "");
    }
    if (strlen(options->prompt) > MOST_PROMPT) {
        refuse("the prompt has more than 4096 bytes", "");
    }
}

/* False if help is wanted. */
static bool parse(int argc, char **argv, options_t *options)
{
    for (int i = 1; i < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1];
        bool prompt = strcmp(name, "--prompt") == 0, tokens = strcmp(name, "--tokens") == 0;
        if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
            return false;
        }
        if (!prompt && !tokens && strcmp(name, "--mode") != 0) {
            refuse("unknown argument ", name);
        }
        if (value == NULL) {
            refuse("there is no value for ", name);
        } else if (prompt) {
            options->prompt = value;
        } else if (tokens) {
            options->tokens = parse_tokens(value);
        } else {
            options->mode = value;
        }
    }
    check(options);
    return true;
}

int main(int argc, char **argv)
{
    options_t options = {
        "Sing, O goddess, of the cache whose window slides: of rows that are written, and read, and taken back.",
        "all", 24};
    if (!parse(argc, argv, &options)) {
        return fputs(HELP, stdout) < 0 || fflush(stdout) != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    }
    if (!kvc_check_header()) {
        die("kvcore.h and the library are of different versions");
    }
    model_init();
    for (int mode = 0; mode < N_MODES; mode++) {
        if (wanted(&options, mode)) {
            run(mode, options.prompt, options.tokens);
        }
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        die("the text could not be written");
    }
    return EXIT_SUCCESS;
}
