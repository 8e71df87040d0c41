/* What goes wrong comes back as a status, with a name and a text. */
#include <string.h>

#include "driver.h"

int main(void)
{
    int count;
    device device;
    address memory;
    EXPECT(NOT_INITIALIZED, cuDeviceGetCount(&count));
    EXPECT(NOT_INITIALIZED, cuMemAlloc_v2(&memory, 4));
    EXPECT(INVALID_VALUE, cuInit(1));
    begin();
    EXPECT(INVALID_VALUE, cuDeviceGetCount(NULL));
    EXPECT(INVALID_DEVICE, cuDeviceGet(&device, 1000));
    EXPECT(INVALID_VALUE, cuMemFree_v2(12345));
    char host[4];
    EXPECT(INVALID_VALUE, cuMemcpyDtoH_v2(host, 12345, sizeof host));

    const char *text = NULL;
    OK(cuGetErrorName(ILLEGAL_ADDRESS, &text));
    REQUIRE(strcmp(text, "CUDA_ERROR_ILLEGAL_ADDRESS") == 0);
    OK(cuGetErrorString(ILLEGAL_ADDRESS, &text));
    REQUIRE(strlen(text) > 0);
    EXPECT(INVALID_VALUE, cuGetErrorName(12345, &text));
    REQUIRE(text == NULL);

    /* A module that is none, with the log of the compiler: options 5 and 6 are its buffer and the buffer's size. */
    static char log[1000];
    int options[] = {5, 6};
    void *values[] = {log, (void *)sizeof log};
    module module;
    EXPECT(INVALID_PTX, cuModuleLoadDataEx(&module, ".version 9.0\n.target sm_90\n.address_size 64\nnonsense", 2, options, values));
    REQUIRE(strlen(log) > 0);
    puts(log);
    return 0;
}
