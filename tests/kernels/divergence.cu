// Lanes of one warp that take different ways.

// Steps of the Collatz sequence down to 1.
extern "C" __global__ void collatz(const unsigned int *start, unsigned int *steps, unsigned int n)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned int value = start[i], count = 0;
    while (value > 1) {
        if (value & 1)
            value = 3 * value + 1;
        else
            value = value / 2;
        count++;
    }
    steps[i] = count;
}

// A different computation for each value of the thread number's low bits.
extern "C" __global__ void choose(int *out, unsigned int n)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int value = (int)i;
    switch (i % 7) {
    case 0: value += 10; break;
    case 1: value *= 3; break;
    case 2: value = -value; break;
    case 3: value ^= 0x55; break;
    case 4:
#pragma unroll 1
        for (unsigned int j = 0; j < i; j++) value += (int)j * (value & 3); break;
    case 5: value <<= 4; break;
    default: out[i] = 0; return;
    }
    out[i] = value;
}

// Each lane takes the lock in turn, which works only where lanes of one warp make progress independently.
extern "C" __global__ void lock(int *mutex, int *counter)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(mutex, 0, 1) == 0) {
            *(volatile int *)counter = *(volatile int *)counter + 1;
            __threadfence();
            atomicExch(mutex, 0);
            done = true;
        }
    }
}
