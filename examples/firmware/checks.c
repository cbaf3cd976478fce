/* The checks of tests/c/support.h, and the little of <stdio.h> that a test prints with, for a machine without either.
 */
#include <stdarg.h>
#include <stdio.h>

#include "platform.h"
#include "print.h"
#include "support.h"

enum { MOST_PRINTED = 10 };

static uint32_t checks, failures;
static const char *running = "";

static bool count(bool holds, const char *what, const char *file, int line)
{
    checks++;
    if (!holds && failures++ < MOST_PRINTED) {
        print(running);
        print(": ");
        print(file);
        print_figure(" line", (uint64_t)line);
        print(what);
        print("\n");
    }
    return holds;
}

bool check_that(bool holds, const char *what, const char *file, int line)
{
    return count(holds, what, file, line);
}

bool check_equal(uint64_t expected, uint64_t got, const char *what, const char *file, int line)
{
    return count(expected == got, what, file, line);
}

bool check_status(kvc_status_t expected, kvc_status_t got, const char *what, const char *file, int line)
{
    return count(expected == got, what, file, line);
}

void give_up(const char *why)
{
    print(why);
    print("\n");
    platform_exit(1);
}

int run_cases(const test_case_t *cases, size_t n_cases)
{
    for (size_t i = 0; i < n_cases; i++) {
        running = cases[i].name;
        cases[i].run();
    }
    print_figure("checks", checks);
    print_figure("failures", failures);
    /* A program that checked nothing has not passed. */
    return checks > 0 && failures == 0 ? 0 : 1;
}

int printf(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    for (; *format != '\0'; format++) {
        char letter[2] = {*format, '\0'};
        if (*format != '%') {
            print(letter);
        } else if (*++format == 's') {
            print(va_arg(values, const char *));
        } else {
            format += 2;
            print_number(va_arg(values, unsigned long long));
        }
    }
    va_end(values);
    return 0;
}
