/* Runs every kernel of the part_*.cubin on the first GPU and writes driver.txt, digests.txt and results.bin.
 * README.md beside this file says how. Needs a driver and nothing else: the few declarations are here. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1024 };
typedef unsigned long long word;

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

static void read_file(const char *name, void *into, size_t size)
{
    FILE *file = fopen(name, "rb");
    if (!file || fread(into, 1, size, file) != size) {
        fprintf(stderr, "cannot read %s\n", name);
        exit(1);
    }
    fclose(file);
}

static word digest(const word *results)
{
    word hash = 0xcbf29ce484222325ull;
    for (int i = 0; i < COUNT; i++)
        for (int byte = 0; byte < 8; byte++)
            hash = (hash ^ (results[i] >> (8 * byte) & 0xff)) * 0x100000001b3ull;
    return hash;
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
    int (*allocate)(word *, size_t) = (int (*)(word *, size_t))symbol("cuMemAlloc_v2");
    int (*upload)(word, const void *, size_t) = (int (*)(word, const void *, size_t))symbol("cuMemcpyHtoD_v2");
    int (*download)(void *, word, size_t) = (int (*)(void *, word, size_t))symbol("cuMemcpyDtoH_v2");
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **) =
        (int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **))symbol("cuLaunchKernel");

    void *context, *module = NULL;
    word input, output;
    char text[256];
    unsigned char block[32];
    int driver;
    check(init(0), "cuInit");
    check(version(&driver), "cuDriverGetVersion");
    check(name(text, sizeof text, 0), "cuDeviceGetName");
    check(retain(&context, 0), "cuDevicePrimaryCtxRetain");
    check(set_current(context), "cuCtxSetCurrent");
    check(allocate(&input, COUNT * 32), "cuMemAlloc");
    check(allocate(&output, COUNT * 8), "cuMemAlloc");
    read_file("block.bin", block, sizeof block);

    FILE *about = fopen("driver.txt", "w"), *list = fopen("forms.txt", "r");
    FILE *digests = fopen("digests.txt", "w"), *results = fopen("results.bin", "wb");
    if (!about || !list || !digests || !results)
        return 1;
    fprintf(about, "%s, driver of CUDA %d.%d\n", text, driver / 1000, driver % 1000 / 10);
    fclose(about);

    static word buffer[COUNT * 4];
    unsigned count = COUNT;
    int part, number, inputs, whole, loaded = -1, differing = 0;
    word expected, form = 0;
    for (; fscanf(list, "%d %d %d %llx %d", &part, &number, &inputs, &expected, &whole) == 5; form++) {
        if (part != loaded) {
            snprintf(text, sizeof text, "part_%d.cubin", part);
            check(load(&module, text), text);
            loaded = part;
        }
        snprintf(text, sizeof text, "input_%d.bin", inputs);
        read_file(text, buffer, sizeof buffer);
        snprintf(text, sizeof text, "form_%d", number);
        void *function, *arguments[] = {&input, &output, &count, block};
        check(get(&function, module, text), text);
        check(upload(input, buffer, sizeof buffer), "upload");
        check(launch(function, COUNT / 128, 1, 1, 128, 1, 1, 0, NULL, arguments, NULL), text);
        int status = download(buffer, output, COUNT * 8);
        if (status) {
            fprintf(stderr, "part %d, form %d: error %d\n", part, number, status);
            return 1;
        }
        word given = digest(buffer);
        fprintf(digests, "%016llx\n", given);
        if (whole || given != expected) {
            differing += !whole;
            fwrite(&form, 8, 1, results);
            fwrite(buffer, 8, COUNT, results);
        }
    }
    printf("%llu forms, %d differ\n", form, differing);
    return fclose(results) || fclose(digests);
}
