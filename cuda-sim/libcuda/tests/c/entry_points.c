/* Functions found by name act on the same driver as those that are linked. */
#include "driver.h"

int main(void)
{
    status (*allocate)(address *, size_t), (*get)(int *);
    void *found;
    int result = -1;
    /* Before cuInit, and for the 32-bit interface of old as for today's. */
    OK(cuGetProcAddress_v2("cuDeviceGetCount", &found, 12000, 0, &result));
    REQUIRE(found && result == 0);
    get = (status (*)(int *))found;
    int count = -1;
    EXPECT(NOT_INITIALIZED, get(&count));
    begin();
    OK(get(&count));
    REQUIRE(count >= 1);

    OK(cuGetProcAddress_v2("cuMemAlloc", &found, 12000, 0, &result));
    REQUIRE(found && result == 0);
    allocate = (status (*)(address *, size_t))found;
    address memory;
    OK(allocate(&memory, 1000));
    OK(cuMemFree_v2(memory));
    EXPECT(INVALID_VALUE, cuMemFree_v2(memory));

    /* 1: there is no such function; 2: there is, for a newer program. */
    OK(cuGetProcAddress_v2("cuMakeCoffee", &found, 12000, 0, &result));
    REQUIRE(!found && result == 1);
    OK(cuGetProcAddress_v2("cuMemAllocAsync", &found, 10000, 0, &result));
    REQUIRE(!found && result == 2);
    return 0;
}
