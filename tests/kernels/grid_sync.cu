// A barrier for all blocks of a cooperative launch, in the workspace that the driver gives to such launches.

__device__ void grid_barrier()
{
    unsigned int low, high;
    asm volatile("mov.u32 %0, %%envreg2;" : "=r"(low));
    asm volatile("mov.u32 %0, %%envreg1;" : "=r"(high));
    unsigned long long workspace = (unsigned long long)high << 32 | low;
    // Launched in the ordinary way, a kernel has none.
    if (workspace == 0)
        __trap();
    unsigned int *arrived = (unsigned int *)(workspace + 4);
    __syncthreads();
    if (threadIdx.x == 0) {
        // The highest bit turns over when the last block comes.
        unsigned int step = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1;
        __threadfence();
        unsigned int before = atomicAdd(arrived, step);
        while (((before ^ *(volatile unsigned int *)arrived) & 0x80000000u) == 0)
            ;
        __threadfence();
    }
    __syncthreads();
}

// In each round every block reads what all others wrote in the round before.
extern "C" __global__ void rounds(unsigned int *values, unsigned int count)
{
    for (unsigned int round = 0; round < count; round++) {
        unsigned int sum = 0;
#pragma unroll 1
        for (unsigned int block = 0; block < gridDim.x; block++)
            sum += *(volatile unsigned int *)&values[block];
        grid_barrier();
        if (threadIdx.x == 0)
            *(volatile unsigned int *)&values[blockIdx.x] = sum + blockIdx.x + round;
        grid_barrier();
    }
}
