#include "semihosting.h"

#include "../platform.h"

enum { SYS_WRITE0 = 0x04, SYS_GET_CMDLINE = 0x15, SYS_EXIT_EXTENDED = 0x20, APPLICATION_EXIT = 0x20026 };
enum { LONGEST_LINE = 80, MOST_WORDS = 6 };

int main(int argc, char **argv);

void platform_write(const char *text)
{
    semihosting_call(SYS_WRITE0, text);
}

void platform_exit(int status)
{
    const uint32_t block[2] = {APPLICATION_EXIT, (uint32_t)status};
    semihosting_call(SYS_EXIT_EXTENDED, block);
    for (;;) {
    }
}

/* Cuts the line at its spaces. */
static int split(char *line, char **words)
{
    int n = 0;
    while (*line != '\0' && n < MOST_WORDS) {
        words[n++] = line;
        while (*line != '\0' && *line != ' ') {
            line++;
        }
        while (*line == ' ') {
            *line++ = '\0';
        }
    }
    words[n] = 0;
    return n;
}

void run_main(void)
{
    static char line[LONGEST_LINE];
    char *words[MOST_WORDS + 1];
    struct {
        char *text;
        uint32_t size;
    } block = {line, sizeof line};
    if (semihosting_call(SYS_GET_CMDLINE, &block) != 0) {
        line[0] = '\0';
    }
    platform_exit(main(split(line, words), words));
}
