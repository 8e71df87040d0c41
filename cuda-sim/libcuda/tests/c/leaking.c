/* Things that are never released; the program does not mind. */
#include "driver.h"

int main(int count, char **arguments)
{
    REQUIRE(count == 2);
    begin();
    module module;
    OK(cuModuleLoadData(&module, read_file(arguments[1])));
    address memory;
    OK(cuMemAlloc_v2(&memory, 256));
    printf("done");
    return 0;
}
