/* Every function of the header, misused in every way: the status is exact, is told of in exactly one event, and
 * nothing has changed, neither an object nor a result. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "misuse.h"

/* A build that knows where the header is says so; else it stands beside the tests. */
#ifndef KVC_HEADER
#define KVC_HEADER NULL
#endif

#define RUN_MISUSE(function)             \
    static void run_##function(void)     \
    {                                    \
        world_build();                   \
        misuse_of_##function();          \
    }
EVERY_FUNCTION(RUN_MISUSE)

#define MISUSE_CASE(function) {#function, run_##function},
static const test_case_t misuses[] = {EVERY_FUNCTION(MISUSE_CASE)};
enum { N_MISUSES = sizeof misuses / sizeof misuses[0] };

static char *read_header(void)
{
    static const char beside[] = "../../include/kvcore.h";
    static char path[4096];
    const char *given = KVC_HEADER;
    const char *slash = strrchr(__FILE__, '/');
    int folder = slash == NULL ? 0 : (int)(slash - __FILE__ + 1);
    snprintf(path, sizeof path, "%.*s%s", folder, __FILE__, beside);
    FILE *file = fopen(given == NULL ? path : given, "rb");
    if (file == NULL) {
        give_up("the header cannot be read: define KVC_HEADER as its path");
    }
    static char text[1 << 20];
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = 0;
    return text;
}

static void blank(char *from, const char *to)
{
    for (; from < to; from++) {
        *from = *from == '\n' ? '\n' : ' ';
    }
}

/* Blanks comments and the bodies of inline functions. */
static void keep_declarations(char *text)
{
    for (char *at = text; *at != 0; at++) {
        const char *end = NULL;
        if (strncmp(at, "//", 2) == 0) {
            end = strchr(at, '\n');
        } else if (strncmp(at, "/*", 2) == 0) {
            end = strstr(at, "*/") + 2;
        } else if (strncmp(at, "static inline", 13) == 0) {
            end = strchr(at, '}');
        }
        if (end != NULL) {
            blank(at, end);
        }
    }
}

/* The next name that begins with "kvc_" and is followed by a parenthesis, from `*at` on; NULL behind the last one. */
static const char *next_function(char **at)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789";
    static char name[128];
    char *found;
    while ((found = strstr(*at, "kvc_")) != NULL) {
        size_t length = strspn(found, letters);
        *at = found + length;
        if (found[length] == '(' && length < sizeof name) {
            memcpy(name, found, length);
            name[length] = 0;
            return name;
        }
    }
    return NULL;
}

static size_t find_misuse(const char *name)
{
    size_t i = 0;
    while (i < N_MISUSES && strcmp(misuses[i].name, name) != 0) {
        i++;
    }
    return i;
}

static void every_function_of_the_header_is_misused(void)
{
    unsigned declared[N_MISUSES] = {0};
    char *at = read_header();
    const char *name;
    keep_declarations(at);
    while ((name = next_function(&at)) != NULL) {
        size_t i = find_misuse(name);
        if (!CHECK(i < N_MISUSES)) {
            fprintf(stderr, "%s has no misuse test\n", name);
            continue;
        }
        declared[i]++;
    }
    for (size_t i = 0; i < N_MISUSES; i++) {
        if (!CHECK_EQ(1, declared[i])) {
            fprintf(stderr, "%s is not declared once\n", misuses[i].name);
        }
    }
}

int main(void)
{
    test_case_t cases[N_MISUSES + 1] = {TEST(every_function_of_the_header_is_misused)};
    memcpy(cases + 1, misuses, sizeof misuses);
    return RUN_ALL(cases);
}
