/* Calls at the program's end, and in forked children. */
#include <sys/wait.h>
#include <unistd.h>

#include "driver.h"

static address memory;
static pid_t parent;

/* Runs after the driver's own function for the end, for it was there first. */
static void late(void)
{
    int count;
    if (getpid() != parent)
        return;
    if (cuMemFree_v2(memory) != DEINITIALIZED || cuDeviceGetCount(&count) != DEINITIALIZED)
        _exit(3);
    puts("late");
    fflush(stdout);
}

/* Runs before it. */
static void early(void)
{
    if (getpid() != parent)
        return;
    if (cuMemFree_v2(memory) != SUCCESS)
        _exit(2);
    puts("early");
    fflush(stdout);
}

static int child(status expected)
{
    pid_t process = fork();
    REQUIRE(process >= 0);
    if (process == 0) {
        int count;
        EXPECT(expected, cuInit(0));
        EXPECT(expected, cuDeviceGetCount(&count));
        exit(0);
    }
    int ended = -1;
    REQUIRE(waitpid(process, &ended, 0) == process);
    return ended;
}

int main(void)
{
    parent = getpid();
    REQUIRE(atexit(late) == 0);
    int version;
    OK(cuDriverGetVersion(&version));
    /* The child of a process that has not initialised the driver can do so itself. */
    REQUIRE(child(SUCCESS) == 0);
    begin();
    REQUIRE(child(NOT_INITIALIZED) == 0);
    REQUIRE(atexit(early) == 0);
    OK(cuMemAlloc_v2(&memory, 100));
    return 0;
}
