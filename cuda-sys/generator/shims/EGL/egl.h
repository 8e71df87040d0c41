/* The EGL types that the interoperation functions take; the objects are opaque. */
#ifndef SHIM_EGL_H
#define SHIM_EGL_H
typedef int EGLint;
typedef void *EGLImageKHR;
typedef void *EGLStreamKHR;
typedef void *EGLSyncKHR;
#endif
