/* A plugin of QEMU: counts the instructions that run from one function's entry to another's, and writes each count on
 * a line of its own to QEMU's log ("-d plugin"). Exact, and the same in every run.
 *
 *   gcc -shared -fPIC -O2 -Wl,--unresolved-symbols=ignore-all count.c -o count.so
 *   qemu-system-arm … -plugin ./count.so,begin=0x1234,end=0x5678 -d plugin
 *
 * QEMU's functions are declared here as its documentation has them: Debian has no package with the header.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef void (*translated_fn)(uint64_t plugin, struct qemu_plugin_tb *block);
typedef void (*executed_fn)(unsigned cpu, void *address);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t plugin, translated_fn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, executed_fn, int flags, void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
void qemu_plugin_outs(const char *);
int qemu_plugin_install(uint64_t plugin, const void *info, int argc, char **argv);

int qemu_plugin_version = 1;

static uint64_t begin, end, executed, executed_at_begin;
static int counting;

static void on_executed(unsigned cpu, void *address)
{
    uint64_t here = (uint64_t)(uintptr_t)address;
    (void)cpu;
    if (here == begin) {
        counting = 1;
        executed_at_begin = executed;
    } else if (here == end && counting) {
        char line[32];
        counting = 0;
        snprintf(line, sizeof line, "%" PRIu64 "\n", executed - executed_at_begin);
        qemu_plugin_outs(line);
    }
    executed++;
}

static void on_translated(uint64_t plugin, struct qemu_plugin_tb *block)
{
    size_t n = qemu_plugin_tb_n_insns(block);
    (void)plugin;
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
        void *address = (void *)(uintptr_t)qemu_plugin_insn_vaddr(instruction);
        qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_executed, 0, address);
    }
}

/* Addresses of Thumb functions are odd; those of instructions are even. */
static uint64_t address_in(const char *text)
{
    return strtoull(text, NULL, 0) & ~UINT64_C(1);
}

int qemu_plugin_install(uint64_t plugin, const void *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "begin=", 6) == 0) {
            begin = address_in(argv[i] + 6);
        } else if (strncmp(argv[i], "end=", 4) == 0) {
            end = address_in(argv[i] + 4);
        }
    }
    qemu_plugin_register_vcpu_tb_trans_cb(plugin, on_translated);
    return 0;
}
