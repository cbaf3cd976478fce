/* The binary interface as C99 has it. */

#include "abi.h"
#include "abi_signatures.h"
#include "models.h"

KVC_STORAGE(abi_storage, KVC_SEQUENCE_BYTES_FOR(34));
ABI_CHECK(sizeof abi_storage == KVC_SEQUENCE_BYTES_FOR(34));

static void test_values(void)
{
    abi_check_values();
}

static void test_signatures(void)
{
    CHECK_EQ(80, check_function_signatures());
    check_entry_signatures();
    check_callback_signatures();
}

static void test_static_storage(void)
{
    kvc_layer_t layer = flat_layer();
    kvc_config_t config = config_of(&layer, 1, 16);
    kvc_cache_t *cache = NULL;
    CHECK_OK(kvc_sequence_init(abi_storage, sizeof abi_storage, &config, &cache));
    CHECK_OK(kvc_cache_release(cache));
}

int main(void)
{
    static const test_case_t cases[] = {
        TEST(test_values),
        TEST(test_signatures),
        TEST(test_static_storage),
    };
    return RUN_ALL(cases);
}
