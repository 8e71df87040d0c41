// Kernels that go wrong on purpose.

// Writes one element past the end of n elements.
extern "C" __global__ void write_past_end(int *data, unsigned int n)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        data[i] = (int)i;
}

// Writes to address 0.
extern "C" __global__ void write_to_null(void)
{
    *(volatile int *)0 = 1;
}

// Stops with a trap if the value is not the expected one.
extern "C" __global__ void trap_unless(unsigned int value, unsigned int expected)
{
    if (value != expected)
        __trap();
}
