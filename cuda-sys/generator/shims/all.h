/* Everything that is bound, with all exported ABI versions of each function declared. */
#define __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL_ODR
#include <vdpau/vdpau.h>
#include <cuda.h>
#include <cudaProfiler.h>
#include <cudaGL.h>
#include <cudaEGL.h>
#include <cudaVDPAU.h>
