// Kernels that go wrong on purpose, each in one way. All end by themselves.

extern "C" __global__ void out_of_bounds(int *data, unsigned long long index)
{
    data[index + threadIdx.x] = 1;
}

extern "C" __global__ void null_store(void)
{
    *(volatile int *)0 = 1;
}

extern "C" __global__ void misaligned(char *data)
{
    *(volatile int *)(data + 1) = 1;
}

extern "C" __global__ void trap_at(unsigned int thread)
{
    if (blockIdx.x * blockDim.x + threadIdx.x == thread)
        __trap();
}

extern "C" __global__ void shared_out_of_bounds(int *out, unsigned int index)
{
    extern __shared__ int part[];
    part[threadIdx.x] = (int)threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = part[index + threadIdx.x];
}

// Reads an element that may be beyond the end of its allocation, without a visible effect when it is not.
extern "C" __global__ void read_at(const int *data, unsigned long long index, int *out)
{
    *out = data[index];
}
