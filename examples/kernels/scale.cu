// data[i] = data[i] * factor + offset, `rounds` times over: work enough to overlap with copies.
extern "C" __global__ void scale(float *data, unsigned int n, float factor, float offset, unsigned int rounds)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float value = data[i];
#pragma unroll 1
    for (unsigned int round = 0; round < rounds; round++)
        value = fmaf(value, factor, offset);
    data[i] = value;
}
