// nvcc: -arch=sm_90
// Kernels for programmatic dependent launch: one that lets the next begin, and some that are next.

// Writes late, after the next kernel may have begun.
extern "C" __global__ void produce(unsigned int *values, unsigned int value, unsigned int steps)
{
    asm volatile("griddepcontrol.launch_dependents;");
    volatile unsigned int step = 0;
    while (step < steps)
        step = step + 1;
    values[blockIdx.x * blockDim.x + threadIdx.x] = value + threadIdx.x;
}

// Reads what the kernel before wrote, once that has ended.
extern "C" __global__ void consume(const unsigned int *values, unsigned int *results)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    asm volatile("griddepcontrol.wait;" ::: "memory");
    results[i] = values[i] * 2;
}

// The same, where one thread of each block waits for all of it.
extern "C" __global__ void consume_together(const unsigned int *values, unsigned int *results)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        asm volatile("griddepcontrol.wait;" ::: "memory");
    __syncthreads();
    results[i] = values[i] * 2;
}

// A mistake: does not wait.
extern "C" __global__ void consume_early(const unsigned int *values, unsigned int *results)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    results[i] = values[i] * 2;
}
