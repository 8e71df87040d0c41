/* Runs every kernel of module.cubin on the first GPU and writes results.bin and driver.txt.
 * See main.rs beside this file. Needs a driver and nothing else: the few declarations are here. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1024 };
typedef unsigned long long pointer;

static void *library;

static void *symbol(const char *name)
{
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "no %s\n", name);
        exit(1);
    }
    return found;
}

static void check(int status, const char *what)
{
    if (status) {
        fprintf(stderr, "%s: error %d\n", what, status);
        exit(1);
    }
}

int main(void)
{
    library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    int (*init)(unsigned) = (int (*)(unsigned))symbol("cuInit");
    int (*version)(int *) = (int (*)(int *))symbol("cuDriverGetVersion");
    int (*name)(char *, int, int) = (int (*)(char *, int, int))symbol("cuDeviceGetName");
    int (*retain)(void **, int) = (int (*)(void **, int))symbol("cuDevicePrimaryCtxRetain");
    int (*set_current)(void *) = (int (*)(void *))symbol("cuCtxSetCurrent");
    int (*load)(void **, const char *) = (int (*)(void **, const char *))symbol("cuModuleLoad");
    int (*get)(void **, void *, const char *) = (int (*)(void **, void *, const char *))symbol("cuModuleGetFunction");
    int (*allocate)(pointer *, size_t) = (int (*)(pointer *, size_t))symbol("cuMemAlloc_v2");
    int (*upload)(pointer, const void *, size_t) = (int (*)(pointer, const void *, size_t))symbol("cuMemcpyHtoD_v2");
    int (*download)(void *, pointer, size_t) = (int (*)(void *, pointer, size_t))symbol("cuMemcpyDtoH_v2");
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **) =
        (int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **))symbol("cuLaunchKernel");

    void *context, *module;
    pointer input, output;
    char device[256];
    int driver;
    check(init(0), "cuInit");
    check(version(&driver), "cuDriverGetVersion");
    check(name(device, sizeof device, 0), "cuDeviceGetName");
    check(retain(&context, 0), "cuDevicePrimaryCtxRetain");
    check(set_current(context), "cuCtxSetCurrent");
    check(load(&module, "module.cubin"), "cuModuleLoad");
    check(allocate(&input, COUNT * 32), "cuMemAlloc");
    check(allocate(&output, COUNT * 8), "cuMemAlloc");

    FILE *about = fopen("driver.txt", "w"), *list = fopen("forms.txt", "r"), *results = fopen("results.bin", "wb");
    if (!about || !list || !results)
        return 1;
    fprintf(about, "%s, driver of CUDA %d.%d\n", device, driver / 1000, driver % 1000 / 10);
    fclose(about);

    static char buffer[COUNT * 32];
    unsigned count = COUNT;
    for (int form = 0, number; fscanf(list, "%d", &number) == 1; form++) {
        char text[64];
        snprintf(text, sizeof text, "input_%d.bin", number);
        FILE *file = fopen(text, "rb");
        if (!file || fread(buffer, 1, sizeof buffer, file) != sizeof buffer)
            return 1;
        fclose(file);
        snprintf(text, sizeof text, "form_%d", form);
        void *function, *arguments[] = {&input, &output, &count};
        check(get(&function, module, text), text);
        check(upload(input, buffer, sizeof buffer), "upload");
        check(launch(function, COUNT / 128, 1, 1, 128, 1, 1, 0, NULL, arguments, NULL), text);
        check(download(buffer, output, COUNT * 8), text);
        fwrite(buffer, 8, COUNT, results);
    }
    fclose(results);
    return 0;
}
