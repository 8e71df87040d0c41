const unsigned THREADS = 256;

// C linkage: the name does not tell the types, but the compiler does.
extern "C" __global__ void sum(const float *values, unsigned count, float *total)
{
    __shared__ float parts[THREADS];
    float part = 0;
    for (unsigned i = threadIdx.x; i < count; i += THREADS)
        part += values[i];
    parts[threadIdx.x] = part;
    for (unsigned width = THREADS / 2; width > 0; width /= 2) {
        __syncthreads();
        if (threadIdx.x < width)
            parts[threadIdx.x] += parts[threadIdx.x + width];
    }
    if (threadIdx.x == 0)
        *total = parts[0];
}
