// Sums in shared memory, with barriers.

// The sum of each block's 256 elements.
extern "C" __global__ void block_sums(const int *values, int *sums, unsigned int n)
{
    __shared__ int part[256];
    unsigned int i = blockIdx.x * 256 + threadIdx.x;
    part[threadIdx.x] = i < n ? values[i] : 0;
    for (unsigned int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = part[0];
}

// The same by shuffles: one warp for each block.
extern "C" __global__ void warp_sums(const int *values, int *sums, unsigned int n)
{
    unsigned int i = blockIdx.x * 32 + threadIdx.x;
    int value = i < n ? values[i] : 0;
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_down_sync(0xffffffff, value, step);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = value;
}

// How many threads of the block hold an odd number, whether all do, and whether any does.
extern "C" __global__ void count_odd(const int *values, int *out)
{
    int odd = values[blockIdx.x * blockDim.x + threadIdx.x] & 1;
    int count = __syncthreads_count(odd);
    int all = __syncthreads_and(odd);
    int any = __syncthreads_or(odd);
    if (threadIdx.x == 0) {
        out[blockIdx.x * 3] = count;
        out[blockIdx.x * 3 + 1] = all;
        out[blockIdx.x * 3 + 2] = any;
    }
}
