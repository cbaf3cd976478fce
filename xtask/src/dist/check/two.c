/* An image with two Rust archives: kvcore, whose consumer's main is renamed, and another one. */
#include <stddef.h>
#include <stdint.h>

int consumer_main(void);
uint64_t other_mean(const uint64_t *numbers, const uint8_t *places, size_t n);

int main(void)
{
    const uint64_t numbers[3] = {UINT64_C(3000000000), UINT64_C(5000000000), UINT64_C(1000000000)};
    const uint8_t places[3] = {0, 1, 0};
    uint64_t expected = (2 * numbers[0] + numbers[1]) / 3;
    return other_mean(numbers, places, 3) == expected ? consumer_main() : 253;
}
