/* The events of the library, written down in order. For tests of one thread. */

#ifndef KVC_TESTS_EVENTS_H
#define KVC_TESTS_EVENTS_H

#include "kvcore.h"

typedef struct {
    uint32_t event;
    kvc_status_t status;
    bool has_key;
    char key[KVC_KEY_BYTES];
} seen_event_t;

/* Forgets what was seen and listens from now on. `kvc_set_event_hook(NULL, NULL)` ends it. */
void events_record(void);

/* How many events there were. Those beyond the 64 that are kept count too. */
size_t events_seen(void);

/* How many of one number there were. */
size_t events_of(uint32_t event);

/* The event at an index below 64 and the number seen, else one that is all zero. */
const seen_event_t *event_at(size_t index);

#endif
