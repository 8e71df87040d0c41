/* A kernel that reads behind its memory, and things that are never released; the program does not mind. */
#include "driver.h"

int main(int count, char **arguments)
{
    REQUIRE(count == 2);
    begin();
    module module;
    function vector_add;
    OK(cuModuleLoadData(&module, read_file(arguments[1])));
    OK(cuModuleGetFunction(&vector_add, module, "vector_add"));
    float zeros[64] = {0};
    address memory;
    OK(cuMemAlloc_v2(&memory, sizeof zeros));
    OK(cuMemcpyHtoDAsync_v2(memory, zeros, sizeof zeros, NULL));
    unsigned n = 64 + 1;
    void *parameters[] = {&memory, &memory, &memory, &n};
    OK(cuLaunchKernel(vector_add, 1, 1, 1, 96, 1, 1, 0, NULL, parameters, NULL));
    EXPECT(ILLEGAL_ADDRESS, cuCtxSynchronize());
    printf("done");
    return 0;
}
