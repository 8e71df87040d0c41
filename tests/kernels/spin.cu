// A kernel that takes as long as it is told and writes only at its end, for tests of ordering.

// x[i] = x[i] + value, after `iterations` steps of a computation that cannot be left out. What was in x is read at the end.
extern "C" __global__ void delay_then_add(float *x, unsigned int n, float value, unsigned int iterations)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int state = i | 1;
#pragma unroll 1
    for (unsigned int step = 0; step < iterations; step++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
    }
    // The state is never 0, which the compiler does not know.
    if (i < n && state != 0)
        x[i] = x[i] + value;
}
