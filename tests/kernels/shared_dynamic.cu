// Reverses each block's part of an array through dynamic shared memory.
extern "C" __global__ void reverse_blocks(int *data)
{
    extern __shared__ int part[];
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = data[i];
    __syncthreads();
    data[i] = part[blockDim.x - 1 - threadIdx.x];
}
