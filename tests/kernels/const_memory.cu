// Constant memory, module variables with initial values, and addresses in initial values.
__constant__ float coefficients[4] = {1.0f, 2.0f, 3.0f, 4.0f};
__device__ int counters[2][3] = {{1, 2}, {3}};
__device__ int *second_row = &counters[1][0];

extern "C" __global__ void polynomial(const float *x, float *y, unsigned int n)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = fmaf(fmaf(fmaf(coefficients[3], x[i], coefficients[2]), x[i], coefficients[1]), x[i], coefficients[0]);
}

extern "C" __global__ void count(int *out)
{
    atomicAdd(&counters[0][threadIdx.x % 3], 1);
    __syncthreads();
    if (threadIdx.x < 6)
        out[threadIdx.x] = (&counters[0][0])[threadIdx.x];
    if (threadIdx.x == 6)
        out[6] = *second_row;
}
