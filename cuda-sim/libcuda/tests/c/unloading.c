/* A library that is loaded for itself, closed, and loaded again. The argument is its path. */
#include <dlfcn.h>

#include "driver.h"

static volatile int notified;
static void notify(void *data) { *(volatile int *)data = 1; }

int main(int count, char **arguments)
{
    REQUIRE(count == 2);
    for (int round = 0; round < 3; round++) {
        void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        status (*init)(unsigned) = (status (*)(unsigned))dlsym(library, "cuInit");
        status (*retain)(context *, device) = (status (*)(context *, device))dlsym(library, "cuDevicePrimaryCtxRetain");
        status (*set)(context) = (status (*)(context))dlsym(library, "cuCtxSetCurrent");
        status (*launch)(stream, void (*)(void *), void *) =
            (status (*)(stream, void (*)(void *), void *))dlsym(library, "cuLaunchHostFunc");
        REQUIRE(init && retain && set && launch);
        context context;
        REQUIRE(init(0) == SUCCESS && retain(&context, 0) == SUCCESS && set(context) == SUCCESS);
        /* The driver's own threads are at work while the library is closed. */
        notified = 0;
        REQUIRE(launch(NULL, notify, (void *)&notified) == SUCCESS);
        REQUIRE(dlclose(library) == 0);
        while (!notified)
            ;
    }
    /* It was never in anybody's way. */
    REQUIRE(dlsym(RTLD_DEFAULT, "cuInit") == NULL);
    puts("closed");
    return 0;
}
