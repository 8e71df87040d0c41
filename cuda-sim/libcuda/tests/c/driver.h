/* The part of the driver API that the tests' programs use, under the exported names. */
#pragma once
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

typedef int status;
typedef int device;
typedef struct context_object *context;
typedef struct module_object *module;
typedef struct function_object *function;
typedef struct stream_object *stream;
typedef struct event_object *event;
typedef unsigned long long address;

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    NOT_INITIALIZED = 3,
    DEINITIALIZED = 4,
    INVALID_DEVICE = 101,
    INVALID_PTX = 218,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    ILLEGAL_ADDRESS = 700
};

status cuInit(unsigned flags);
status cuDriverGetVersion(int *version);
status cuGetErrorName(status error, const char **text);
status cuGetErrorString(status error, const char **text);
status cuGetProcAddress_v2(const char *name, void **found, int version, unsigned long long flags, int *result);
status cuDeviceGet(device *device, int ordinal);
status cuDeviceGetCount(int *count);
status cuDeviceGetName(char *name, int size, device device);
status cuDevicePrimaryCtxRetain(context *context, device device);
status cuDevicePrimaryCtxRelease_v2(device device);
status cuCtxSetCurrent(context context);
status cuCtxSynchronize(void);
status cuMemAlloc_v2(address *memory, size_t size);
status cuMemFree_v2(address memory);
status cuMemcpyHtoDAsync_v2(address to, const void *from, size_t size, stream stream);
status cuMemcpyDtoH_v2(void *to, address from, size_t size);
status cuMemcpyDtoHAsync_v2(void *to, address from, size_t size, stream stream);
status cuModuleLoadData(module *module, const void *image);
status cuModuleLoadDataEx(module *module, const void *image, unsigned count, int *options, void **values);
status cuModuleUnload(module module);
status cuModuleGetFunction(function *function, module module, const char *name);
status cuLaunchKernel(function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                      unsigned block_z, unsigned shared, stream stream, void **parameters, void **extra);
status cuStreamCreate(stream *stream, unsigned flags);
status cuStreamDestroy_v2(stream stream);
status cuStreamSynchronize(stream stream);
status cuStreamWaitEvent(stream stream, event event, unsigned flags);
status cuLaunchHostFunc(stream stream, void (*function)(void *), void *data);
status cuEventCreate(event *event, unsigned flags);
status cuEventDestroy_v2(event event);
status cuEventRecord(event event, stream stream);
status cuEventElapsedTime(float *milliseconds, event start, event end);

/* Ends the program unless the call gives this status. */
#define EXPECT(expected, call)                                                                                                   \
    do {                                                                                                                         \
        status got = (call);                                                                                                     \
        if (got != (expected)) {                                                                                                 \
            const char *name = NULL;                                                                                             \
            cuGetErrorName(got, &name);                                                                                          \
            fprintf(stderr, "%s:%d: %s gives %d (%s) instead of %d\n", __FILE__, __LINE__, #call, got, name, (expected));        \
            exit(1);                                                                                                             \
        }                                                                                                                        \
    } while (0)
#define OK(call) EXPECT(SUCCESS, call)

/* Ends the program unless the condition holds. */
#define REQUIRE(condition)                                                                                                       \
    do {                                                                                                                         \
        if (!(condition)) {                                                                                                      \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                                        \
            exit(1);                                                                                                             \
        }                                                                                                                        \
    } while (0)

/* Initialises the driver, with the first device's primary context current. */
static inline context begin(void)
{
    context context;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    return context;
}

/* The content of a file, with a NUL at its end. */
static inline char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    REQUIRE(file);
    char *text = calloc(1, 1 << 20);
    size_t length = fread(text, 1, (1 << 20) - 1, file);
    REQUIRE(length > 0);
    fclose(file);
    return text;
}
