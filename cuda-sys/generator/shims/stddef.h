/* The few standard types that the headers name, so that no system header is needed. */
#ifndef SHIM_STDDEF_H
#define SHIM_STDDEF_H
typedef __SIZE_TYPE__ size_t;
#define offsetof(type, member) __builtin_offsetof(type, member)
#define NULL ((void *)0)
#endif
