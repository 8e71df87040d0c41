/* Adds two vectors on the device, with two streams and events between them. The argument is the file of PTX. */
#include <string.h>

#include "driver.h"

enum { N = 10000 };
static float a[N], b[N], sum[N];
static int notified;

static void notify(void *data) { *(int *)data = 1; }

int main(int count, char **arguments)
{
    REQUIRE(count == 2);
    begin();
    int devices = 0, version = 0;
    char name[64] = "";
    OK(cuDeviceGetCount(&devices));
    OK(cuDriverGetVersion(&version));
    OK(cuDeviceGetName(name, sizeof name, 0));
    REQUIRE(devices >= 1 && strlen(name) > 0);

    module module;
    function vector_add;
    OK(cuModuleLoadData(&module, read_file(arguments[1])));
    OK(cuModuleGetFunction(&vector_add, module, "vector_add"));

    for (int i = 0; i < N; i++) {
        a[i] = (float)i;
        b[i] = 2.0f * (float)i;
    }
    stream first, second;
    event start, uploaded, end;
    OK(cuStreamCreate(&first, 1));
    OK(cuStreamCreate(&second, 1));
    OK(cuEventCreate(&start, 0));
    OK(cuEventCreate(&uploaded, 0));
    OK(cuEventCreate(&end, 0));
    address device_a, device_b, device_sum;
    OK(cuMemAlloc_v2(&device_a, sizeof a));
    OK(cuMemAlloc_v2(&device_b, sizeof b));
    OK(cuMemAlloc_v2(&device_sum, sizeof sum));

    OK(cuEventRecord(start, first));
    OK(cuMemcpyHtoDAsync_v2(device_a, a, sizeof a, first));
    OK(cuMemcpyHtoDAsync_v2(device_b, b, sizeof b, first));
    OK(cuEventRecord(uploaded, first));
    OK(cuStreamWaitEvent(second, uploaded, 0));
    unsigned n = N;
    void *parameters[] = {&device_a, &device_b, &device_sum, &n};
    OK(cuLaunchKernel(vector_add, (N + 255) / 256, 1, 1, 256, 1, 1, 0, second, parameters, NULL));
    OK(cuMemcpyDtoHAsync_v2(sum, device_sum, sizeof sum, second));
    OK(cuEventRecord(end, second));
    OK(cuLaunchHostFunc(second, notify, &notified));
    OK(cuStreamSynchronize(second));
    REQUIRE(notified);
    for (int i = 0; i < N; i++)
        REQUIRE(sum[i] == 3.0f * (float)i);
    float milliseconds = -1.0f;
    OK(cuEventElapsedTime(&milliseconds, start, end));
    REQUIRE(milliseconds > 0.0f);

    OK(cuMemFree_v2(device_a));
    OK(cuMemFree_v2(device_b));
    OK(cuMemFree_v2(device_sum));
    OK(cuEventDestroy_v2(start));
    OK(cuEventDestroy_v2(uploaded));
    OK(cuEventDestroy_v2(end));
    OK(cuStreamDestroy_v2(first));
    OK(cuStreamDestroy_v2(second));
    OK(cuModuleUnload(module));
    OK(cuDevicePrimaryCtxRelease_v2(0));
    printf("%d sums on %d devices of CUDA %d\n", N, devices, version);
    return 0;
}
