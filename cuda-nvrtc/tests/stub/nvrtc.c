// An NVRTC for the tests: it compiles nothing, but says in its "PTX" what it was asked for.
//
// VERSION is 1000 * major + 10 * minor; functions that came later are left out. What a source contains decides the result:
// ERROR and WARN give such messages about line 2, NEEDS(x) asks for the header x in the directory of an -I option.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAJOR (VERSION / 1000)
#define MINOR (VERSION % 1000 / 10)

typedef struct {
    char *source, *name, *ptx, *log, lowered[256];
} Program;

static int compilations;

int nvrtcVersion(int *major, int *minor) {
    *major = MAJOR;
    *minor = MINOR;
    return 0;
}

const char *nvrtcGetErrorString(int code) {
    return code == 5 ? "NVRTC_ERROR_INVALID_OPTION" : code == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR unknown";
}

int nvrtcCreateProgram(Program **out, const char *source, const char *name, int count, const char *const *texts, const char *const *names) {
    Program *program = calloc(1, sizeof *program);
    program->source = strdup(source);
    program->name = strdup(name);
    program->ptx = strdup("");
    program->log = strdup("");
    for (int i = 0; i < count; i++) {
        if (!texts[i] || !names[i]) return 3;
    }
    *out = program;
    return 0;
}

int nvrtcDestroyProgram(Program **program) {
    free((*program)->source);
    free((*program)->name);
    free((*program)->ptx);
    free((*program)->log);
    free(*program);
    *program = NULL;
    return 0;
}

int nvrtcAddNameExpression(Program *program, const char *expression) { return program && expression ? 0 : 3; }

static int has_builtins(void) {
    char name[64];
    snprintf(name, sizeof name, "libnvrtc-builtins.so.%d.%d", MAJOR, MINOR);
    return dlopen(name, RTLD_LAZY | RTLD_NOLOAD) != NULL;
}

static int access_file(const char *path) {
    struct stat status;
    return stat(path, &status) == 0;
}

static int is_missing(const char *header, int count, const char *const *options) {
    const char *flag = "--include-path=";
    for (int i = 0; i < count; i++) {
        char path[4096];
        if (strncmp(options[i], flag, strlen(flag)) != 0) continue;
        snprintf(path, sizeof path, "%s/%s", options[i] + strlen(flag), header);
        if (access_file(path)) return 0;
    }
    return 1;
}

int nvrtcCompileProgram(Program *program, int count, const char *const *options) {
    char log[8192] = "", *needs, header[256];
    if (!has_builtins()) return 7;
    size_t length = 256;
    for (int i = 0; i < count; i++) {
        length += strlen(options[i]) + 2;
        if (strcmp(options[i], "--bad") == 0) {
            free(program->log);
            program->log = strdup("nvrtc: error: unrecognized option --bad found\n");
            return 5;
        }
    }
    if (strstr(program->source, "WARN")) snprintf(log, sizeof log, "%s(2): warning #7-D: stub warning\n", program->name);
    if (strstr(program->source, "ERROR")) snprintf(log, sizeof log, "%s(2): error: stub error\n", program->name);
    if ((needs = strstr(program->source, "NEEDS(")) && sscanf(needs, "NEEDS(%255[^)])", header) == 1 && is_missing(header, count, options))
        snprintf(log, sizeof log, "%s(1): catastrophic error: cannot open source file \"%s\"\n", program->name, header);
    // A file that changes while it is compiled.
    if ((needs = strstr(program->source, "CHANGES(")) && sscanf(needs, "CHANGES(%255[^)])", header) == 1) {
        FILE *out = fopen(header, "w");
        if (out) fclose(out);
    }
    free(program->log);
    program->log = strdup(log);
    if (strstr(log, "error")) return 6;
    free(program->ptx);
    program->ptx = calloc(1, length);
    // The number tells one compilation from another.
    sprintf(program->ptx, "// compilation %d by %d.%d\n", __sync_add_and_fetch(&compilations, 1), MAJOR, MINOR);
    for (int i = 0; i < count; i++) strcat(strcat(program->ptx, options[i]), "\n");
    return 0;
}

int nvrtcGetProgramLogSize(Program *program, size_t *size) { *size = strlen(program->log) + 1; return 0; }
int nvrtcGetProgramLog(Program *program, char *log) { strcpy(log, program->log); return 0; }
int nvrtcGetPTXSize(Program *program, size_t *size) { *size = strlen(program->ptx) + 1; return 0; }
int nvrtcGetPTX(Program *program, char *ptx) { strcpy(ptx, program->ptx); return 0; }

int nvrtcGetLoweredName(Program *program, const char *expression, const char **name) {
    if (strcmp(expression, "unknown") == 0) return 10;
    snprintf(program->lowered, sizeof program->lowered, "_Z%s", expression);
    *name = program->lowered;
    return 0;
}

#if VERSION >= 11010
int nvrtcGetCUBINSize(Program *program, size_t *size) { (void)program; *size = 5; return 0; }
int nvrtcGetCUBIN(Program *program, char *cubin) { (void)program; memcpy(cubin, "\177ELF", 5); return 0; }
#endif
#if VERSION >= 11020
int nvrtcGetNumSupportedArchs(int *count) { *count = 2; return 0; }
int nvrtcGetSupportedArchs(int *archs) { archs[0] = 75; archs[1] = 80; return 0; }
#endif
#if VERSION >= 12000
int nvrtcGetLTOIRSize(Program *program, size_t *size) { (void)program; *size = 3; return 0; }
int nvrtcGetLTOIR(Program *program, char *ir) { (void)program; memcpy(ir, "LTO", 3); return 0; }
#endif
#if VERSION >= 13030
int nvrtcInstallBundledHeaders(const char *path, unsigned flags, const char **reason) {
    char file[4096];
    (void)flags;
    for (int i = 0; i < 2; i++) {
        snprintf(file, sizeof file, "%s/%s", path, i ? ".nvrtc_headers_version" : "cuda_fp16.h");
        FILE *out = fopen(file, "w");
        if (!out) { *reason = "stub: cannot write"; return 7; }
        fclose(out);
    }
    return 0;
}
#endif
