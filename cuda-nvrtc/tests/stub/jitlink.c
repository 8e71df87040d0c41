// An nvJitLink for the tests: the "cubin" is the list of its options and inputs. Its functions have the names that PREFIX and
// SUFFIX make: the first real one exported names with a version only.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define JOIN2(a, b, c) a##b##c
#define JOIN(a, b, c) JOIN2(a, b, c)
#define NAME(name) JOIN(PREFIX, name, SUFFIX)

typedef struct {
    char text[65536], log[256];
} Link;

int NAME(nvJitLinkCreate)(Link **out, uint32_t count, const char *const *options) {
    Link *link = *out = calloc(1, sizeof *link);
    for (uint32_t i = 0; i < count; i++) {
        strcat(strcat(link->text, options[i]), "\n");
        if (strcmp(options[i], "-bad") == 0) {
            strcpy(link->log, "unrecognized option: -bad");
            return 1;
        }
    }
    return 0;
}
int NAME(nvJitLinkDestroy)(Link **link) { free(*link); *link = NULL; return 0; }
int NAME(nvJitLinkAddData)(Link *link, int kind, const void *data, size_t size, const char *name) {
    char digit[2] = {(char)('0' + kind), 0};
    strcat(strcat(strcat(strcat(link->text, name), " "), digit), "\n");
    if (size && strstr(data, "undefined")) strcpy(link->log, "Undefined reference to 'g'");
    return 0;
}
int NAME(nvJitLinkComplete)(Link *link) { return link->log[0] ? 6 : 0; }
int NAME(nvJitLinkGetLinkedCubinSize)(Link *link, size_t *size) { *size = strlen(link->text); return 0; }
int NAME(nvJitLinkGetLinkedCubin)(Link *link, void *cubin) { memcpy(cubin, link->text, strlen(link->text)); return 0; }
int NAME(nvJitLinkGetErrorLogSize)(Link *link, size_t *size) { *size = strlen(link->log) + 1; return 0; }
int NAME(nvJitLinkGetErrorLog)(Link *link, char *log) { strcpy(log, link->log); return 0; }
int NAME(nvJitLinkGetInfoLogSize)(Link *link, size_t *size) { (void)link; *size = 0; return 0; }
int NAME(nvJitLinkGetInfoLog)(Link *link, char *log) { (void)link; (void)log; return 0; }
