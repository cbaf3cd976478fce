#include "events.h"

#include <string.h>

enum { MOST_KEPT = 64 };

typedef struct {
    seen_event_t kept[MOST_KEPT];
    size_t n_seen;
} record_t;

static record_t record;

static void write_down(void *ctx, uint32_t event, kvc_status_t status, const char *key)
{
    record_t *into = (record_t *)ctx;
    if (into->n_seen < MOST_KEPT) {
        seen_event_t *seen = &into->kept[into->n_seen];
        memset(seen, 0, sizeof *seen);
        seen->event = event;
        seen->status = status;
        seen->has_key = key != NULL;
        if (key != NULL) {
            strncpy(seen->key, key, sizeof seen->key - 1);
        }
    }
    into->n_seen++;
}

void events_record(void)
{
    record.n_seen = 0;
    kvc_set_event_hook(write_down, &record);
}

size_t events_seen(void)
{
    return record.n_seen;
}

size_t events_of(uint32_t event)
{
    size_t n = 0;
    for (size_t i = 0; i < record.n_seen && i < MOST_KEPT; i++) {
        n += record.kept[i].event == event;
    }
    return n;
}

const seen_event_t *event_at(size_t index)
{
    static const seen_event_t none;
    return index < record.n_seen && index < MOST_KEPT ? &record.kept[index] : &none;
}
