// sum[i] = a[i] + b[i] for the n elements of three arrays.
extern "C" __global__ void vector_add(const float *a, const float *b, float *sum, unsigned int n)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        sum[i] = a[i] + b[i];
}
