// The number of a thread in its grid.
#pragma once

__device__ inline unsigned thread_index() { return blockIdx.x * blockDim.x + threadIdx.x; }
