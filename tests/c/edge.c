/* For mmap with MAP_ANONYMOUS, and sysconf. */
#define _DEFAULT_SOURCE

#include "edge.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support.h"

void *at_edge(size_t size, int fill)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t pages = (size + page - 1) / page;
    void *memory = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        give_up("no memory");
    }
    unsigned char *end = (unsigned char *)memory + pages * page;
    if (mprotect(end, page, PROT_NONE) != 0) {
        give_up("no guard page");
    }
    memset(end - size, fill, size);
    return end - size;
}
